import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import type { Redactor } from '../api/redact';
import { jsonObject } from '../shared/json';
import { isContainer, withoutSecrets } from './withoutSecrets';

const LARGEST_NOTICE_BYTES = 256 * 1024;

/** Whether a notice is larger than any real one. */
export function isTooLarge(context: IWebhookFunctions): boolean {
	const stated = Number(context.getHeaderData()['content-length']);
	const kept = Number(context.getRequestObject().rawBody?.length);
	if (stated > LARGEST_NOTICE_BYTES || kept > LARGEST_NOTICE_BYTES) return true;
	// n8n keeps no form with files as it came, and one that is sent in chunks states no length.
	return !(stated > 0 || kept > 0) && holdsMore(context.getBodyData(), LARGEST_NOTICE_BYTES);
}

/** Whether a parsed body holds more characters and values than so many; it counts no further. */
function holdsMore(body: unknown, most: number): boolean {
	let count = 0;
	const open: unknown[] = [body];
	while (open.length > 0 && count <= most) {
		const value = open.pop();
		count += typeof value === 'string' ? value.length : 1;
		if (!isContainer(value)) continue;
		if (!Array.isArray(value)) count += Object.keys(value).join('').length;
		else if (value.length > most) return true;
		for (const entry of Object.values(value)) open.push(entry);
	}
	return count > most;
}

/** The body of a notice: n8n gives an object for JSON and forms, a text for other types, or nothing. */
export function readBody(context: IWebhookFunctions): unknown {
	const body: unknown = context.getBodyData();
	if (typeof body !== 'string') return body;
	try {
		return JSON.parse(body);
	} catch {
		return undefined;
	}
}

/** A notification without its secrets, nor the tokens of the account wherever they stand in it. */
export function cleanNotification(redact: Redactor, body: unknown): IDataObject {
	return jsonObject.catch({}).parse(redact.json(withoutSecrets(body)));
}
