import QRCode from 'qrcode';

/** To try each filter on each line takes most of the time, and squares get no smaller by it. */
const rendererOpts = { filterType: 0, deflateLevel: 9 };

/** A PNG of the code, base64 without a `data:` prefix. */
export async function qrImageBase64(code: string): Promise<string> {
	const options = { errorCorrectionLevel: 'M', margin: 2, scale: 4, rendererOpts } as const;
	return (await QRCode.toBuffer(code, options)).toString('base64');
}
