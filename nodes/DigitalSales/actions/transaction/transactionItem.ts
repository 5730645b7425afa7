import type { IBinaryKeyData } from 'n8n-workflow';
import type { Transaction } from '../../api/schemas/transaction';
import { drawQrCode } from '../../domain/qrCode';
import { isTool } from '../../once/execution';
import type { ItemResult } from '../../output/item';
import { transactionOutput, type OutputChoice } from '../../output/transaction';
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
