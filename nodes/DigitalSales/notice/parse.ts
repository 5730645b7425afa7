import { isUsableHash } from '../domain/hash';
import { cleanText } from '../domain/text';
import { isJsonObject } from '../shared/json';
import { lenientInteger } from '../api/schemas/lenient';
import type { Transaction } from '../api/schemas/transaction';

/**
 * What a notification claims: it is not signed, and its shape is not documented (API document, Events 3).
 * The filters read a verified transaction in this shape, too.
 */
export interface Notice {
	hash: string;
	status?: string;
	/** The kind of event, unless it is `transaction` (API document, Events 2). */
	event?: string;
	paymentMethod?: string;
	productHash?: string;
	offerHash?: string;
	/** In integer cents; `unreadable` if what is stated is not a number of cents. */
	amount?: number | 'unreadable';
}

/** A notice may come from anybody. */
const LONGEST_CLAIM = 200;

/**
 * Reads a notice of any known shape, each also under `data`:
 * - the transaction itself: `hash`, `payment_status`, `payment_method`
 * - a flat summary: `transaction_hash`, `status`, `payment_method`
 * - an envelope around the transaction: `transaction.hash` or `transaction.id`, `status`, `method`
 */
export function readNotice(body: unknown): Notice | undefined {
	if (!isJsonObject(body)) return undefined;
	const hash = hashIn(body);
	if (hash !== undefined) return claims(hash, body);
	// One level only: `data` within `data` is no known shape.
	const { event, data } = body;
	if (!isJsonObject(data)) return undefined;
	return readNotice({ ...data, event: event ?? data.event, data: undefined });
}

function hashIn(body: Record<string, unknown>): string | undefined {
	const direct = usable(body.hash) ?? usable(body.transaction_hash);
	if (direct !== undefined || !isJsonObject(body.transaction)) return direct;
	const { hash, id } = body.transaction;
	const named = usable(id);
	// An `id` of digits alone is the service's internal number, as the one at the root is.
	return usable(hash) ?? (named !== undefined && /^\d+$/.test(named) ? undefined : named);
}

function claims(hash: string, body: Record<string, unknown>): Notice {
	const transaction = isJsonObject(body.transaction) ? body.transaction : {};
	const product = isJsonObject(body.product) ? body.product : {};
	const offer = isJsonObject(body.offer) ? body.offer : {};
	// First what stands at the root (or at that of `data`): inside the envelope it may lag behind.
	return {
		hash,
		status: text(body.payment_status) ?? text(body.status) ?? text(transaction.status),
		event: text(body.event)?.replace(/^transaction$/i, '') || undefined,
		paymentMethod: text(body.payment_method) ?? text(body.method) ?? text(transaction.method),
		productHash: text(product.hash),
		offerHash: text(offer.hash),
		amount: statedCents(body.amount) ?? statedCents(transaction.amount),
	};
}

function usable(value: unknown): string | undefined {
	const hash = text(value);
	return hash !== undefined && isUsableHash(hash) ? hash : undefined;
}

function text(value: unknown): string | undefined {
	if (typeof value !== 'string' || value.length > LONGEST_CLAIM) return undefined;
	return cleanText(value) || undefined;
}

/** A transaction read from the service, in the shape of a notice. */
export function toNotice({ json, ...transaction }: Transaction): Notice {
	return {
		hash: transaction.hash,
		status: transaction.payment_status ?? undefined,
		paymentMethod: transaction.payment_method ?? undefined,
		productHash: transaction.product?.hash ?? undefined,
		offerHash: transaction.offer?.hash ?? undefined,
		amount: statedCents(json.amount),
	};
}

/** The stated amount in integer cents; undefined if none is stated. */
function statedCents(value: unknown): Notice['amount'] {
	if (value === undefined || value === null || value === '') return undefined;
	return lenientInteger.safeParse(value).data ?? 'unreadable';
}
