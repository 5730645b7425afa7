import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod';
import { isJsonObject } from '../shared/json';

/** The helper that sends a request; it keeps working after the execution has ended. */
export type Sender = Pick<IExecuteFunctions['helpers'], 'httpRequest'>;

/**
 * What a ping found: the execution still waits; its wait is over; it is not suspended, not yet or no
 * longer; or n8n cannot reach its own address.
 */
export type PingAnswer = 'waiting' | 'over' | 'notSuspended' | 'unreachable';

const TIMEOUT_MS = 15_000;
const OWN_FIELD = 'pingedWait';

const responseSchema = z.object({ statusCode: z.number(), body: z.unknown() });

/** Calls the resume address of a suspended execution, so that it looks at its payments again. */
export async function pingSelf(sender: Sender, url: string, waitId: string): Promise<PingAnswer> {
	try {
		const response: unknown = await sender.httpRequest({
			method: 'POST',
			url,
			headers: { 'Content-Type': 'application/json' },
			body: JSON.stringify({ [OWN_FIELD]: waitId }),
			encoding: 'text',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
			timeout: TIMEOUT_MS,
		});
		return toPingAnswer(responseSchema.parse(response));
	} catch {
		return 'unreachable';
	}
}

/** The wait that a ping of our own is for; undefined for any other notice. */
export function pingedWait(body: unknown): string | undefined {
	const wait = isJsonObject(body) ? body[OWN_FIELD] : undefined;
	return typeof wait === 'string' ? wait : undefined;
}

function toPingAnswer({ statusCode, body }: z.output<typeof responseSchema>): PingAnswer {
	switch (statusCode) {
		case 200:
			return /"waiting":\s*true/.test(String(body)) ? 'waiting' : 'over';
		case 503:
			return 'waiting';
		case 401:
		case 410:
			return 'over';
		case 409:
			return /finished/i.test(String(body)) ? 'over' : 'notSuspended';
		default:
			return 'notSuspended';
	}
}
