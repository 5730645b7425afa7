import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod';
import { isJsonObject } from '../shared/json';

/** `notSuspended`: not suspended yet, or no longer; `unreachable`: n8n cannot reach its own address. */
type PingAnswer = 'waiting' | 'over' | 'notSuspended' | 'unreachable';

const TIMEOUT_MS = 15_000;
const OWN_FIELD = 'pingedWait';

const responseSchema = z.object({ statusCode: z.number(), body: z.unknown() });

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
			timeout: TIMEOUT_MS,
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

function toPingAnswer({ statusCode, body }: z.output<typeof responseSchema>): PingAnswer {
	if (statusCode === 503) return 'waiting';
	if (statusCode === 200) return /"waiting":\s*true/.test(String(body)) ? 'waiting' : 'over';
	const isFinished = statusCode === 409 && /finished/i.test(String(body));
	return isFinished || statusCode === 401 || statusCode === 410 ? 'over' : 'notSuspended';
}
