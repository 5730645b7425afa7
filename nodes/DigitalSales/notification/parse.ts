import { compact, set, toPath } from 'lodash';
import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { cleanText, isUsableHash, type Status } from '../domain';
import { digest, isJsonObject } from '../shared';
import { Declined, logRarely, REPLIES } from './reply';

const LARGEST_BODY_BYTES = 256 * 1024;

/** Webhooks are not signed, and their shape is not documented (API document, Events 3). */
export interface Notification {
	hash: string;
	status?: Status;
	/** Undefined for the event `transaction` (Events 2). */
	event?: string;
}

export interface Webhook extends Notification {
	/** The same if the webhook is sent again. */
	bodyDigest: string;
}

/** @throws Declined if the webhook names no transaction, or is too large */
export async function readNotification(context: IWebhookFunctions): Promise<Webhook> {
	const body = await readBody(context);
	const notification = parseNotification(body);
	if (notification) return { ...notification, bodyDigest: digest(JSON.stringify(body)) };
	const fields = parseObject(body) ?? {};
	const [event, status, type] = [fields.event, fields.status, fields.type].map(readText);
	const isTest = TEST.test(compact([event, status, type]).join(' '));
	if (isTest || isAbandonedCart({ event, status }) || !LIKE_SALE.test(JSON.stringify(body))) {
		throw new Declined(REPLIES.noSale);
	}
	const names = Object.keys(fields).filter((name) => SAFE_NAME.test(name));
	const shown = names.slice(0, 20).join(', ') || 'none that can be read';
	const message = `A webhook was refused because it does not contain the hash of its transaction. Its fields: ${shown}`;
	await logRarely(context, 'no hash', () => context.logger.warn(message));
	throw new Declined(REPLIES.noHash);
}

export function isAbandonedCart({
	event,
	status,
}: Pick<Notification, 'event' | 'status'>): boolean {
	return ABANDONED_CART.test(event ?? '') || ABANDONED_CART.test(status ?? '');
}

async function readBody(context: IWebhookFunctions): Promise<unknown> {
	const request = context.getRequestObject();
	declineTooLarge(Number(context.getHeaderData()['content-length']));
	const parsed: unknown = context.getBodyData();
	// n8n keeps no raw body of a multipart form.
	if (request.contentType?.startsWith('multipart/')) {
		return isJsonObject(parsed) ? parsed.data : undefined;
	}
	await request.readRawBody().catch(() => {
		throw new Declined(REPLIES.tooLarge);
	});
	declineTooLarge(request.rawBody.length);
	if (request.contentType === 'application/json') return parsed;
	const text = typeof parsed === 'string' ? parsed : request.rawBody.toString();
	const json = parseJson(text);
	if (json !== undefined) return json;
	return isJsonObject(parsed) ? parsed : Object.fromEntries(new URLSearchParams(text));
}

function declineTooLarge(bytes: number): void {
	if (bytes > LARGEST_BODY_BYTES) throw new Declined(REPLIES.tooLarge);
}

function parseJson(text: string): unknown {
	try {
		// `trim` also removes a byte order mark.
		return JSON.parse(text.trim());
	} catch {
		return undefined;
	}
}

const LONGEST_VALUE = 200;
/** Keeps formulas, markup and prompts out of items and logs. */
const SAFE_NAME = /^[\w.:-]{1,50}$/;
/** For `transaction[hash]` in a form. `list[length]` could make a list of any length. */
const NESTED_NAME = /^\w{1,50}(\[(?!length\])\w{1,50}\]){1,3}$/;
const TEST = /(^|[\W_])(ping|test)($|[\W_])/i;
/** Usually before there is a transaction. */
const ABANDONED_CART = /abandon/i;
/** Generous, because a webhook without any of these is answered 200, and nobody sees that it starts nothing. */
const LIKE_SALE = /\d|hash|status|sale|venda|transa/i;

/** The most specific field comes first, because a bare `hash` may belong to something else. */
const HASH_PLACES: ReadonlyArray<(fields: IDataObject) => string | undefined> = [
	({ transaction_hash: hash }) => readHash(hash),
	({ transaction }) => readHash(parseObject(transaction)?.hash),
	({ hash, payment_status: status }) => (status === undefined ? undefined : readHash(hash)),
	({ hash }) => readHash(hash),
	({ transaction }) => {
		const id = parseObject(transaction)?.id;
		// A number is the service's internal one, like an `id` at the root.
		return typeof id === 'string' ? readHash(id) : undefined;
	},
];

/**
 * Parses the known shapes, also under `data` or `payload`:
 * - the transaction: `hash`, `payment_status`
 * - a summary: `transaction_hash`, `status`
 * - an envelope: `transaction.hash` or `transaction.id`, `status`
 *
 * @internal
 */
export function parseNotification(body: unknown): Notification | undefined {
	const root = parseObject(body);
	const objects = [root, parseObject(root?.data), parseObject(root?.payload)];
	for (const hashAt of HASH_PLACES) {
		for (const fields of objects) {
			const hash = fields && hashAt(fields);
			if (!hash) continue;
			return { hash, status: readStatus(fields), event: readEvent(root?.event ?? fields.event) };
		}
	}
	return undefined;
}

function parseObject(value: unknown): IDataObject | undefined {
	const entry: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
	const fields = typeof entry === 'string' ? parseJson(entry) : entry;
	if (!isJsonObject(fields)) return undefined;
	const nested = Object.entries(fields).filter(([name]) => NESTED_NAME.test(name));
	return nested.reduce((all, [name, value]) => set(all, toPath(name), value), { ...fields });
}

/** An envelope's own status comes first, because the status inside may be older. */
function readStatus(fields: IDataObject): string | undefined {
	const transaction = parseObject(fields.transaction) ?? {};
	const statuses = [fields, transaction].flatMap((part) => [part.payment_status, part.status]);
	return statuses.map(readText).find((text) => text !== undefined);
}

function readEvent(value: unknown): string | undefined {
	const event = readText(value) ?? '';
	return SAFE_NAME.test(event) && event.toLowerCase() !== 'transaction' ? event : undefined;
}

function readHash(value: unknown): string | undefined {
	const hash = readText(Number.isSafeInteger(value) ? String(value) : value);
	return hash !== undefined && isUsableHash(hash) ? hash : undefined;
}

function readText(value: unknown): string | undefined {
	if (typeof value !== 'string' || value.length > LONGEST_VALUE) return undefined;
	return cleanText(value) || undefined;
}
