import type { INodeExecutionData } from 'n8n-workflow';
import type { Transaction } from '../../api';
import { isTooLateToPay } from '../../domain';
import { type OutputChoice, transactionOutput } from '../../output';
import type { Run } from '../run';

/** A usual PIX code becomes about 500 pixels wide. The margin of four modules is the specification's. */
const PICTURE = { ecLevel: 'M', scale: 8, margin: 4 } as const;

/** Never throws, because the charge exists. Messengers need the QR code as a file, pages as a data URL. */
export async function buildTransactionItem(
	{ context, isAgentCall, addHint }: Run,
	transaction: Transaction,
	choice: OutputChoice & { qrCodeImage?: boolean },
): Promise<INodeExecutionData> {
	const { hash, pix, payment_status } = transaction;
	const json = transactionOutput(transaction, choice);
	const code = pix?.pix_qr_code;
	// n8n withholds files from agents, with a warning in its log for each file.
	const isFile = choice.qrCodeImage === true && !isAgentCall;
	const isChosen = choice.simplify && choice.fields?.includes('pix_qr_code_image') === true;
	const isDataUrl = isChosen && !isTooLateToPay(payment_status);
	if (!code || !(isFile || isDataUrl)) return { json };

	try {
		// n8n loads every node when it starts, and most runs draw nothing.
		const { generatePngQrCode } = await import('../../../../vendor/qrCode');
		const png = Buffer.from(await generatePngQrCode(code, PICTURE));
		if (isDataUrl) json.pix_qr_code_image = `data:image/png;base64,${png.toString('base64')}`;
		if (!isFile) return { json };

		// File systems allow at most 255 characters.
		const fileName = `pix-${hash.slice(0, 100).replace(/[^\w-]+/g, '_')}.png`;
		const qrCode = await context.helpers.prepareBinaryData(png, fileName, 'image/png');
		return { json, binary: { qrCode } };
	} catch {
		addHint(
			'The QR code picture could not be stored. Use the PIX code instead.',
			`Transaction ${hash}`,
		);
		return { json };
	}
}
