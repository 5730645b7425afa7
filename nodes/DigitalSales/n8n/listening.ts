/**
 * Whether a published trigger listens at its production URL.
 *
 * Rests on: to `OPTIONS` with an `Origin`, n8n answers 204 and names the methods that are registered at
 * the path: `POST` among them if a trigger listens, `OPTIONS` alone if not. `getWorkflow().active` does not
 * tell: on a worker it is always false, elsewhere false in a run by hand and in a Retry, and true though
 * n8n could not register this trigger.
 * Holds in: 2.41.1, in one process and on workers (test/helpers/e2e/notified.ts).
 * If it stops: with an answer in other words, charges notify the trigger unchecked, and a hint says so.
 * If n8n named `OPTIONS` alone everywhere, Automatic would take the next address, and Trigger of This
 * Workflow would refuse.
 */
import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';

const ASK_WITHIN_MS = 2_000;

/** A proxy in front of n8n may answer, too, in other words. */
const corsSchema = z.object({
	statusCode: z.literal(204),
	headers: z.object({ 'access-control-allow-methods': z.string().regex(/^OPTIONS(, [A-Z]+)*$/) }),
});

/** `unknown` if nobody answers as n8n does. */
export type Listening = 'yes' | 'no' | 'unknown';

/** Asks n8n whether a published trigger listens at a URL. */
export async function askListening(context: IExecuteFunctions, url: string): Promise<Listening> {
	const answer: unknown = await context.helpers
		.httpRequest({
			// @ts-expect-error n8n's types leave out a method that its HTTP client sends.
			method: 'OPTIONS',
			url,
			// Only to a page of another origin does n8n say which methods it takes.
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
