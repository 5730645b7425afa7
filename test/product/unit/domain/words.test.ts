import fc from 'fast-check';
import { drawQrCode } from '../../../../nodes/DigitalSales/actions/transaction/transactionItem';
import {
	isSettled,
	isStatusGroup,
	STATUS_GROUPS,
} from '../../../../nodes/DigitalSales/domain/paymentStatus';
import { isSameText, searchKey } from '../../../../nodes/DigitalSales/domain/text';
import { readQrCode } from '../../../support/readQrCode';

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
		'paid',
		'refused',
		'canceled',
		'cancelled',
		'expired',
		'refunded',
		'chargeback',
		'chargedback',
	])('%s ends a payment', (status) => {
		expect(isSettled(status)).toBe(true);
	});

	test.each(['waiting_payment', 'authorized', 'nobody_has_listed_it', '', null, undefined])(
		'%p may still become anything',
		(status) => {
			expect(isSettled(status)).toBe(false);
		},
	);

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
