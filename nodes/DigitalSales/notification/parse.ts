import isEmpty from 'lodash/isEmpty';
import set from 'lodash/set';
import toPath from 'lodash/toPath';
import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { groupOf } from '../domain/paymentStatus';
import { cleanText, isUsableHash } from '../domain/text';
import { isJsonObject } from '../shared/json';
import { PromiseCache, processState } from '../shared/processState';
import { Declined, REPLIES } from './reply';

const LARGEST_NOTICE_BYTES = 256 * 1024;

/**
 * The notice that was sent.
 *
 * @throws Declined if it names no transaction, or is larger than any real notice
 */
export async function takeNotice(context: IWebhookFunctions): Promise<Notice> {
	const body = await readBody(context);
	const notice = readNotice(body);
	if (notice) return notice;
	const fields = objectIn(body) ?? {};
	const isPing = /^(ping|test)$/i.test(text(fields.event) ?? '');
	if (isPing || !mayHoldHash(body)) throw new Declined(REPLIES.noSale);
	const names = Object.keys(fields).filter((name) => NAME.test(name));
	const warning = `A webhook was refused, since it does not say the hash of its transaction. Its fields: ${names.slice(0, 20).join(', ')}`;
	const key = `${context.getWorkflow().id} ${context.getNode().id}`;
	await warnings.get(key, async () => context.logger.warn(warning));
	throw new Declined(REPLIES.noHash);
}

/** One in a while for each node: anybody may send anything. */
const warnings = processState(new PromiseCache<void>({ most: 100, keptMs: 600_000 }));

/** What n8n has read; under another content type JSON, which PHP's curl declares as a form, or a form. */
async function readBody(context: IWebhookFunctions): Promise<unknown> {
	const request = context.getRequestObject();
	declineLongerThanAny(Number(context.getHeaderData()['content-length']));
	const parsed: unknown = context.getBodyData();
	// n8n keeps no raw body of a form with files.
	if (request.contentType?.startsWith('multipart/')) {
		return isJsonObject(parsed) && isEmpty(parsed.files) ? parsed.data : undefined;
	}
	await request.readRawBody().catch(() => {
		// n8n has a limit of its own; or the sender has broken off, and hears nothing.
		throw new Declined(REPLIES.tooLarge);
	});
	declineLongerThanAny(request.rawBody.length);
	if (request.contentType === 'application/json') return parsed;
	// JSON is UTF-8, and Node knows few of the names that a content type may give as its charset.
	const text = typeof parsed === 'string' ? parsed : request.rawBody.toString();
	return (
		jsonIn(text) ?? (isJsonObject(parsed) ? parsed : Object.fromEntries(new URLSearchParams(text)))
	);
}

function jsonIn(text: string): unknown {
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
/** An event reaches the item, and names of fields the log: no formula, markup or prompt fits into it. */
const NAME = /^[\w.:-]{1,50}$/;
/** `length` would make a list as long as anybody likes. */
const NESTED_NAME = /^\w{1,50}(\[(?!length\])\w{1,50}\]){1,3}$/;
const LIKE_HASH = /^(?=.*\d)[\w-]{4,}$/;

/**
 * Reads a notice of any known shape, each also under `data` or `payload`:
 * - the transaction itself: `hash`, `payment_status`
 * - a flat summary: `transaction_hash`, `status`
 * - an envelope around the transaction: `transaction.hash` or `transaction.id`, `status`
 *
 * @internal
 */
export function readNotice(body: unknown): Notice | undefined {
	const fields = objectIn(body);
	if (!fields) return undefined;
	const hash = hashIn(fields);
	if (hash !== undefined) return claims(hash, fields);
	// One level only: `data` within `data` is no known shape.
	const inner = objectIn(fields.data) ?? objectIn(fields.payload);
	if (!inner) return undefined;
	const event = fields.event ?? inner.event;
	return readNotice({ ...inner, event, data: undefined, payload: undefined });
}

/** An object, also if it is the only one of a list, or JSON as a text, or a form with names such as `data[hash]`. */
function objectIn(value: unknown): IDataObject | undefined {
	const one: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
	const fields = typeof one === 'string' ? jsonIn(one) : one;
	if (!isJsonObject(fields)) return undefined;
	const nested = Object.entries(fields).filter(([name]) => NESTED_NAME.test(name));
	return nested.reduce((all, [name, value]) => set(all, toPath(name), value), { ...fields });
}

/** The most specific name goes first: the hash beside it may be that of something else. */
function hashIn(body: IDataObject): string | undefined {
	const { hash, id } = objectIn(body.transaction) ?? {};
	// An `id` of digits alone is the service's internal number, as the one at the root is.
	const named = typeof id === 'string' && /\D/.test(id.trim()) ? usable(id) : undefined;
	return usable(body.transaction_hash) ?? usable(hash) ?? usable(body.hash) ?? named;
}

/** Whether anything in it could be a hash, or a number of the platform's own. */
function mayHoldHash(value: unknown, depth = 4): boolean {
	if (typeof value === 'string' || typeof value === 'number') return LIKE_HASH.test(String(value));
	if (typeof value !== 'object' || value === null || depth === 0) return false;
	return Object.values(value).some((inner) => mayHoldHash(inner, depth - 1));
}

function claims(hash: string, body: IDataObject): Notice {
	const transaction = objectIn(body.transaction) ?? {};
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
		event: NAME.test(event) ? event : undefined,
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
