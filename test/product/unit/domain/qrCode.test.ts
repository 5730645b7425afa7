import fc from 'fast-check';
import { drawQrCode } from '../../../../nodes/DigitalSales/actions/transaction/transactionItem';
import { readQrCode } from '../../../support/readQrCode';

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
