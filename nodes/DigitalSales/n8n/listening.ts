import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';

/*
 * Whether a published trigger listens at its production URL.
 *
 * Rests on (in n8n 2.41.1, in one process and on workers): n8n answers `OPTIONS` with an `Origin` by 204 and the
 * methods that are registered at the path: `POST` among them if a trigger listens, `OPTIONS` alone if not.
 * `getWorkflow().active` does not show it: it is false on a worker, in a manual run and in a Retry, and true if n8n
 * could not register the trigger.
 * If it stops: if the answer changes, charges notify the trigger unchecked, and a hint says so. If n8n always answers
 * `OPTIONS` alone, Automatic takes the next address, and Trigger of This Workflow refuses.
 */

const ASK_WITHIN_MS = 2_000;

/** A proxy in front of n8n may answer otherwise. */
const corsSchema = z.object({
	statusCode: z.literal(204),
	headers: z.object({ 'access-control-allow-methods': z.string().regex(/^OPTIONS(, [A-Z]+)*$/) }),
});

/** `unknown` if the answer is not n8n's. */
export type Listening = 'yes' | 'no' | 'unknown';

export async function askIfListening(context: IExecuteFunctions, url: string): Promise<Listening> {
	const answer: unknown = await context.helpers
		.httpRequest({
			// @ts-expect-error n8n's types leave out a method that its HTTP client sends.
			method: 'OPTIONS',
			url,
			// n8n names the methods only if the request has an origin.
			headers: { Origin: new URL(url).origin },
			timeout: ASK_WITHIN_MS,
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
		})
		.catch(() => undefined);
	const { data } = corsSchema.safeParse(answer);
	if (!data) return 'unknown';
	return data.headers['access-control-allow-methods'].includes('POST') ? 'yes' : 'no';
}
