import type { IWebhookFunctions } from 'n8n-workflow';
import { clock, isJsonObject, parseJson, processState } from '../shared';

/** The last part of the addresses of triggers and of waiting executions. */
export const WEBHOOK_PATH = 'digital-sales';

/*
 * Since n8n 2.30.0, n8n answers a webhook with 200 only once it has stored the execution, even if the sender has left.
 * If that stops, a sale may be lost, or start the workflow twice.
 */

/** n8n takes up to about this time to store an execution in a burst. */
const STORED_WITHIN_MS = 10_000;

const unanswered = processState(new Set<object>());

/** How many executions n8n is storing. */
export function unansweredCount(): number {
	return unanswered.size;
}

/**
 * Calls `done` when n8n has answered the webhook. If the sender leaves first, no event reports the answer, so its status
 * is read after a while.
 */
export function whenAnswered(context: IWebhookFunctions, done: (isStored: boolean) => void): void {
	const response = context.getResponseObject();
	unanswered.add(response);

	const afterClose = async (): Promise<void> => {
		if (!response.writableFinished) await clock.sleep(STORED_WITHIN_MS);
		unanswered.delete(response);
		done(response.writableFinished && response.statusCode === 200);
	};

	if (response.destroyed) void afterClose();
	else response.once('close', () => void afterClose());
}

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

/*
 * Since n8n 2.30.0, n8n registers the test URL before and after `create`. A webhook in between is used, but the editor
 * goes on listening. If that changes, the pause is useless, or too short.
 */

const REGISTERED_AFTER_MS = 500;

/** Must not be awaited in `create`, because the editor listens only after `create`. */
export async function pauseBeforeTestWebhook(): Promise<void> {
	await clock.sleep(REGISTERED_AFTER_MS);
}
