import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';

/*
 * The triggers in the workflow of a node, and their addresses.
 *
 * Rests on (since n8n 2.30.0): the execute context holds the workflow with its nodes, n8n's base address for webhooks
 * and the run data, on workers, too. A production address is the base address, the node's `webhookId` (without a
 * `webhookId` the workflow's id), and the path of its webhook. The tool of a node has the type of the node followed by
 * `Tool`.
 * If it stops: Webhooks Go To: Automatic does not find the trigger, and says that n8n does not show the workflow.
 */

/** The end of every trigger's URL. */
export const WEBHOOK_PATH = 'digital-sales';

export interface WorkflowTrigger {
	name: string;
	isDisabled: boolean;
	/** Undefined if no credential is chosen. */
	credential?: { id: string | null; name: string };
	/** Its production URL, which n8n shows under Webhook URLs; undefined until n8n has saved the node. */
	url?: string;
	/** Whether this execution has run the trigger. */
	hasRun: boolean;
	/** Whether an address leads to the trigger, whatever its host and spelling. */
	isAt: (url: string) => boolean;
}

const contextSchema = z.object({
	workflow: z.object({ nodes: z.record(z.string(), z.unknown()) }),
	additionalData: z.object({ webhookBaseUrl: z.string() }),
	runExecutionData: z.object({
		resultData: z.object({ runData: z.record(z.string(), z.unknown()) }),
	}),
});

const nodeSchema = z.object({
	name: z.string(),
	type: z.string(),
	disabled: z.boolean().optional(),
	webhookId: z.string().min(1).optional().catch(undefined),
	credentials: z
		.record(z.string(), z.object({ id: z.string().nullable(), name: z.string() }))
		.optional()
		.catch(undefined),
});

/** The triggers, in the workflow's order; undefined if n8n does not show the node its workflow. */
export function findTriggers(
	context: IExecuteFunctions,
	credentialName: string,
): WorkflowTrigger[] | undefined {
	const { data } = contextSchema.safeParse(context);
	if (!data) return undefined;
	const { workflow, additionalData, runExecutionData } = data;
	const triggerType = `${context.getNode().type.replace(/Tool$/, '')}Trigger`;
	return Object.values(workflow.nodes).flatMap((given) => {
		const node = nodeSchema.safeParse(given).data;
		if (node?.type !== triggerType) return [];
		const { name, disabled, webhookId, credentials } = node;
		const trigger: WorkflowTrigger = {
			name,
			isDisabled: disabled === true,
			credential: credentials?.[credentialName],
			url: webhookId && `${additionalData.webhookBaseUrl}/${webhookId}/${WEBHOOK_PATH}`,
			hasRun: Object.hasOwn(runExecutionData.resultData.runData, name),
			// Without a `webhookId` n8n takes the id of the workflow.
			isAt: (url) =>
				decodeAscii(url).includes(`/${webhookId ?? context.getWorkflow().id}/`.toLowerCase()),
		};
		return [trigger];
	});
}

/** Decodes ASCII alone, because ids contain nothing else. */
function decodeAscii(url: string): string {
	const decode = (_sign: string, hex: string): string => String.fromCharCode(parseInt(hex, 16));
	return url.replace(/%([0-7][\da-f])/gi, decode).toLowerCase();
}
