import { compact, set, toPath } from 'lodash';
import type { IDataObject } from 'n8n-workflow';
import { cleanText, isUsableHash } from '../../domain';
import { isJsonObject, parseJson } from '../../shared';

/** Webhooks are not signed, and their shape is not documented (API document, Events 3). */
export interface Notification {
	hash: string;
	/** Undefined if the webhook names none. */
	status?: string;
	/** A test or an abandoned cart, which may name a transaction that does not exist. */
	isTestOrCart: boolean;
}

/** The most specific field comes first, because a bare `hash` may belong to something else. */
const HASH_PLACES: ReadonlyArray<(fields: IDataObject) => string | undefined> = [
	(fields) => readHash(fields.transaction_hash),
	(fields) => readHash(parseObject(fields.transaction)?.hash),
	(fields) => readHash(fields.payment_status !== undefined && fields.hash),
	(fields) => readHash(fields.hash),
	// A number is the platform's internal one, like an `id` at the root.
	(fields) => readHash(readText(parseObject(fields.transaction)?.id)),
];

/**
 * Parses the known shapes, also in `data` or `payload`, with the status in there or outside:
 * - the transaction: `hash`, `payment_status`
 * - a summary: `transaction_hash`, `status`
 * - an envelope: `transaction.hash` or `transaction.id`, `status`
 */
export function parseNotification(body: unknown): Notification | undefined {
	const root = parseObject(body);
	const objects = compact([root, parseObject(root?.data), parseObject(root?.payload)]);

	for (const hashAt of HASH_PLACES) {
		for (const fields of objects) {
			const hash = hashAt(fields);
			if (!hash) continue;

			// The root's comes second, because it may be that of the delivery.
			const status = readStatus(fields) ?? readStatus(root ?? {});
			// Abandoned only by its status, because the event of a sale may name the cart that it recovered.
			const isTestOrCart = objects.some(isTest) || ABANDONED.test(status ?? '');
			return { hash, status, isTestOrCart };
		}
	}
	return undefined;
}

/** Beside a `transaction`, the envelope's own status comes first, because the one inside may be older. */
function readStatus(fields: IDataObject): string | undefined {
	const transaction = parseObject(fields.transaction) ?? {};
	const statuses = [fields, transaction].flatMap((part) => [part.payment_status, part.status]);
	return statuses.map(readText).find((text) => text !== undefined);
}

function readHash(value: unknown): string | undefined {
	const hash = readText(Number.isSafeInteger(value) ? String(value) : value);
	if (hash !== undefined && isUsableHash(hash)) return hash;
	return undefined;
}

/** Generous, because a webhook without any of these is answered 200, and nobody sees that it starts nothing. */
const LIKE_SALE = /hash|status|sale|venda|transa|order|pedido|payment|pagamento|amount|valor/i;

/** Whether a body may be about a transaction although no hash can be read from it. */
export function looksLikeSale(body: unknown): boolean {
	const fields = parseObject(body) ?? {};
	if (isTest(fields) || ABANDONED.test(describeKind(fields))) return false;
	return LIKE_SALE.test(JSON.stringify(body) ?? '');
}

const MOST_NAMES = 20;
/** Keeps formulas, markup and prompts out of logs. */
const SAFE_NAME = /^[\w.:-]{1,50}$/;

/** The names of a body's fields. */
export function listFields(body: unknown): string[] {
	const names = Object.keys(parseObject(body) ?? {});
	return names.filter((name) => SAFE_NAME.test(name)).slice(0, MOST_NAMES);
}

const TEST = /(^|[\W_])(ping|teste?)($|[\W_])/i;
const ABANDONED = /abandon/i;
const YES: ReadonlySet<unknown> = new Set([true, 'true', 1, '1']);

function isTest(fields: IDataObject): boolean {
	return TEST.test(describeKind(fields)) || YES.has(fields.test);
}

/** What a webhook says of its kind. */
function describeKind({ event, evento, action, type, status }: IDataObject): string {
	return compact([event, evento, action, type, status].map(readText)).join(' ');
}

/** Flat names of a form. Only known ones, so that no webhook can change what objects share. */
const NESTED_NAME =
	/^(data|payload|transaction)(\[transaction\])?\[(transaction_hash|hash|id|payment_status|status)\]$/;

/**
 * Parses an object. It may also be the only entry of a list, or JSON in a text. Flat names of a form, such as
 * `transaction[hash]`, become objects.
 */
function parseObject(value: unknown): IDataObject | undefined {
	const entry: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
	const fields = typeof entry === 'string' ? parseJson(entry) : entry;
	if (!isJsonObject(fields)) return undefined;

	const nested = Object.entries(fields).filter(([name]) => NESTED_NAME.test(name));
	return nested.reduce((all, [name, value]) => set(all, toPath(name), value), { ...fields });
}

const LONGEST_VALUE = 200;

function readText(value: unknown): string | undefined {
	if (typeof value !== 'string' || value.length > LONGEST_VALUE) return undefined;
	return cleanText(value) || undefined;
}
