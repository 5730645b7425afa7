import type { IBinaryKeyData, IExecuteFunctions } from 'n8n-workflow';
import type { Transaction } from '../../api/schemas/transaction';
import { pixCodeProblem } from '../../domain/pixCode';
import { readPngText } from '../../domain/png';
import { drawQrCode } from '../../domain/qrCode';

/** Who makes the picture, and who is told what is wrong. */
export interface PixRun {
	context: IExecuteFunctions;
	hint: (message: string) => void;
	/** The binary field for the picture of the QR code; undefined where none is wanted. */
	qrCodeProperty: string | undefined;
}

/**
 * Looks at the PIX code of a transaction, hints at what is wrong with it, and gives its QR code as a
 * picture where one is wanted. Never throws: the charge exists, whatever becomes of the picture.
 */
export async function pixOutput(
	transaction: Transaction,
	{ context, hint, qrCodeProperty }: PixRun,
): Promise<IBinaryKeyData | undefined> {
	if (!transaction.pix) return undefined;
	const name = `transaction ${transaction.hash}`;
	const code = transaction.pix.pix_qr_code;
	const problem = code ? pixCodeProblem(code, transaction.amount) : undefined;
	if (problem !== undefined) {
		hint(`The PIX code of ${name} ${problem}. Ask the service before you send it to the customer.`);
	}
	if (qrCodeProperty === undefined) return undefined;
	try {
		const png = await pictureOf(transaction.pix);
		if (png) return { [qrCodeProperty]: await binaryOf(context, png, transaction.hash) };
		hint(`There is no QR code picture of ${name}: the service returned neither code nor picture.`);
	} catch {
		hint(`n8n could not store the QR code picture of ${name}.`);
	}
	return undefined;
}

/** Drawn from the code; else the service's own picture, where that is a sound PNG. */
async function pictureOf(pix: NonNullable<Transaction['pix']>): Promise<Uint8Array | undefined> {
	const drawn = pix.pix_qr_code ? await drawQrCode(pix.pix_qr_code) : undefined;
	return drawn ?? readPngText(pix.qr_code_base64 ?? '') ?? readPngText(pix.pix_base64 ?? '');
}

async function binaryOf(context: IExecuteFunctions, png: Uint8Array, hash: string) {
	const fileName = `pix-${hash.replace(/[^\w-]+/g, '_')}.png`;
	return await context.helpers.prepareBinaryData(Buffer.from(png), fileName, 'image/png');
}
