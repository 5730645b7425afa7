import {
	type IDataObject,
	type IWebhookFunctions,
	type IWebhookResponseData,
	NodeOperationError,
} from 'n8n-workflow';
import { findRateLimiter, ServiceError } from '../api';

interface Reply {
	status: number;
	body: IDataObject;
	retryAfterSeconds?: number;
}

function notStarted(reason: string): Reply {
	return { status: 200, body: { received: true, started: false, reason } };
}

function rejected(status: number, reason: string): Reply {
	return { status, body: { received: false, reason } };
}

function retryLater(retryAfterSeconds: number, reason: string): Reply {
	return { ...rejected(503, reason), retryAfterSeconds };
}

/** A platform repeats a webhook unless it gets a 2xx. */
export const REPLIES = {
	waiting: { status: 200, body: { received: true, waiting: true } },
	duplicate: notStarted('already known'),
	filtered: notStarted('excluded by Trigger On or the filters'),
	/** A platform may send a test before it accepts the address. */
	noSale: notStarted('not about a transaction'),
	listening: notStarted('listens here for webhooks, which are sent by POST'),
	noHash: rejected(400, 'no transaction hash'),
	// Long, because a platform may have few tries until reads show a change.
	unknown: retryLater(60, 'unknown transaction'),
	outdated: retryLater(60, 'the transaction does not show this change yet'),
	tooLarge: rejected(413, 'too large'),
	inFlight: retryLater(5, 'n8n is still storing this webhook'),
	backlogged: retryLater(30, 'n8n is still storing earlier webhooks'),
	unread: retryLater(30, 'the transaction cannot be verified now'),
	busy: retryLater(30, 'too many webhooks at once'),
} satisfies Record<string, Reply>;

/** Nothing starts, and the sender gets the reply. */
export class Declined extends Error {
	constructor(readonly reply: Reply) {
		super();
	}
}

/** Never throws, because n8n would answer 500 and start a failed execution. */
export async function handleWebhook(
	context: IWebhookFunctions,
	failure: string,
	handle: () => Promise<IWebhookResponseData>,
): Promise<IWebhookResponseData> {
	try {
		return await handle();
	} catch (error) {
		let reply: Reply = REPLIES.unread;
		if (error instanceof Declined) reply = error.reply;
		else {
			const reason = safeReason(error);
			await logRarely(context, reason, () => context.logger.error(failure, { reason }));
		}
		const { status, body, retryAfterSeconds } = reply;
		const response = context.getResponseObject();
		if (retryAfterSeconds !== undefined) {
			response.setHeader('Retry-After', String(retryAfterSeconds));
		}
		response.status(status).json(body);
		return { noWebhookResponse: true };
	}
}

/** Only our own messages are safe. Others may quote the webhook. */
function safeReason(error: unknown): string {
	if (error instanceof NodeOperationError || error instanceof ServiceError) return error.message;
	return error instanceof Error ? error.name : typeof error;
}

/** Logs once a minute for each node and subject, because anybody can send webhooks. */
export async function logRarely(
	context: IWebhookFunctions,
	subject: string,
	log: () => void,
): Promise<void> {
	const key = `log ${context.getWorkflow().id} ${context.getNode().id} ${subject}`;
	const limiter = findRateLimiter(key, 1);
	if (limiter.delayMs() > 0) return;
	limiter.releaseUsed(await limiter.acquirePermit());
	log();
}
