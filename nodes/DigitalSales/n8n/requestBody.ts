import type { IWebhookFunctions } from 'n8n-workflow';
import { isJsonObject, parseJson } from '../shared';

/*
 * Since n8n 2.30.0, n8n parses JSON, forms and text, leaves a body of another content type unread, and keeps no raw body
 * of a multipart form. If that stops, webhooks of some platforms count as having no hash, and n8n's log says so.
 */

/** Undefined if the body is too large, or cannot be read. */
export async function readRequestBody(
	context: IWebhookFunctions,
	mostBytes: number,
): Promise<{ body: unknown } | undefined> {
	const request = context.getRequestObject();
	if (Number(context.getHeaderData()['content-length']) > mostBytes) return undefined;

	const parsed: unknown = context.getBodyData();
	if (request.contentType?.startsWith('multipart/')) {
		return { body: isJsonObject(parsed) ? parsed.data : undefined };
	}

	const isRead = await request.readRawBody().then(
		() => true,
		() => false,
	);
	if (!isRead || request.rawBody.length > mostBytes) return undefined;
	if (request.contentType === 'application/json') return { body: parsed };

	const text = typeof parsed === 'string' ? parsed : request.rawBody.toString();
	const json = parseJson(text);
	if (json !== undefined) return { body: json };
	if (isJsonObject(parsed)) return { body: parsed };
	return { body: Object.fromEntries(new URLSearchParams(text)) };
}
