import * as fc from 'fast-check';
import { drawQrCode } from '../../../../nodes/DigitalSales/actions/transaction/transactionItem';
import { parsePhone } from '../../../../nodes/DigitalSales/domain/customer';
import {
	isSettled,
	isStatusGroup,
	STATUS_GROUPS,
} from '../../../../nodes/DigitalSales/domain/paymentStatus';
import {
	finder,
	hashSegment,
	isSameText,
	isUsableHash,
	searchKey,
} from '../../../../nodes/DigitalSales/domain/text';
import { isPrivateAddress, parseBaseUrl } from '../../../../nodes/DigitalSales/domain/webAddress';
import { readQrCode } from '../../../support/readQrCode';

describe('Base URL', () => {
	test.each([
		['https://api.example.com/api/public/v1', 'https://api.example.com/api/public/v1'],
		['  https://api.example.com/public/v1// ', 'https://api.example.com/public/v1'],
		['api.example.com/public/v1', 'https://api.example.com/public/v1'],
		['localhost:4010/api', 'https://localhost:4010/api'],
		['http://127.0.0.1:4010', 'http://127.0.0.1:4010'],
		['example.com/at/http://x', 'https://example.com/at/http://x'],
		['https://https.example.com/v1', 'https://https.example.com/v1'],
		['\u200bhttps://api.example\u2060.com/v1\ufeff', 'https://api.example.com/v1'],
	])('%p is %s', (typed, baseUrl) => {
		expect(parseBaseUrl(typed)).toEqual({ value: baseUrl });
	});

	test.each([
		'',
		' ',
		'ftp://example.com',
		'ftp://example.com/https://api.example.com',
		'not a host',
		'https://',
		'https://a.com/?x',
		'https://a.com/#x',
		'https://u:p@a.com',
		'https:/api.example.com/v1',
		'https//api.example.com/v1',
		'https://https://api.example.com/v1',
		'http://https//api.example.com/v1',
		'HTTPS:api.example.com/v1',
		'https:\\\\api.example.com\\v1',
		`https://a.com/${'a'.repeat(3_000)}`,
	])('%p is refused with a reason', (typed) => {
		expect(parseBaseUrl(typed)).toHaveProperty('problem');
	});

	test.each([
		'test-secret-token',
		'Bearer test-secret-token',
		'https://test-secret-token@a.com',
		'https://u:test-secret-token@a.com',
		'https://a.com/v1?api_token=test-secret-token',
		'https://test-secret-token@',
		'https://test-secret-token:v1/',
	])('%p, which has a token in it, is quoted in no reason', (typed) => {
		expect(JSON.stringify(parseBaseUrl(typed)).replace(/^\{"value".*/, '')).not.toContain('secret');
	});

	test.each(['https://u:p@a.com', 'https://u@a.com', 'https://:p@a.com'])(
		'%p says why, since it would end up in messages',
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

describe('Phone numbers', () => {
	test.each([
		['(11) 91234-5678', '11912345678'],
		['+55 11 91234-5678', '5511912345678'],
		['11.91234.0000', '11912340000'],
		['\u202a+55 11 91234\u20115678\u202c'.replace('\u2011', '-'), '5511912345678'],
		[1133334444, '1133334444'],
	])('%p is %s', (typed, phone) => {
		expect(parsePhone(typed)).toEqual({ value: phone });
	});

	test.each([
		'12345',
		'12345678901234',
		'',
		null,
		{},
		'11912345678.0',
		'11912345678.00',
		'(11) 3333-4444 ramal 55',
		'(11) 3333-4444 x55',
		'(11) 3333-4444/45',
		'(11) 3333-4444 - 5',
		'11 3333-4444, 11 3333-5555',
		1.1912345678e21,
	])('%p is refused', (typed) => {
		expect(parsePhone(typed)).toHaveProperty('problem');
	});

	test('what is no text and no number is none, whatever digits it would print', () => {
		expect(parsePhone([1133334444])).toEqual({
			problem: 'must be one phone number, such as (11) 91234-5678, without other text',
		});
	});
});

describe('Addresses that the service cannot reach', () => {
	test.each([
		['http://localhost:5678/x', true],
		['http://127.0.0.1/x', true],
		['http://10.1.2.3/x', true],
		['http://172.16.0.1/x', true],
		['http://172.15.0.1/x', false],
		['http://172.20.0.1/x', true],
		['http://172.31.0.1/x', true],
		['http://172.32.0.1/x', false],
		['http://169.254.1.1/x', true],
		['http://8.10.1.1/x', false],
		['http://192.168.1.5/x', true],
		['http://[::1]/x', true],
		['http://[::]/x', true],
		['http://[fd00::1]/x', true],
		['http://[fc12:3::1]/x', true],
		['http://[fe80::1]/x', true],
		['http://[fe00::1]/x', false],
		['http://[ff02::1]/x', false],
		['http://[2001:db8::1]/x', false],
		['http://[2001:fd00::1]/x', false],
		['http://n8n.lan/x', true],
		['http://localhost.example.com/x', false],
		['http://mylocalhost.com/x', false],
		['http://notlocal.network/x', false],
		['http://unlan/x', true],
		['http://n8n/x', true],
		['http://n8n.local/x', true],
		['https://n8n.example.com/x', false],
		['https://10.example.com/x', false],
		['https://10.example.com./x', false],
		['https://8.8.8.8/x', false],
	])('%s: %p', (address, expected) => {
		expect(isPrivateAddress(new URL(address))).toBe(expected);
	});
});

describe('Searching in a text', () => {
	test.each([
		['Café da Manhã', 'cafe da manha'],
		['  CURSO ', 'curso'],
		['ÇÃO', 'cao'],
		['1º', '1º'],
	])('%p is found as %p', (text, key) => {
		expect(searchKey(text)).toBe(key);
	});
});

test('Texts are the same, however their accents are stored', () => {
	expect(isSameText('em análise'.normalize('NFD'), 'em análise'.normalize('NFC'))).toBe(true);
	expect(isSameText('em análise', 'em analise')).toBe(false);
	expect(isSameText('Em análise', 'em análise')).toBe(false);
});

describe('the picture of a QR code', () => {
	test('is read back by another decoder', async () => {
		const texts = fc.string({ unit: fc.constantFrom(...'0123456789ABCabc.*-/'), minLength: 1 });
		await fc.assert(
			fc.asyncProperty(texts, async (text) => {
				const png = await drawQrCode(text);
				expect(readQrCode(png)).toBe(text);
			}),
			{ numRuns: 20 },
		);
	});

	test('does not exist for a text that no QR code holds', async () => {
		await expect(drawQrCode('x'.repeat(4_000))).rejects.toThrow('Too much');
	});
});

describe('Payment statuses', () => {
	test.each([
		...['paid', 'refused', 'canceled', 'cancelled', 'expired', 'refunded', 'chargeback'],
		'chargedback',
	])('%s ends a payment', (status) => {
		expect(isSettled(status)).toBe(true);
	});

	test.each([
		...['waiting_payment', 'pending', 'authorized', 'waiting_refund', 'nobody_has_listed_it'],
		...['', null, undefined],
	])('%p may still become anything', (status) => {
		expect(isSettled(status)).toBe(false);
	});

	test('no status stands in two groups', () => {
		const all = Object.values(STATUS_GROUPS).flat();
		expect(new Set(all).size).toBe(all.length);
	});

	test.each(['paid', 'waiting', 'failed', 'reversed'])('%s is a group', (group) => {
		expect(isStatusGroup(group)).toBe(true);
	});

	test.each(['refunded', 'any', '', 'constructor', 'toString'])('%p is no group', (text) => {
		expect(isStatusGroup(text)).toBe(false);
	});
});

test.each([
	['b a', true],
	['ab', false],
])('a search for the words %j finds the texts "a" and "b": %s', (search, isFound) => {
	expect(finder(search)(['a', 'b'])).toBe(isFound);
});
