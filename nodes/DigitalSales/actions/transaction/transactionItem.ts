import type { IBinaryKeyData } from 'n8n-workflow';
import type { Transaction } from '../../api/schemas/transaction';
import { drawQrCode } from '../../domain/qrCode';
import { qrCodeProperty } from '../../form/outputOptions';
import { isTool } from '../../once/execution';
import type { ItemResult } from '../../output/item';
import { transactionOutput, type OutputChoice } from '../../output/transaction';
import type { Run } from '../run';

/** Of a hash in a file name: disks take at most 255 characters. */
const LONGEST_NAME = 100;

interface ItemChoice {
	simplify: boolean;
	options: Pick<OutputChoice, 'fields'> & { qrCodeImage?: boolean; binaryPropertyName?: string };
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
	const binary = await pixPicture(run, transaction, qrCodeProperty(options)).catch(() => {
		const message = `The QR code picture of transaction ${hash} could not be made or stored.`;
		run.hint(message, 'notStored', `transaction ${hash}`);
		return undefined;
	});
	return {
		json: transactionOutput(transaction, { simplify, fields: options.fields }),
		...(binary && { binary }),
	};
}

/** The QR code of a transaction that has one, for the binary field `property`. */
async function pixPicture(
	{ context }: Run,
	{ pix, hash }: Transaction,
	property: string | undefined,
): Promise<IBinaryKeyData | undefined> {
	const code = pix?.pix_qr_code;
	// n8n keeps pictures from agents, and logs a warning for each.
	if (!code || property === undefined || isTool(context)) return undefined;
	const png = Buffer.from(await drawQrCode(code));
	const fileName = `pix-${hash.slice(0, LONGEST_NAME).replace(/[^\w-]+/g, '_')}.png`;
	const data = await context.helpers.prepareBinaryData(png, fileName, 'image/png');
	return { [property]: data };
}
