import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import isPlainObject from 'lodash/isPlainObject';
import { z } from 'zod';
import type { Redactor } from '../api/redact';
import { isJsonObject, jsonObject } from '../shared/json';
import { Declined, REPLIES } from './reply';

const LARGEST_NOTICE_BYTES = 256 * 1024;
/** Far deeper than any real notice; n8n cannot store ten thousand levels. */
const DEEPEST = 32;
/** What n8n's reader of bodies throws at its own limit. */
const overLimitOfN8n = z.object({ type: z.literal('entity.too.large') });
const SECRET_NAME = /token|secret|password|api[-_ ]?key|^authorization$/i;

/**
 * The body of a notice; undefined if it is neither JSON nor a form. For a content type that n8n does not
 * parse, the body is read as JSON all the same.
 *
 * @throws Declined if it is larger than any real notice
 */
export async function readBody(context: IWebhookFunctions): Promise<unknown> {
	declineTooLarge(context);
	const parsed: unknown = context.getBodyData();
	if (parsed !== undefined && typeof parsed !== 'string') return parsed;
	const text = parsed ?? (await readText(context));
	declineTooLarge(context);
	try {
		return JSON.parse(text.replace(/^\uFEFF/, ''));
	} catch {
		return undefined;
	}
}

/** The body as text, as far as it can be read. */
async function readText(context: IWebhookFunctions): Promise<string> {
	const request = context.getRequestObject();
	await request.readRawBody().catch((error: unknown) => {
		if (overLimitOfN8n.safeParse(error).success) throw new Declined(REPLIES.tooLarge);
		// The sender may have broken off.
	});
	// JSON is UTF-8, and Node knows few of the names that a content type may give as its charset.
	return request.rawBody?.toString() ?? '';
}

/** Declines a notice that is larger than any real one, as far as it has been read. */
function declineTooLarge(context: IWebhookFunctions): void {
	const stated = Number(context.getHeaderData()['content-length']);
	const kept = Number(context.getRequestObject().rawBody?.length);
	// n8n keeps no raw body of a form with files, and one sent in chunks states no length.
	const parsed = Number.isNaN(stated) ? context.getBodyData() : undefined;
	const most = LARGEST_NOTICE_BYTES;
	if (stated > most || kept > most || holdsMore(parsed, most)) throw new Declined(REPLIES.tooLarge);
}

/** Whether a parsed body holds more characters and values than `most`; stops counting there. */
function holdsMore(body: unknown, most: number): boolean {
	let count = 0;
	const open: unknown[] = [body];
	while (open.length > 0) {
		const value = open.pop();
		count += typeof value === 'string' ? value.length : 1;
		if (count > most) return true;
		if (!isContainer(value)) continue;
		const inside = Array.isArray(value) ? value : Object.entries(value).flat();
		for (const entry of inside) open.push(entry);
	}
	return false;
}

/** The body of a notice without the account's tokens and without fields named like a secret. */
export function cleanNotification(redact: Redactor, body: unknown): IDataObject {
	return jsonObject.catch({}).parse(redact.json(withoutSecrets(body)));
}

/**
 * The JSON of a parsed body without fields named like a secret, files of a form, and objects that
 * appear a second time, which JSON cannot have. What is nested too deep becomes null.
 *
 * @internal
 */
export function withoutSecrets(value: unknown, depth = 0, seen: Set<unknown> = new Set()): unknown {
	if (!isContainer(value)) {
		const isScalar = value === null || ['string', 'number', 'boolean'].includes(typeof value);
		return isScalar ? value : undefined;
	}
	if (seen.has(value)) return undefined;
	if (depth === DEEPEST) return null;
	seen.add(value);
	const clean = (entry: unknown): unknown => withoutSecrets(entry, depth + 1, seen);
	if (Array.isArray(value)) return value.map((entry) => clean(entry) ?? null);
	return Object.fromEntries(
		Object.entries(value)
			.filter(([name]) => !SECRET_NAME.test(name))
			.map(([name, entry]) => [name, clean(entry)])
			.filter(([, entry]) => entry !== undefined),
	);
}

/** Whether it is a list or an object of JSON: n8n's form files hold streams, and each other. */
function isContainer(value: unknown): value is unknown[] | Record<string, unknown> {
	return Array.isArray(value) || (isJsonObject(value) && isPlainObject(value));
}
