import { createHash, randomUUID } from 'node:crypto';
import { timestamp } from '../clock';
import { type Answer, failureAnswer, isRecord, jsonAnswer } from '../http';
import type { ApiRequest, SandboxParts } from '../parts';
import { brCode, qrImageBase64 } from '../pix';
import { createdShape, readShape } from '../shapes';
import type { Pix, StoredTransaction } from '../types';
import { type Order, orderSchema, refusalAnswer } from './checks';

/** Creates and stores a PIX charge, which may be refused. */
async function storeCharge(
	parts: SandboxParts,
	{ amount, cart, customer, tracking, ...order }: Order,
	isRefused: boolean,
): Promise<StoredTransaction> {
	const { state } = parts;
	const items = cart.flatMap(({ offer_hash: hash, operation_type }) => {
		const sold = state.soldOffer(hash);
		return sold ? [{ ...sold, operation_type: operation_type ?? 1 }] : [];
	});
	const [first] = items;
	if (!first) throw new Error('The cart holds no offer');
	const { offer, product } = first;
	const hash = state.newHash();
	const now = timestamp(Date.now());
	// "waiting_payment" is the status of every new PIX charge (section "States").
	const status = isRefused ? 'refused' : 'waiting_payment';
	const installments = order.installments ?? 1;
	const stored: StoredTransaction = {
		id: state.newId(),
		hash,
		payment_method: 'pix',
		payment_status: status,
		previous_status: status,
		installments,
		pix: isRefused ? null : await makePix(parts, hash, amount),
		amount,
		amount_liquid: amount - platformFee(amount),
		transaction: randomUUID(),
		tracking: {
			src: tracking?.src ?? null,
			utm_source: tracking?.utm_source ?? null,
			utm_campaign: tracking?.utm_campaign ?? null,
			utm_content: tracking?.utm_content ?? null,
			utm_term: tracking?.utm_term ?? null,
			utm_medium: tracking?.utm_medium ?? null,
		},
		customer: {
			// The same document is the same customer, and gives the same hash.
			hash: createHash('sha256').update(customer.document).digest('hex').slice(0, 10),
			...customer,
			phone_number: customer.phone_number ?? '',
		},
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
		items: items.map((item) => ({
			hash: item.offer.hash,
			product_id: item.productId,
			operation_type: item.operation_type,
		})),
		postback_url: order.webhook_url ?? '',
		created_at: now,
		updated_at: now,
		paid_at: null,
	};
	state.addTransaction(stored);
	return stored;
}

/** The fee in cents: 4.99 % and one real, at most the amount. */
function platformFee(amount: number): number {
	return Math.min(amount, Math.round((amount * 499) / 10_000) + 100);
}

async function makePix(parts: SandboxParts, hash: string, amount: number): Promise<Pix> {
	const code = brCode(amount, `pix.sandbox.test/qr/v2/${hash}`);
	return {
		pix_url: `${parts.origin}/sandbox/qr/${hash}.png`,
		pix_qr_code: code,
		qr_code_base64: parts.settings.qrImage === 'absent' ? null : await qrImageBase64(code),
	};
}

/** Section "POST /transactions": a PIX charge for a cart of offers. */
export function createTransaction(parts: SandboxParts) {
	const { settings, state } = parts;
	const tokens = [settings.bodyApiToken, settings.apiToken];
	const schema = orderSchema((hash) => state.soldOffer(hash) !== undefined);
	return async ({ body, faults }: ApiRequest): Promise<Answer> => {
		const source = isRecord(body) ? body : {};
		const token = source['api_token'];
		if (typeof token !== 'string' || !tokens.includes(token)) {
			const text = token === undefined ? 'The api_token field is required.' : 'Invalid api_token.';
			return failureAnswer(401, 'Unauthenticated.', [text]);
		}
		const { data, error } = schema.safeParse(source);
		if (error) return refusalAnswer(error);
		return jsonAnswer(
			201,
			createdShape(await storeCharge(parts, data, faults.of('refused') !== undefined)),
		);
	};
}

/** Section "GET /transactions/{hash}". */
export function readTransactionByHash({ state }: SandboxParts) {
	return ({ params }: ApiRequest): Answer => {
		const stored = state.transaction(params.hash ?? '');
		return stored
			? jsonAnswer(200, readShape(stored))
			: failureAnswer(404, 'Transaction not found.');
	};
}

/** Changes the status and the fields that depend on it. The caller sends the notification. */
export function changeStatus(stored: StoredTransaction, status: string): void {
	const now = timestamp(Date.now());
	stored.previous_status = stored.payment_status;
	stored.payment_status = status;
	stored.updated_at = now;
	if (status === 'paid') stored.paid_at = now;
}
