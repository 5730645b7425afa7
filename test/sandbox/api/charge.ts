import { createHash, randomUUID } from 'node:crypto';
import { timestamp } from '../clock';
import { brCode } from '../pix/brCode';
import { qrImageBase64 } from '../pix/qrImage';
import type { SoldOffer } from '../state';
import type { Pix, StoredTransaction } from '../types';
import type { SandboxParts } from './context';
import type { TransactionInput } from './transactionInput';
import { MERCHANT_NAME } from './transactionShape';

export interface ChargeOptions {
	refused?: boolean;
	sample?: boolean;
	/** Default waiting_payment, the status of every new PIX charge (section "States"). */
	status?: string;
}

/** Makes a PIX charge and remembers it. */
export async function charge(
	parts: SandboxParts,
	input: TransactionInput,
	options: ChargeOptions = {},
): Promise<StoredTransaction> {
	const { state } = parts;
	const sold = state.soldOffer(input.offerHash);
	if (!sold) throw new Error(`No offer ${input.offerHash}`);
	const hash = state.newHash();
	const now = timestamp(Date.now());
	const status = options.refused ? 'refused' : (options.status ?? 'waiting_payment');
	const stored: StoredTransaction = {
		id: state.newId(),
		hash,
		payment_method: 'pix',
		payment_status: status,
		previous_status: status,
		installments: input.installments,
		pix: options.refused ? null : await makePix(parts, hash, input.amount),
		amount: input.amount,
		amount_liquid: input.amount - fee(input.amount),
		transaction: randomUUID(),
		tracking: input.tracking,
		customer: {
			// The same person is the same customer, so the hash follows the document.
			hash: createHash('sha256').update(input.customer.document).digest('hex').slice(0, 10),
			name: input.customer.name,
			email: input.customer.email,
			phone_number: input.customer.phone,
			document: input.customer.document,
		},
		...soldShape(sold, input.installments),
		items: input.items.map(({ offerHash, operationType }) => ({
			hash: offerHash,
			product_id: state.soldOffer(offerHash)?.productId ?? sold.productId,
			operation_type: operationType,
		})),
		postback_url: input.notificationUrl,
		created_at: now,
		updated_at: now,
		paid_at: status === 'paid' ? now : null,
		sample: options.sample ?? false,
		hidden: false,
	};
	state.addTransaction(stored);
	return stored;
}

function soldShape(
	{ offer, product }: SoldOffer,
	installments: number,
): Pick<StoredTransaction, 'offer' | 'product'> {
	return {
		offer: {
			hash: offer.hash,
			title: offer.title ?? product.title,
			price: offer.price,
			installments,
		},
		product: {
			hash: product.hash,
			title: product.title,
			cover: product.cover,
			status: product.status === 1 ? 'active' : 'inactive',
		},
	};
}

/** Cents: 4.99 % and one real, never more than the charge. */
function fee(amount: number): number {
	return Math.min(amount, Math.round((amount * 499) / 10_000) + 100);
}

async function makePix(parts: SandboxParts, hash: string, amount: number): Promise<Pix> {
	const code = brCode({
		amount,
		location: `pix.sandbox.test/qr/v2/${hash}`,
		merchantName: MERCHANT_NAME,
		merchantCity: 'SAO PAULO',
	});
	return {
		pix_url: `${parts.origin()}/sandbox/qr/${hash}.png`,
		pix_qr_code: code,
		qr_code_base64: parts.settings.qrImage === 'absent' ? null : await qrImageBase64(code),
	};
}
