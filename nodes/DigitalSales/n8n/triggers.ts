import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';
import { lenientText, tolerated } from '../shared';
import { WEBHOOK_PATH } from './webhook';

/*
 * Since n8n 2.30.0, the execute context holds the workflow's nodes, the run data and n8n's base address for webhooks,
 * to which n8n appends the `webhookId` of a node, or else the workflow's id. If that stops, Webhooks Go To: Automatic
 * does not find the trigger, and says so.
 */

const nodeSchema = z.object({
	name: z.string(),
	type: z.string(),
	disabled: z.boolean().optional(),
	webhookId: lenientText,
	credentials: tolerated(z.record(z.object({ id: lenientText }))),
});

const contextSchema = z.object({
	workflow: z.object({ nodes: z.record(nodeSchema) }),
	additionalData: z.object({ webhookBaseUrl: z.string() }),
	runExecutionData: z.object({ resultData: z.object({ runData: z.record(z.unknown()) }) }),
});

export type WorkflowTrigger = ReturnType<typeof findTriggers>[number];

/** The enabled Digital Sales Triggers of the workflow. None if n8n does not show the node its workflow. */
export function findTriggers(context: IExecuteFunctions, credentialName: string) {
	const { data } = contextSchema.safeParse(context);
	if (!data) return [];

	const { workflow, additionalData, runExecutionData } = data;
	const triggerType = `${context.getNode().type.replace(/Tool$/, '')}Trigger`;
	const triggers = Object.values(workflow.nodes).filter(
		({ type, disabled }) => type === triggerType && disabled !== true,
	);

	return triggers.map(({ name, webhookId, credentials }) => {
		const segment = `/${webhookId || context.getWorkflow().id}/`.toLowerCase();

		return {
			name,
			credentialId: credentials?.[credentialName]?.id,
			/** Missing or empty without a `webhookId`. */
			url: webhookId && `${additionalData.webhookBaseUrl}/${webhookId}/${WEBHOOK_PATH}`,
			hasRun: Object.hasOwn(runExecutionData.resultData.runData, name),
			/** Whether an address leads to the trigger, whatever its host. */
			isAt: (url: string): boolean => url.toLowerCase().includes(segment),
		};
	});
}

/*
 * In n8n 2.41.1, n8n lists the methods registered at the path if an `OPTIONS` request has an `Origin`. If the answer
 * changes, charges get the trigger's address without knowing whether it is published, and a hint says so. If the answer
 * never lists `POST`, a published trigger counts as unpublished.
 */

const ASK_WITHIN_MS = 2_000;

const corsSchema = z.object({
	headers: z.object({ 'access-control-allow-methods': z.string().regex(/^OPTIONS(, [A-Z]+)*$/) }),
});

/** Asks n8n, because `getWorkflow().active` is false on workers. The answer is `unknown` if it is not n8n's. */
export async function askIfListening(
	context: IExecuteFunctions,
	url: string,
): Promise<'yes' | 'no' | 'unknown'> {
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
