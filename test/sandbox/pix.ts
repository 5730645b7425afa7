import { generatePngQrCode } from '../../vendor/qrCode';
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
		encodeField('00', '01') +
		encodeField('01', '12') +
		encodeField('26', encodeField('00', 'br.gov.bcb.pix') + encodeField('25', location)) +
		encodeField('52', '0000') +
		encodeField('53', '986') +
		encodeField('54', `${Math.floor(amount / 100)}.${String(amount % 100).padStart(2, '0')}`) +
		encodeField('58', 'BR') +
		encodeField('59', MERCHANT_NAME) +
		encodeField('60', 'SAO PAULO') +
		// The location of a dynamic code contains the identifier, so this field has the placeholder.
		encodeField('62', encodeField('05', '***')) +
		'6304';
	return body + crc16(body);
}

function encodeField(id: string, value: string): string {
	return id + String(value.length).padStart(2, '0') + value;
}

/** A PNG of the code, base64 without a `data:` prefix. */
export async function qrImageBase64(code: string): Promise<string> {
	const png = await generatePngQrCode(code, { ecLevel: 'M', margin: 2, scale: 4 });
	return Buffer.from(png).toString('base64');
}
