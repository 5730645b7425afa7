import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';

/** What the sender of a notice is told. */
export interface Reply {
	status: number;
	body: IDataObject;
	retryAfterSeconds?: number;
}

/** The answers to a notice. A sender that repeats what is not answered 2xx loses nothing by them. */
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
	inHand: {
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

/** Answers a notice; n8n is told to leave the answering to the node. */
export function answer(context: IWebhookFunctions, reply: Reply): void {
	const response = context.getResponseObject();
	if (response.headersSent) return;
	if (reply.retryAfterSeconds !== undefined) {
		response.setHeader('Retry-After', String(reply.retryAfterSeconds));
	}
	response.status(reply.status).json(reply.body);
}
