import QRCode from 'qrcode';

/** A PNG of the code, base64 without a `data:` prefix. */
export async function qrImageBase64(code: string): Promise<string> {
	const png = await QRCode.toBuffer(code, { errorCorrectionLevel: 'M', margin: 2, scale: 4 });
	return png.toString('base64');
}
