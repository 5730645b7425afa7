import type { Transaction } from '../../api/schemas/transaction';
import { isTooLateToPay } from '../../domain/paymentStatus';
import { isTool } from '../../n8n/tool';
import type { ItemResult } from '../../output/item';
import { type OutputChoice, transactionOutput } from '../../output/transaction';
import type { Run } from '../run';

/** Of a hash in a file name: disks take at most 255 characters. */
const LONGEST_NAME = 100;

interface ItemChoice {
	simplify: boolean;
	options: Pick<OutputChoice, 'fields'> & { qrCodeImage?: boolean };
}

/**
 * A transaction as an item, with its QR code as a picture if one is wanted: as a file for messengers, as an address
 * for pages. Never throws, because the charge exists whatever its answer holds.
 */
export async function transactionItem(
	{ context, hint }: Run,
	transaction: Transaction,
	{ simplify, options: { fields, qrCodeImage } }: ItemChoice,
): Promise<ItemResult> {
	const { hash, pix, payment_status: status } = transaction;
	const json = transactionOutput(transaction, { simplify, fields });
	// n8n keeps files from agents, and logs a warning for each.
	const isFile = qrCodeImage === true && !isTool(context);
	const isAddress =
		simplify && fields?.includes('pix_qr_code_image') === true && !isTooLateToPay(status);
	const code = pix?.pix_qr_code;
	if (!code || !(isFile || isAddress)) return { json };
	try {
		const png = Buffer.from(await drawQrCode(code));
		if (isAddress) json.pix_qr_code_image = `data:image/png;base64,${png.toString('base64')}`;
		if (!isFile) return { json };
		const fileName = `pix-${hash.slice(0, LONGEST_NAME).replace(/[^\w-]+/g, '_')}.png`;
		const qrCode = await context.helpers.prepareBinaryData(png, fileName, 'image/png');
		return { json, binary: { qrCode } };
	} catch {
		const message = `The QR code picture of transaction ${hash} could not be made or stored.`;
		hint(message, 'notStored', `transaction ${hash}`);
		return { json };
	}
}

/** Pixels of one module: a usual PIX code gives a picture some 500 pixels wide. */
const SCALE = 8;
/** Modules of white around the code; the specification asks for four. */
const MARGIN = 4;

/**
 * Draws a text as a QR code in a PNG.
 *
 * @throws Error if the text is too long for one
 * @internal
 */
export async function drawQrCode(text: string): Promise<Uint8Array> {
	// Most runs draw nothing, and n8n loads every node when it starts.
	const { generatePngQrCode } = await import('../../../../vendor/qrCode');
	return await generatePngQrCode(text, { ecLevel: 'M', scale: SCALE, margin: MARGIN });
}
