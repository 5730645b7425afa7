import * as fc from 'fast-check';
import { isStatusGroup, STATUS_GROUPS } from '../../../nodes/DigitalSales/domain/paymentStatus';
import { hashSegment, isUsableHash } from '../../../nodes/DigitalSales/domain/text';
import { isPrivateAddress, parseBaseUrl } from '../../../nodes/DigitalSales/domain/webAddress';

describe('Base URL', () => {
	test.each([
		['  https://api.example.com/public/v1// ', 'https://api.example.com/public/v1'],
		['api.example.com:4010/public/v1', 'https://api.example.com:4010/public/v1'],
		['http://127.0.0.1:4010', 'http://127.0.0.1:4010'],
		['example.com/at/http://x', 'https://example.com/at/http://x'],
		['https://https.example.com/v1', 'https://https.example.com/v1'],
		['\u200bhttps://api.example\u2060.com/v1\ufeff', 'https://api.example.com/v1'],
	])('%p is read as %s', (typed, baseUrl) => {
		expect(parseBaseUrl(typed)).toEqual({ value: baseUrl });
	});

	test.each([
		...[' ', 'ftp://example.com', 'ftp://example.com/https://api.example.com', 'not a host'],
		...['https://', 'https://a.com/?x', 'https://a.com/#x', 'https:/api.example.com/v1'],
		...['https//api.example.com/v1', 'https://https://api.example.com/v1'],
		...['HTTPS:api.example.com/v1', 'https:\\\\api.example.com\\v1'],
	])('%p is refused with a reason', (typed) => {
		expect(parseBaseUrl(typed)).toHaveProperty('problem');
	});

	test.each([
		...['test-secret-token', 'Bearer test-secret-token', 'https://test-secret-token:v1/'],
		...['https://u:test-secret-token@a.com', 'https://a.com/v1?api_token=test-secret-token'],
	])('%p, which contains a token, is not quoted in the reason', (typed) => {
		expect(JSON.stringify(parseBaseUrl(typed)).replace(/^\{"value".*/, '')).not.toContain('secret');
	});

	test.each(['https://u@a.com', 'https://:p@a.com'])(
		'%p is refused, because its user name or password would end up in messages',
		(typed) => {
			expect(parseBaseUrl(typed)).toEqual({ problem: 'must not contain a user name or password' });
		},
	);
});

describe('Hashes', () => {
	test('every usable hash stays one segment of the path', () => {
		fc.assert(
			fc.property(
				fc.string({ unit: 'grapheme' }).filter((hash) => isUsableHash(hash)),
				(hash) => {
					const { pathname } = new URL(`https://a.example/transactions/${hashSegment(hash)}`);
					expect(pathname.split('/')).toHaveLength(3);
					expect(decodeURIComponent(pathname.split('/')[2] ?? '')).toBe(hash.trim());
				},
			),
		);
	});

	test.each(['', ' ', '.', '..', ' .. '])('%p is not usable', (hash) => {
		expect(isUsableHash(hash)).toBe(false);
	});
});

describe('The host of an address', () => {
	test.each([
		...['localhost:5678', '127.0.0.1', '10.1.2.3', '172.16.0.1', '172.20.0.1', '172.31.0.1'],
		...['169.254.1.1', '192.168.1.5', '[::1]', '[::]', '[fd00::1]', '[fc12:3::1]', '[fe80::1]'],
		...['n8n.lan', 'n8n.local', 'n8n', '100.64.0.1', '100.99.1.2', '100.127.255.254'],
	])('%s is private', (host) => {
		expect(isPrivateAddress(new URL(`http://${host}/x`))).toBe(true);
	});

	test.each([
		...[
			'172.15.0.1',
			'172.32.0.1',
			'8.10.1.1',
			'10.example.com',
			'10.loja24',
			'[fe00::1]',
			'[ff02::1]',
		],
		...['[2001:db8::1]', '[2001:fd00::1]', 'localhost.example.com', 'mylocalhost.com'],
		...['notlocal.network', 'n8n.mylan', 'n8n.example.ts.net', 'n8n.home.example.com'],
		...['100.63.0.1', '100.128.0.1', '192.168.0.10.example.com'],
	])('%s is public', (host) => {
		expect(isPrivateAddress(new URL(`http://${host}/x`))).toBe(false);
	});
});

describe('Payment statuses', () => {
	test('no status is in two groups', () => {
		const all = Object.values(STATUS_GROUPS).flat();
		expect(new Set(all).size).toBe(all.length);
	});

	test.each([
		['reversed', true],
		['refunded', false],
		['constructor', false],
	])('%p is a group: %p', (text, expected) => {
		expect(isStatusGroup(text)).toBe(expected);
	});
});
