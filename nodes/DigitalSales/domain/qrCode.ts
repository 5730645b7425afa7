/** Pixels of one module: a usual PIX code gives a picture some 500 pixels wide. */
const SCALE = 8;
/** Modules of white around the code; the specification asks for four. */
const MARGIN = 4;

/**
 * Draws a text as a QR code in a PNG.
 *
 * @throws Error if the text is too long for one
 */
export async function drawQrCode(text: string): Promise<Uint8Array> {
	// Most runs draw nothing, and n8n loads every node when it starts.
	const { generatePngQrCode } = await import('../../../vendor/qrCode');
	return await generatePngQrCode(text, { ecLevel: 'M', scale: SCALE, margin: MARGIN });
}
