import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod';
import { isJsonObject } from '../shared/json';

/** The helper that sends a request; it goes on working when the execution it came from has ended. */
export type Sender = Pick<IExecuteFunctions['helpers'], 'httpRequest'>;

/**
 * What a parked execution answered to a call of its own: it is still waiting; it has gone on; it is
 * not parked, or not any more; or n8n does not reach its own address.
 */
export type SelfAnswer = 'waiting' | 'over' | 'notParked' | 'unreachable';

const TIMEOUT_MS = 15_000;
const OWN_FIELD = 'wakeUpWait';

const responseSchema = z.object({ statusCode: z.number(), body: z.unknown() });

/** Calls the resume address of a parked execution, so that it looks at its payments again. */
export async function callSelf(sender: Sender, url: string, waitId: string): Promise<SelfAnswer> {
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
		return judge(responseSchema.parse(response));
	} catch {
		return 'unreachable';
	}
}

/** The wait that a call of our own is for; undefined for a notice of anybody else. */
export function calledWait(body: unknown): string | undefined {
	const wait = isJsonObject(body) ? body[OWN_FIELD] : undefined;
	return typeof wait === 'string' ? wait : undefined;
}

function judge({ statusCode, body }: z.output<typeof responseSchema>): SelfAnswer {
	switch (statusCode) {
		case 200:
			return /"waiting":\s*true/.test(String(body)) ? 'waiting' : 'over';
		case 503:
			return 'waiting';
		case 401:
		case 410:
			return 'over';
		case 409:
			return /finished/i.test(String(body)) ? 'over' : 'notParked';
		default:
			return 'notParked';
	}
}
