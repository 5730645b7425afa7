import { brCode } from '../../../sandbox/pix/brCode';
import { crc16 } from '../../../sandbox/pix/crc16';
import { at, call, order, useSandbox } from './support';

/** The checksum once more, with a table instead of a shift register. */
function tableCrc(text: string): string {
	const table = Array.from({ length: 256 }, (_, index) => {
		let value = index * 256;
		for (let bit = 0; bit < 8; bit += 1) {
			value = value >= 0x8000 ? (value * 2) % 0x10000 ^ 0x1021 : value * 2;
		}
		return value;
	});
	let crc = 0xffff;
	for (const character of text) {
		const index = (Math.floor(crc / 256) ^ character.charCodeAt(0)) & 0xff;
		crc = (crc * 256) % 0x10000 ^ (table[index] ?? 0);
	}
	return crc.toString(16).toUpperCase().padStart(4, '0');
}

/** Reads a BR Code into its fields. */
function fields(code: string): Record<string, string> {
	const found: Record<string, string> = {};
	for (let at = 0; at < code.length; ) {
		const length = Number(code.slice(at + 2, at + 4));
		found[code.slice(at, at + 2)] = code.slice(at + 4, at + 4 + length);
		at += 4 + length;
	}
	return found;
}

describe('the PIX code', () => {
	const held = useSandbox();

	test('has a right checksum: the published check value, and another implementation', () => {
		expect(crc16('123456789')).toBe('29B1');
		expect(tableCrc('123456789')).toBe('29B1');
	});

	test.each([
		[115, '1.15'],
		[5, '0.05'],
		[123_456, '1234.56'],
	])('of a charge of %i cents asks for R$ %s', async (amount, reais) => {
		const { body } = await call(
			held.sandbox,
			'POST',
			'/transactions',
			order(held.sandbox, { amount }),
		);
		const code = String(at(body, 'pix', 'pix_qr_code'));
		expect(code.slice(-4)).toBe(tableCrc(code.slice(0, -4)));
		const read = fields(code);
		expect(read).toMatchObject({ '00': '01', '53': '986', '54': reais, '58': 'BR' });
		expect(fields(read['26'] ?? '')).toMatchObject({ '00': 'br.gov.bcb.pix' });
		expect(read['26']).toContain(String(at(body, 'hash')));
	});

	test('comes with its picture, in the answer and at pix_url', async () => {
		const { body } = await call(held.sandbox, 'POST', '/transactions', order(held.sandbox));
		const png = Buffer.from(String(at(body, 'pix', 'qr_code_base64')), 'base64');
		expect(png.subarray(1, 4).toString()).toBe('PNG');
		const response = await fetch(String(at(body, 'pix', 'pix_url')));
		expect(response.headers.get('content-type')).toBe('image/png');
		expect(Buffer.from(await response.arrayBuffer()).equals(png)).toBe(true);
	});

	test('keeps names within their length and without accents', () => {
		const code = brCode({
			amount: 1,
			location: 'x'.repeat(200),
			merchantName: 'Conceição & Irmãos Comércio Ltda',
			merchantCity: 'São José dos Campos',
		});
		expect(fields(code)).toMatchObject({
			'59': 'Conceicao & Irmaos Comerc',
			'60': 'Sao Jose dos Ca',
		});
		expect(code.slice(-4)).toBe(tableCrc(code.slice(0, -4)));
	});
});
