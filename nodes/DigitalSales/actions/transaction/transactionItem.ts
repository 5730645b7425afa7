import type { IBinaryKeyData } from 'n8n-workflow';
import type { Transaction } from '../../api/schemas/transaction';
import { isTool } from '../../n8n/tool';
import { type ItemResult, type OutputChoice, transactionOutput } from '../../output/transaction';
import type { Run } from '../run';

/** Of a hash in a file name: disks take at most 255 characters. */
const LONGEST_NAME = 100;

interface ItemChoice {
	simplify: boolean;
	options: Pick<OutputChoice, 'fields'> & { qrCodeImage?: boolean };
}

/**
 * A transaction as an item, with its QR code as a picture if one is wanted. Never throws, because the
 * charge exists whatever its answer holds.
 */
export async function transactionItem(
	run: Run,
	transaction: Transaction,
	{ simplify, options }: ItemChoice,
): Promise<ItemResult> {
	const { hash } = transaction;
	const picture = options.qrCodeImage === true ? pixPicture(run, transaction) : undefined;
	const binary = await picture?.catch(() => {
		const message = `The QR code picture of transaction ${hash} could not be made or stored.`;
		run.hint(message, 'notStored', `transaction ${hash}`);
		return undefined;
	});
	return {
		json: transactionOutput(transaction, { simplify, fields: options.fields }),
		...(binary && { binary }),
	};
}

/** The QR code of a transaction that has one, in the binary field that messengers are told to send. */
async function pixPicture(
	{ context }: Run,
	{ pix, hash }: Transaction,
): Promise<IBinaryKeyData | undefined> {
	const code = pix?.pix_qr_code;
	// n8n keeps pictures from agents, and logs a warning for each.
	if (!code || isTool(context)) return undefined;
	const png = Buffer.from(await drawQrCode(code));
	const fileName = `pix-${hash.slice(0, LONGEST_NAME).replace(/[^\w-]+/g, '_')}.png`;
	const data = await context.helpers.prepareBinaryData(png, fileName, 'image/png');
	return { qrCode: data };
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
