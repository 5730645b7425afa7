import fc from 'fast-check';
import { addressFit, hashInAddress } from '../../../../nodes/DigitalSales/domain/webAddress';

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
				addressFit(one, other);
			}),
		);
	});

	test('is the same with another scheme, closing slash and fragment; a query fits in part', () => {
		fc.assert(
			fc.property(hashes, queries, (hash, query) => {
				const path = encodeURIComponent(hash);
				const page = `https://www.example.com/${path}`;
				const fit = query.includes('?') ? 'part' : 'exact';
				expect(addressFit(page, `http://EXAMPLE.com/${path}${query}`)).toBe(fit);
				expect(addressFit(page, `https://www.example.com/${path}x${query}`)).toBeUndefined();
				expect(addressFit(page, `https://other.example.com/${path}`)).toBeUndefined();
			}),
		);
	});

	test.each([
		['?off=anual', '?off=anual', 'exact'],
		['?a=1&off=anual', '?off=anual&a=1', 'exact'],
		['?off=anual', '?off=mensal', 'not'],
		['?off=anual&a=1', '?off=mensal', 'not'],
		['?off=anual&utm_source=ads', '?off=anual', 'part'],
		['?utm_source=ads', '?off=anual', 'part'],
		['', '?off=anual', 'part'],
		['?off=anual', '', 'part'],
		['?__proto__=1', '?__proto__=2', 'not'],
	])('with the query %j fits one with %j: %s', (typed, known, fit) => {
		const page = 'https://pay.example.com/P123';
		expect(addressFit(page + typed, page + known)).toBe(fit);
	});

	test('blanks around an address do not matter, and only a leading www does not', () => {
		expect(addressFit(' https://example.com/a ', 'https://example.com/a')).toBe('exact');
		expect(addressFit('https://awww.example.com/a', 'https://aexample.com/a')).toBeUndefined();
	});

	test('what is no address is the same as nothing', () => {
		expect(addressFit('not an address', 'not an address')).toBeUndefined();
	});
});
