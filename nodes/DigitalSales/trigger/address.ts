import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';
import { CREDENTIAL_NAME } from '../api/account';

/** The end of every trigger's URL. */
export const WEBHOOK_PATH = 'digital-sales';

/** A trigger in the workflow of a node. */
export interface WorkflowTrigger {
	name: string;
	isDisabled: boolean;
	/** Its credential; undefined if none is chosen. */
	credential?: { id: string | null; name: string };
	/** Its production URL, which n8n shows under Webhook URLs; undefined until n8n has saved the node. */
	url?: string;
	/** Whether this execution has run it. */
	hasRun: boolean;
	/** Whether an address leads to it, whatever the host and the spelling. */
	isAt: (url: string) => boolean;
}

/** Public in the contexts of n8n's engine, on workers too, though not part of `IExecuteFunctions`. */
const contextSchema = z.object({
	workflow: z.object({ nodes: z.record(z.unknown()) }),
	additionalData: z.object({ webhookBaseUrl: z.string() }),
	runExecutionData: z.object({ resultData: z.object({ runData: z.record(z.unknown()) }) }),
});

const nodeSchema = z.object({
	name: z.string(),
	type: z.string(),
	disabled: z.boolean().optional(),
	webhookId: z.string().min(1).optional().catch(undefined),
	credentials: z
		.object({ [CREDENTIAL_NAME]: z.object({ id: z.string().nullable(), name: z.string() }) })
		.optional()
		.catch(undefined),
});

/**
 * The triggers in the workflow of a node, in the workflow's order; undefined where n8n does not show
 * the node its workflow.
 */
export function triggersOf(context: IExecuteFunctions): WorkflowTrigger[] | undefined {
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
			credential: credentials?.[CREDENTIAL_NAME],
			url: webhookId && `${additionalData.webhookBaseUrl}/${webhookId}/${WEBHOOK_PATH}`,
			hasRun: Object.hasOwn(runExecutionData.resultData.runData, name),
			// Without a `webhookId` n8n takes the id of the workflow.
			isAt: (url) =>
				decoded(url).includes(`/${webhookId ?? context.getWorkflow().id}/`.toLowerCase()),
		};
		return [trigger];
	});
}

/** Ids are ASCII; what else is encoded, or wrongly, does not matter. */
function decoded(url: string): string {
	const decode = (_sign: string, hex: string): string => String.fromCharCode(parseInt(hex, 16));
	return url.replace(/%([0-7][\da-f])/gi, decode).toLowerCase();
}
