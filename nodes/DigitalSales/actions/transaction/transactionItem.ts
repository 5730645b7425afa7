import type { IBinaryKeyData, IExecuteFunctions } from 'n8n-workflow';
import type { Transaction } from '../../api/schemas/transaction';
import type { AmountUnit } from '../../domain/money';
import { pixCodeProblem } from '../../domain/pixCode';
import { readPngText } from '../../domain/png';
import { drawQrCode } from '../../domain/qrCode';
import { qrCodeProperty } from '../../form/outputOptions';
import { isTool } from '../../once/execution';
import type { ItemResult } from '../../output/item';
import { transactionOutput } from '../../output/transaction';
import type { Run } from '../run';

interface OutputChoice {
	simplify: boolean;
	options: { outputUnit?: AmountUnit; qrCodeImage?: boolean; binaryPropertyName?: string };
}

/** A transaction as an item, with its QR code as a picture if one is wanted. */
export async function transactionItem(
	run: Run,
	transaction: Transaction,
	{ simplify, options }: OutputChoice,
): Promise<ItemResult> {
	const binary = await pixPicture(run, transaction, qrCodeProperty(options));
	return {
		json: transactionOutput(transaction, simplify, options.outputUnit),
		...(binary && { binary }),
	};
}

/**
 * Hints at what is wrong with the PIX code of a transaction, and returns its QR code as a picture for
 * the binary field `property`. Never throws, because the charge exists even without a picture.
 */
async function pixPicture(
	{ context, hint }: Run,
	{ pix, hash, amount }: Transaction,
	property: string | undefined,
): Promise<IBinaryKeyData | undefined> {
	if (!pix) return undefined;
	const name = `transaction ${hash}`;
	const problem = pix.pix_qr_code ? pixCodeProblem(pix.pix_qr_code, amount) : undefined;
	if (problem !== undefined) {
		hint(`The PIX code of ${name} ${problem}. Ask the service before you send it to the customer.`);
	}
	// n8n keeps pictures from agents, and logs a warning for each.
	if (property === undefined || isTool(context)) return undefined;
	try {
		const png = await pictureOf(pix);
		if (png) return { [property]: await binaryOf(context, png, hash) };
		hint(`There is no QR code picture of ${name}: the service returned neither code nor picture.`);
	} catch {
		hint(`n8n could not store the QR code picture of ${name}.`);
	}
	return undefined;
}

/** Drawn from the code, or else the service's own picture if it is a valid PNG. */
async function pictureOf(pix: NonNullable<Transaction['pix']>): Promise<Uint8Array | undefined> {
	const drawn = pix.pix_qr_code ? await drawQrCode(pix.pix_qr_code) : undefined;
	return drawn ?? readPngText(pix.qr_code_base64 ?? '') ?? readPngText(pix.pix_base64 ?? '');
}

async function binaryOf(context: IExecuteFunctions, png: Uint8Array, hash: string) {
	const fileName = `pix-${hash.replace(/[^\w-]+/g, '_')}.png`;
	return await context.helpers.prepareBinaryData(Buffer.from(png), fileName, 'image/png');
}
