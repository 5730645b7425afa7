import { createHash, randomUUID } from 'node:crypto';
import { timestamp } from '../clock';
import {
	type Answer,
	failure,
	failureByField,
	failureList,
	isRecord,
	json,
	type JsonObject,
} from '../http';
import type { ApiRequest, SandboxParts } from '../parts';
import { brCode, qrImageBase64 } from '../pix';
import { createdShape, MERCHANT_NAME, readShape } from '../shapes';
import type { SandboxState, SoldOffer } from '../state';
import type { Pix, StoredTransaction, Tracking } from '../types';
import { FieldErrors, FieldReader } from './fields';

// Eleven digits are a CPF; a CNPJ may have letters in its first twelve places since July 2026.
const DOCUMENT = /^(\d{11}|[0-9A-Z]{12}\d{2})$/;
const PHONE = /^\d{10,13}$/;

/** The order of a body that has passed its checks; amounts in cents. */
export interface TransactionInput {
	amount: number;
	installments: number;
	offerHash: string;
	items: Array<{ offerHash: string; operationType: number }>;
	customer: { name: string; email: string; phone: string; document: string };
	tracking: Tracking;
	notificationUrl: string;
}

/**
 * Checks the body of POST /transactions. The document does not say which fields are required:
 * here they are those without which no charge could be made (amount, method, cart, payer).
 */
function readTransaction(
	body: JsonObject,
	state: SandboxState,
): { errors: FieldErrors; input: TransactionInput } {
	const errors = new FieldErrors();
	const fields = new FieldReader(errors, body);
	const amount = fields.required('amount') ? fields.integer('amount', 1) : undefined;
	// "Request shapes for methods other than pix: not shown", so there is nothing else to accept.
	if (fields.required('payment_method')) fields.oneOf('payment_method', ['pix']);
	const items = readCart(fields, state);
	const notificationUrl = fields.httpUrl('webhook_url');
	const input: TransactionInput = {
		amount: amount ?? 0,
		installments: fields.integer('installments', 1) ?? 1,
		offerHash: items[0]?.offerHash ?? '',
		items,
		customer: readCustomer(fields),
		tracking: readTracking(fields),
		notificationUrl: notificationUrl ?? '',
	};
	return { errors, input };
}

function readCart(fields: FieldReader, state: SandboxState): TransactionInput['items'] {
	if (!fields.required('cart')) return [];
	return fields.objects('cart').map((item) => {
		const offerHash = (item.required('offer_hash') && item.text('offer_hash')) || '';
		if (offerHash !== '' && !state.soldOffer(offerHash)) item.refuse('offer_hash', 'is invalid.');
		item.integer('price', 0);
		item.integer('quantity', 1);
		item.text('title');
		item.httpUrl('cover');
		return { offerHash, operationType: item.integer('operation_type') ?? 1 };
	});
}

function readCustomer(fields: FieldReader): TransactionInput['customer'] {
	const customer = fields.required('customer') ? fields.object('customer') : undefined;
	if (!customer) return { name: '', email: '', phone: '', document: '' };
	if (customer.required('name')) customer.text('name');
	if (customer.required('email')) {
		customer.matches('email', /^[^\s@]+@[^\s@]+$/, 'must be a valid email address.');
	}
	if (customer.required('document')) {
		customer.matches('document', DOCUMENT, 'must be a CPF or CNPJ without punctuation.');
	}
	customer.matches('phone_number', PHONE, 'must be between 10 and 13 digits.');
	return {
		name: customer.peek('name'),
		email: customer.peek('email'),
		phone: customer.peek('phone_number'),
		document: customer.peek('document'),
	};
}

function readTracking(fields: FieldReader): Tracking {
	const tracking = fields.object('tracking');
	const value = (name: string): string | null => tracking?.text(name) ?? null;
	return {
		src: value('src'),
		utm_source: value('utm_source'),
		utm_campaign: value('utm_campaign'),
		utm_content: value('utm_content'),
		utm_term: value('utm_term'),
		utm_medium: value('utm_medium'),
	};
}

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

/** Section "POST /transactions": a PIX charge for a cart of offers. */
export function createTransaction(parts: SandboxParts): (request: ApiRequest) => Promise<Answer> {
	const { settings, state } = parts;
	const tokens = [settings.bodyApiToken, settings.apiToken];
	return async ({ body, faults }) => {
		const source = isRecord(body) ? body : {};
		const token = source['api_token'];
		if (typeof token !== 'string' || !tokens.includes(token)) {
			const text = token === undefined ? 'The api_token field is required.' : 'Invalid api_token.';
			return failureList(401, 'Unauthenticated.', [text]);
		}
		const forced = faults.of('errorsByField');
		if (forced?.errors) return failureByField('The given data was invalid.', forced.errors);
		const { errors, input } = readTransaction(source, state);
		if (errors.any) {
			if (forced || settings.errorsByField) {
				return failureByField(errors.message(), errors.keyed());
			}
			return failureList(422, errors.message(), errors.list());
		}
		const stored = await charge(parts, input, { refused: faults.of('refused') !== undefined });
		const shape = createdShape(stored, settings.qrImage);
		return json(201, settings.wrapTransactions ? { success: true, data: shape } : shape);
	};
}

/** Section "GET /transactions/{hash}". */
export function readTransactionByHash(parts: SandboxParts): (request: ApiRequest) => Answer {
	const { settings, state } = parts;
	return ({ params }) => {
		const stored = state.transaction(params['hash'] ?? '');
		if (!stored) return failure(404, 'Transaction not found.');
		const shape = readShape(stored, settings.qrImage);
		return json(200, settings.wrapTransactions ? { success: true, data: shape } : shape);
	};
}

/** Changes the status and what depends on it; the caller sends the notice. */
export function changeStatus(stored: StoredTransaction, status: string): void {
	const now = timestamp(Date.now());
	stored.previous_status = stored.payment_status;
	stored.payment_status = status;
	stored.updated_at = now;
	if (status === 'paid') stored.paid_at = now;
}
