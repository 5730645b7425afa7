import fc from 'fast-check';
import { isPng, readPngText } from '../../../../nodes/DigitalSales/domain/png';
import { drawQrCode } from '../../../../nodes/DigitalSales/domain/qrCode';
import { qrImageBase64 } from '../../../sandbox/pix/qrImage';
import { readQrCode } from '../../../support/readQrCode';

describe('the picture of a QR code', () => {
	test('is read back by another decoder', async () => {
		const texts = fc.string({ unit: fc.constantFrom(...'0123456789ABCabc.*-/'), minLength: 1 });
		await fc.assert(
			fc.asyncProperty(texts, async (text) => {
				const png = await drawQrCode(text);
				expect(png && isPng(png)).toBe(true);
				expect(png && readQrCode(png)).toBe(text);
			}),
			{ numRuns: 20 },
		);
	});

	test('does not exist for a text that no QR code holds', async () => {
		await expect(drawQrCode('x'.repeat(4_000))).resolves.toBeUndefined();
	});
});

describe('a picture as base64', () => {
	let base64: string;
	beforeAll(async () => {
		base64 = await qrImageBase64('a PIX code');
	});

	test.each([
		['bare', (text: string) => text],
		['with the data prefix', (text: string) => `data:image/png;base64,${text}`],
		['with blanks around it', (text: string) => ` \n${text}\t `],
		['in lines', (text: string) => text.replace(/(.{76})/g, '$1\r\n')],
	])('is taken %s', (_name, dressed) => {
		const png = readPngText(dressed(base64));
		expect(png && readQrCode(png)).toBe('a PIX code');
	});

	test('is refused wherever it is cut or damaged', () => {
		const whole = Buffer.from(base64, 'base64');
		fc.assert(
			fc.property(fc.integer({ min: 0, max: whole.length - 1 }), (at) => {
				const damaged = Buffer.from(whole);
				damaged[at] = (damaged[at] ?? 0) ^ 0x55;
				expect(readPngText(whole.subarray(0, at).toString('base64'))).toBeUndefined();
				expect(readPngText(damaged.toString('base64'))).toBeUndefined();
			}),
		);
	});

	test.each([
		['nothing', ''],
		['another kind of picture', 'data:image/jpeg;base64,/9j/4AAQSkZJRgABAQ=='],
		['a text', 'not base64!'],
		['base64 with something else in it', 'iVBORw0KGgo!'],
		['something behind its end', ''],
	])('is refused where it is %s', (name, text) => {
		const tested =
			name === 'something behind its end'
				? Buffer.concat([Buffer.from(base64, 'base64'), Buffer.from('more')]).toString('base64')
				: text;
		expect(readPngText(tested)).toBeUndefined();
	});
});
