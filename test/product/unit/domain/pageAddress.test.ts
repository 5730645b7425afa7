import fc from 'fast-check';
import { hashInAddress, isSamePage } from '../../../../nodes/DigitalSales/domain/pageAddress';

const hashes = fc
	.string({ minLength: 1, maxLength: 20 })
	.filter((text) => text.trim() === text && !/^\.{1,2}$/.test(text));
const queries = fc.constantFrom('', '/', '//', '?utm_source=ads', '#buy', '/?a=1#b');
const pages = fc.constantFrom('https://pay.example.com/', 'http://example.com/p/curso/');

describe('The address of a page', () => {
	test('gives the hash at the end of its path, however it is dressed', () => {
		fc.assert(
			fc.property(pages, hashes, queries, (page, hash, query) => {
				expect(hashInAddress(` ${page}${encodeURIComponent(hash)}${query} `)).toBe(hash);
			}),
		);
	});

	test.each([
		'',
		'https://example.com',
		'https://example.com/?hash=abc',
		'ftp://example.com/abc',
		'example.com/abc',
		'https://example.com/%E0%A4%A',
		'https://example.com/%20',
	])('holds no hash in "%s"', (text) => {
		expect(hashInAddress(text)).toBeUndefined();
	});

	test('never fails on whatever was typed', () => {
		fc.assert(
			fc.property(fc.string(), fc.string(), (one, other) => {
				hashInAddress(one);
				isSamePage(one, other);
			}),
		);
	});

	test('is the same page with another scheme, query and closing slash', () => {
		fc.assert(
			fc.property(hashes, queries, (hash, query) => {
				const path = encodeURIComponent(hash);
				const page = `https://www.example.com/${path}`;
				expect(isSamePage(page, `http://EXAMPLE.com/${path}${query}`)).toBe(true);
				expect(isSamePage(page, `https://www.example.com/${path}x${query}`)).toBe(false);
				expect(isSamePage(page, `https://other.example.com/${path}`)).toBe(false);
			}),
		);
	});

	test('blanks around an address do not matter, and only a leading www does not', () => {
		expect(isSamePage(' https://example.com/a ', 'https://example.com/a')).toBe(true);
		expect(isSamePage('https://awww.example.com/a', 'https://aexample.com/a')).toBe(false);
	});

	test('what is no address is the same as nothing', () => {
		expect(isSamePage('not an address', 'not an address')).toBe(false);
	});
});
