import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

/** What the sender of a notice is told. */
export interface Reply {
	status: number;
	body: IDataObject;
	retryAfterSeconds?: number;
}

/** Nothing starts, and the sender has done its part. */
function notStarted(reason: string): Reply {
	return { status: 200, body: { received: true, started: false, reason } };
}

function rejected(status: number, reason: string): Reply {
	return { status, body: { received: false, reason } };
}

function comeAgain(retryAfterSeconds: number, reason: string): Reply {
	return { ...rejected(503, reason), retryAfterSeconds };
}

/** The replies to a notice. A sender that repeats everything not answered 2xx loses nothing. */
export const REPLIES = {
	accepted: { status: 200, body: { received: true } },
	waiting: { status: 200, body: { received: true, waiting: true } },
	duplicate: notStarted('already known'),
	filtered: notStarted('excluded by Trigger On or the filters'),
	/** A platform that tries the address may refuse it, or switch it off, after any answer but 2xx. */
	noSale: notStarted('not about a transaction'),
	listening: notStarted('listens here for webhooks, which are sent by POST'),
	noHash: rejected(400, 'no transaction hash'),
	unknown: comeAgain(30, 'unknown transaction'),
	tooLarge: rejected(413, 'too large'),
	inFlight: comeAgain(5, 'this transaction is being checked'),
	backlogged: comeAgain(30, 'n8n is still storing earlier webhooks'),
	unread: comeAgain(30, 'the transaction cannot be verified now'),
	busy: comeAgain(30, 'too many webhooks at once'),
} satisfies Record<string, Reply>;

/** Answers a notice in place of n8n. */
function answer(context: IWebhookFunctions, reply: Reply): void {
	const response = context.getResponseObject();
	if (reply.retryAfterSeconds !== undefined) {
		response.setHeader('Retry-After', String(reply.retryAfterSeconds));
	}
	response.status(reply.status).json(reply.body);
}

/** Thrown while a notice is handled: it is answered with this reply, and nothing starts. */
export class Declined extends Error {
	constructor(readonly reply: Reply) {
		super();
	}
}

/**
 * Handles a notice, and answers it if it is {@link Declined}. Never throws, whatever was sent: n8n would
 * answer 500 and start a failed execution.
 *
 * @param failure logged if the handling fails; the sender is then asked to retry
 */
export async function answering(
	context: IWebhookFunctions,
	failure: string,
	handle: () => Promise<IWebhookResponseData>,
): Promise<IWebhookResponseData> {
	return await handle().catch((error: unknown) => {
		const isDeclined = error instanceof Declined;
		if (!isDeclined) context.logger.error(failure, { reason: reasonOf(error) });
		answer(context, isDeclined ? error.reply : REPLIES.unread);
		return { noWebhookResponse: true };
	});
}

/** Only errors about the form are logged with their message: others may quote what was sent. */
function reasonOf(error: unknown): string {
	if (error instanceof NodeOperationError) return error.message;
	return error instanceof Error ? error.name : typeof error;
}
