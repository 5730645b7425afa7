import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

/** What the sender of a notice is told. */
export interface Reply {
	status: number;
	body: IDataObject;
	retryAfterSeconds?: number;
}

/** The replies to a notice. A sender that repeats everything not answered 2xx loses nothing. */
export const REPLIES = {
	accepted: { status: 200, body: { received: true } },
	duplicate: { status: 200, body: { received: true, started: false, reason: 'already known' } },
	filtered: {
		status: 200,
		body: { received: true, started: false, reason: 'excluded by Trigger On or the filters' },
	},
	waiting: { status: 200, body: { received: true, waiting: true } },
	noHash: { status: 400, body: { received: false, reason: 'no transaction hash' } },
	locked: { status: 401, body: { received: false, reason: 'the address lacks the secret' } },
	unknown: { status: 404, body: { received: false, reason: 'unknown transaction' } },
	replaced: { status: 410, body: { received: false, reason: 'this wait is over' } },
	tooLarge: { status: 413, body: { received: false, reason: 'too large' } },
	inFlight: {
		status: 503,
		body: { received: false, reason: 'this transaction is being checked' },
		retryAfterSeconds: 5,
	},
	backlogged: {
		status: 503,
		body: { received: false, reason: 'n8n is still storing earlier notifications' },
		retryAfterSeconds: 30,
	},
	unreachable: {
		status: 503,
		body: { received: false, reason: 'the transaction cannot be verified now' },
		retryAfterSeconds: 30,
	},
	busy: {
		status: 503,
		body: { received: false, reason: 'too many notifications at once' },
		retryAfterSeconds: 30,
	},
} as const satisfies Record<string, Reply>;

/** The answer to a test notice that the form does not want: n8n goes on listening after it. */
export function filteredInTest(reason: string): Reply {
	return {
		status: 200,
		body: {
			received: true,
			started: false,
			reason: `${reason} The editor is still listening: send another one, or change the form and listen again.`,
		},
	};
}

/** Answers a notice itself, in place of n8n. */
export function answer(context: IWebhookFunctions, reply: Reply): void {
	const response = context.getResponseObject();
	if (response.headersSent) return;
	if (reply.retryAfterSeconds !== undefined) {
		response.setHeader('Retry-After', String(reply.retryAfterSeconds));
	}
	response.status(reply.status).json(reply.body);
}

class Declined extends Error {
	constructor(readonly reply: Reply) {
		super();
	}
}

/** Ends the handling of a notice within {@link answering}: nothing starts, and the sender gets this reply. */
export function decline(reply: Reply): never {
	throw new Declined(reply);
}

/**
 * Handles a notice, and answers it if it is declined. Never throws, whatever was sent: n8n would
 * answer 500 and start a failed execution.
 *
 * @param failure the line in the log if the handling fails; the sender is told to come again
 */
export async function answering(
	context: IWebhookFunctions,
	failure: string,
	handle: () => Promise<IWebhookResponseData>,
): Promise<IWebhookResponseData> {
	return await handle().catch((error: unknown) => {
		const isDeclined = error instanceof Declined;
		if (!isDeclined) context.logger.error(failure, { reason: reasonOf(error) });
		answer(context, isDeclined ? error.reply : REPLIES.unreachable);
		return { noWebhookResponse: true };
	});
}

/** Only errors about the form are logged with their message: others may quote what was sent. */
function reasonOf(error: unknown): string {
	if (error instanceof NodeOperationError) return error.message;
	return error instanceof Error ? error.name : typeof error;
}
