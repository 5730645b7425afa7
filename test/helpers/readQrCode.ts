import jsQR from 'jsqr';
import { PNG } from 'pngjs';

/** Reads the text in the QR code of a PNG, with decoders that share no code with the library that drew it. */
export function readQrCode(png: Uint8Array): string | undefined {
	const { data, width, height } = PNG.sync.read(Buffer.from(png));
	return jsQR(new Uint8ClampedArray(data), width, height)?.data;
}
