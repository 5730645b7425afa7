import QRCode from 'qrcode';
import { MERCHANT_NAME } from './shapes';

/** CRC-16/CCITT-FALSE (polynomial 0x1021, start 0xFFFF) as four capital hex digits. */
function crc16(text: string): string {
	let crc = 0xffff;
	for (const byte of Buffer.from(text, 'utf8')) {
		crc ^= byte << 8;
		for (let bit = 0; bit < 8; bit += 1) {
			crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
		}
	}
	return crc.toString(16).toUpperCase().padStart(4, '0');
}

/**
 * The copy-and-paste text of a dynamic PIX charge: an EMV BR Code with the amount in reais and a
 * CRC over everything before it, its own tag and length included.
 *
 * @param amount cents
 * @param location address of the charge, without its scheme; at most 77 characters
 */
export function brCode(amount: number, location: string): string {
	const body =
		field('00', '01') +
		field('01', '12') +
		field('26', field('00', 'br.gov.bcb.pix') + field('25', location)) +
		field('52', '0000') +
		field('53', '986') +
		field('54', `${Math.floor(amount / 100)}.${String(amount % 100).padStart(2, '0')}`) +
		field('58', 'BR') +
		field('59', MERCHANT_NAME) +
		field('60', 'SAO PAULO') +
		// Dynamic codes carry their identifier behind the location, so the text has the placeholder.
		field('62', field('05', '***')) +
		'6304';
	return body + crc16(body);
}

function field(id: string, value: string): string {
	return id + String(value.length).padStart(2, '0') + value;
}

/** To try each filter on each line takes most of the time, and squares get no smaller by it. */
const rendererOpts = { filterType: 0, deflateLevel: 9 };

/** A PNG of the code, base64 without a `data:` prefix. */
export async function qrImageBase64(code: string): Promise<string> {
	const options = { errorCorrectionLevel: 'M', margin: 2, scale: 4, rendererOpts } as const;
	return (await QRCode.toBuffer(code, options)).toString('base64');
}
