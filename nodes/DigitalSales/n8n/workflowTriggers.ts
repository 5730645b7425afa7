import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';

/*
 * Since n8n 2.30.0, the execute context holds the workflow's nodes, the run data and n8n's base address for webhooks,
 * to which n8n appends the `webhookId` of a node, or else the workflow's id. If that stops, Webhooks Go To: Automatic
 * does not find the trigger, and says so.
 */

export const WEBHOOK_PATH = 'digital-sales';

export interface WorkflowTrigger {
	name: string;
	isDisabled: boolean;
	credential?: { id: string | null; name: string };
	/** Undefined without a `webhookId`. */
	url?: string;
	hasRun: boolean;
	/** Whether an address leads to the trigger, whatever its host. */
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

/** None if n8n does not show the node its workflow. */
export function findTriggers(
	context: IExecuteFunctions,
	credentialName: string,
): WorkflowTrigger[] {
	const { data } = contextSchema.safeParse(context);
	if (!data) return [];

	const { workflow, additionalData, runExecutionData } = data;
	const triggerType = `${context.getNode().type.replace(/Tool$/, '')}Trigger`;
	return Object.values(workflow.nodes).flatMap((given): WorkflowTrigger | [] => {
		const node = nodeSchema.safeParse(given).data;
		if (node?.type !== triggerType) return [];

		const { name, webhookId, credentials } = node;
		const segment = `/${webhookId ?? context.getWorkflow().id}/`.toLowerCase();
		return {
			name,
			isDisabled: node.disabled === true,
			credential: credentials?.[credentialName],
			url: webhookId && `${additionalData.webhookBaseUrl}/${webhookId}/${WEBHOOK_PATH}`,
			hasRun: Object.hasOwn(runExecutionData.resultData.runData, name),
			isAt: (url) => url.toLowerCase().includes(segment),
		};
	});
}
