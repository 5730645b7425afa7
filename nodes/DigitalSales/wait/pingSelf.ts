import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod';
import { REPLIES } from '../notice/reply';
import { isJsonObject } from '../shared/json';

/**
 * Of a suspended execution `waiting`, or why its check is not done; `notSuspended`: not yet, or no
 * longer; `unreachable`: neither this package nor n8n answered.
 */
export type PingAnswer =
	| 'waiting'
	| 'unfinished'
	| 'limited'
	| 'unread'
	| 'over'
	| 'notSuspended'
	| 'unreachable';

/** Within this time a check that was pinged for is answered. */
export const PING_ANSWER_WITHIN_MS = 20_000;
const PING_TIMEOUT_MS = 25_000;
const OWN_FIELD = 'pingedWait';

const responseSchema = z.object({
	statusCode: z.number(),
	headers: z.object({ location: z.string().default('') }),
	body: z.string(),
});
/** For an execution that waits in a form, n8n answers with a redirect to it. */
const WAITING_FORM = '/form-waiting/';
/** An execution that was deleted, or that waits in another node. */
const NOT_HERE = /does not exist|does not contain a waiting webhook|Could not find node/;
/** What this package says (`notice/reply.ts`), or n8n itself. */
const wordsSchema = z.object({
	received: z.boolean().optional(),
	waiting: z.boolean().optional(),
	reason: z.unknown(),
	message: z.string().optional(),
});

/**
 * Calls the resume address of a suspended execution, so that it reads its payments again. The helper
 * keeps working after the execution has ended.
 */
export async function pingSelf(
	helpers: Pick<IExecuteFunctions['helpers'], 'httpRequest'>,
	url: string,
	waitId: string,
): Promise<PingAnswer> {
	try {
		const response: unknown = await helpers.httpRequest({
			method: 'POST',
			url,
			headers: { 'Content-Type': 'application/json' },
			body: JSON.stringify({ [OWN_FIELD]: waitId }),
			encoding: 'text',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
			timeout: PING_TIMEOUT_MS,
		});
		return toPingAnswer(responseSchema.parse(response));
	} catch {
		return 'unreachable';
	}
}

/** The wait that one of our own pings is for; undefined for a notice of the service. */
export function pingedWait(body: unknown): string | undefined {
	const wait = isJsonObject(body) ? body[OWN_FIELD] : undefined;
	return typeof wait === 'string' ? wait : undefined;
}

/**
 * Only what this package and n8n themselves say of an execution is believed: a proxy that answers for
 * an n8n that restarts must not end the polling.
 */
function toPingAnswer({ statusCode, headers, body }: z.output<typeof responseSchema>): PingAnswer {
	if (statusCode === 307 && headers.location.includes(WAITING_FORM)) return 'notSuspended';
	// n8n says nothing where the execution goes on, and the next time that it is not suspended.
	if (statusCode === 200 && body === '') return 'unread';
	const { received, waiting, reason, message = '' } = wordsSchema.parse(JSON.parse(body));
	if (received !== undefined) {
		if (waiting) return 'waiting';
		if (statusCode !== 503) return statusCode === 410 ? 'over' : 'unreachable';
		if (reason === REPLIES.limited.body.reason) return 'limited';
		return reason === REPLIES.inFlight.body.reason ? 'unfinished' : 'unread';
	}
	if (statusCode === 409 && message.includes('finished')) return 'over';
	const isNotSuspended =
		(statusCode === 409 && message.includes('running')) ||
		(statusCode === 404 && NOT_HERE.test(message));
	return isNotSuspended ? 'notSuspended' : 'unreachable';
}
