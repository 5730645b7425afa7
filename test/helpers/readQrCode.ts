import jsQR from 'jsqr';
import { PNG } from 'pngjs';

/** The text in the QR code of a PNG, read by decoders that share nothing with what drew it. */
export function readQrCode(png: Uint8Array): string | undefined {
	const { data, width, height } = PNG.sync.read(Buffer.from(png));
	return jsQR(new Uint8ClampedArray(data), width, height)?.data;
}
