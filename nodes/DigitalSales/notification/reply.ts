import {
	type IDataObject,
	type IWebhookFunctions,
	type IWebhookResponseData,
	NodeOperationError,
} from 'n8n-workflow';
import { CredentialError, ServiceError, TooLateError } from '../api';
import { readRequestBody } from '../n8n';
import { BoundedMap, processState } from '../shared';

/* What the sender of a webhook is told, and what n8n's log. */

interface Reply {
	status: number;
	reason: string;
	retryAfterSeconds?: number;
}

/** A platform repeats a webhook unless it gets a 2xx. */
export const REPLIES = {
	waiting: { status: 200, reason: 'the payment is still waiting' },
	duplicate: { status: 200, reason: 'already known' },
	filtered: { status: 200, reason: 'excluded by Trigger On or the filters' },
	/** A platform may send a test before it accepts the address. */
	noSale: { status: 200, reason: 'not about a transaction' },
	listening: { status: 200, reason: 'listens here for webhooks, which are sent by POST' },
	noHash: { status: 400, reason: 'no transaction hash' },
	tooLarge: { status: 413, reason: 'too large' },
	// Long, because a platform may have few tries until reads show a change.
	unknown: { status: 503, retryAfterSeconds: 60, reason: 'unknown transaction' },
	outdated: { status: 503, retryAfterSeconds: 60, reason: 'reads do not show this change yet' },
	inFlight: { status: 503, retryAfterSeconds: 5, reason: 'n8n is still storing this webhook' },
	backlogged: { status: 503, retryAfterSeconds: 30, reason: 'n8n is storing too many webhooks' },
	unread: { status: 503, retryAfterSeconds: 30, reason: 'the transaction cannot be verified now' },
	busy: { status: 503, retryAfterSeconds: 30, reason: 'too many webhooks at once' },
} satisfies Record<string, Reply>;

/** Ends the handling of a webhook: the sender gets this reply, and no execution starts unless it is given an item. */
export class EarlyReply extends Error {
	/** @param cause why the reply is `unread`, for n8n's log */
	constructor(
		readonly reply: Reply,
		readonly cause?: unknown,
		readonly item?: IDataObject,
	) {
		super();
	}
}

const LARGEST_BODY_BYTES = 256 * 1024;

/** @throws EarlyReply if the body is too large, or cannot be read */
export async function readBody(context: IWebhookFunctions): Promise<unknown> {
	const request = await readRequestBody(context, LARGEST_BODY_BYTES);
	if (!request) throw new EarlyReply(REPLIES.tooLarge);
	return request.body;
}

/**
 * Sends the reply that `handle` throws. Otherwise n8n answers 200 once it has stored the execution. Never throws, because
 * n8n would answer 500 and start a failed execution.
 */
export async function handleWebhook(
	context: IWebhookFunctions,
	handle: () => Promise<IWebhookResponseData>,
): Promise<IWebhookResponseData> {
	return await handle().catch((error: unknown) => {
		const { reply, cause, item } = toEarlyReply(error);
		if (reply === REPLIES.unread) {
			const reason = safeReason(cause);
			const log = () => context.logger.error('A webhook could not be handled', { reason });
			logRarely(context, reason, log);
		}

		sendReply(context, reply);
		return { noWebhookResponse: true, workflowData: item && [[{ json: item }]] };
	});
}

function toEarlyReply(error: unknown): EarlyReply {
	if (error instanceof EarlyReply) return error;
	if (error instanceof TooLateError) return new EarlyReply(REPLIES.busy);
	return new EarlyReply(REPLIES.unread, error);
}

function sendReply(context: IWebhookFunctions, { status, reason, retryAfterSeconds }: Reply): void {
	const response = context.getResponseObject();
	if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', String(retryAfterSeconds));

	const body = status === 200 ? { received: true, started: false } : { received: false };
	response.status(status).json({ ...body, reason });
}

const OWN_ERRORS = [NodeOperationError, ServiceError, CredentialError];

/** Only our own messages are safe. Others may quote the webhook. */
export function safeReason(error: unknown): string {
	if (!(error instanceof Error)) return typeof error;
	return OWN_ERRORS.some((type) => error instanceof type) ? error.message : error.name;
}

const logged = processState(new BoundedMap<true>({ most: 1_000, keptMs: 60_000 }));

/** Logs once a minute for each node and subject, because anybody can send webhooks. */
export function logRarely(context: IWebhookFunctions, subject: string, log: () => void): void {
	const key = `${context.getWorkflow().id} ${context.getNode().id} ${subject}`;
	if (logged.get(key)) return;
	logged.set(key, true);
	log();
}
