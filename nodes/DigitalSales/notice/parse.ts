import type { IWebhookFunctions } from 'n8n-workflow';
import { groupOf } from '../domain/paymentStatus';
import { cleanText, isUsableHash } from '../domain/text';
import { isJsonObject } from '../shared/json';
import { Declined, REPLIES } from './reply';

const LARGEST_NOTICE_BYTES = 256 * 1024;

/**
 * The body of a notice; undefined if it is neither JSON nor a form of texts. For a content type that n8n
 * does not parse, the body is read as JSON all the same.
 *
 * @throws Declined if it is larger than any real notice
 */
export async function readBody(context: IWebhookFunctions): Promise<unknown> {
	const request = context.getRequestObject();
	declineLongerThanAny(Number(context.getHeaderData()['content-length']));
	// n8n keeps no raw body of a form with files, so its size would not be known.
	if (request.contentType?.startsWith('multipart/')) return undefined;
	await request.readRawBody().catch(() => {
		// n8n has a limit of its own; or the sender has broken off, and hears nothing.
		throw new Declined(REPLIES.tooLarge);
	});
	declineLongerThanAny(request.rawBody.length);
	const parsed: unknown = context.getBodyData();
	if (parsed !== undefined && typeof parsed !== 'string') return parsed;
	// JSON is UTF-8, and Node knows few of the names that a content type may give as its charset.
	const text = parsed ?? request.rawBody.toString();
	try {
		return JSON.parse(text.replace(/^\uFEFF/, ''));
	} catch {
		return undefined;
	}
}

function declineLongerThanAny(bytes: number): void {
	if (bytes > LARGEST_NOTICE_BYTES) throw new Declined(REPLIES.tooLarge);
}

/**
 * What a notification claims: it is not signed, and its shape is not documented (API document, Events 3).
 */
export interface Notice {
	hash: string;
	status?: string;
	/** The kind of event, unless it is `transaction` (API document, Events 2). */
	event?: string;
}

/** A notice may come from anybody. */
const LONGEST_CLAIM = 200;
/** It reaches the item: no formula, markup or prompt fits into it. */
const EVENT = /^[\w.:-]{1,50}$/;

/**
 * Reads a notice of any known shape, each also under `data`:
 * - the transaction itself: `hash`, `payment_status`
 * - a flat summary: `transaction_hash`, `status`
 * - an envelope around the transaction: `transaction.hash` or `transaction.id`, `status`
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
	// First what stands at the root (or at that of `data`): inside the envelope it may lag behind.
	const status =
		text(body.payment_status) ??
		text(body.status) ??
		text(transaction.payment_status) ??
		text(transaction.status);
	const event = text(body.event)?.replace(/^transaction$/i, '') ?? '';
	const listed = status?.toLowerCase();
	return {
		hash,
		status: groupOf(listed) ? listed : status,
		event: EVENT.test(event) ? event : undefined,
	};
}

function usable(value: unknown): string | undefined {
	const hash = text(Number.isSafeInteger(value) ? String(value) : value);
	return hash !== undefined && isUsableHash(hash) ? hash : undefined;
}

function text(value: unknown): string | undefined {
	if (typeof value !== 'string' || value.length > LONGEST_CLAIM) return undefined;
	return cleanText(value) || undefined;
}
