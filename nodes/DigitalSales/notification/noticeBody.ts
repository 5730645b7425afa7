import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { jsonObject } from '../api/schemas/json';
import { accountOf } from './accountOf';
import { withoutSecrets } from './withoutSecrets';

const LARGEST_NOTICE_BYTES = 256 * 1024;

/** Whether a notice is larger than any real one. */
export function isTooLarge(context: IWebhookFunctions): boolean {
	const stated = Number(context.getHeaderData()['content-length']);
	const { rawBody } = context.getRequestObject();
	return stated > LARGEST_NOTICE_BYTES || Number(rawBody?.length) > LARGEST_NOTICE_BYTES;
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
export async function cleanNotification(
	context: IWebhookFunctions,
	body: unknown,
): Promise<IDataObject> {
	const account = await accountOf(context);
	const clean = account.redact.json(withoutSecrets(jsonCopy(body)));
	return jsonObject.catch({}).parse(clean);
}

/** The body is n8n's, and not all of a form with files is JSON. */
function jsonCopy(body: unknown): unknown {
	try {
		return JSON.parse(JSON.stringify(body));
	} catch {
		// Nested so deep that it cannot be written.
		return undefined;
	}
}
