import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';

/*
 * In n8n 2.41.1, n8n lists the methods registered at the path if an `OPTIONS` request has an `Origin`. If the answer
 * changes, charges get the trigger's address without knowing whether it is published, and a hint says so. If the answer
 * never lists `POST`, a published trigger counts as unpublished.
 */

const ASK_WITHIN_MS = 2_000;

const corsSchema = z.object({
	statusCode: z.literal(204),
	headers: z.object({ 'access-control-allow-methods': z.string().regex(/^OPTIONS(, [A-Z]+)*$/) }),
});

/** `unknown` if the answer is not n8n's. */
export type Listening = 'yes' | 'no' | 'unknown';

/** Asks n8n, because `getWorkflow().active` is false on workers. */
export async function askIfListening(context: IExecuteFunctions, url: string): Promise<Listening> {
	const asking: Promise<unknown> = context.helpers.httpRequest({
		// @ts-expect-error n8n's types leave out this method.
		method: 'OPTIONS',
		url,
		headers: { Origin: new URL(url).origin },
		timeout: ASK_WITHIN_MS,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
	});

	const { data } = corsSchema.safeParse(await asking.catch(() => undefined));
	if (!data) return 'unknown';
	return data.headers['access-control-allow-methods'].includes('POST') ? 'yes' : 'no';
}
