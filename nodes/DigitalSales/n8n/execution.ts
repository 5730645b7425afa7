import type { FunctionsBase, IExecuteFunctions, INode, IWebhookDescription } from 'n8n-workflow';
import { z } from 'zod/v3';
import { digest } from '../shared';
import { WEBHOOK_PATH } from './webhook';

/*
 * Since n8n 2.30.0, `$execution.resumeUrl` exists, and is the same in all runs of an execution. n8n calls `webhook` of a
 * waiting node at this address and the path of its webhook. If the address is missing, Create PIX fails before anything is
 * sent, and the trigger fails. If it or its use changes, waits look more often.
 */

const executionSchema = z.object({ resumeUrl: z.string() });

export function resumeUrl(context: IExecuteFunctions): string {
	const url = new URL(n8nResumeUrl(context));
	// Without a path of its own, the address would wake n8n's own Wait node.
	url.pathname += `/${WEBHOOK_PATH}`;
	return url.href;
}

function n8nResumeUrl(context: IExecuteFunctions): string {
	return executionSchema.parse(context.getWorkflowDataProxy(0).$execution).resumeUrl;
}

export const resumeWebhooks: IWebhookDescription[] = [
	{
		name: 'default',
		httpMethod: 'POST',
		responseMode: 'onReceived',
		responseData: 'noData',
		path: WEBHOOK_PATH,
		restartWebhook: true,
		isFullPath: true,
	},
];

/*
 * Since n8n 2.30.0, the mode of a Retry is `retry`, and its resume address has the secret of the original execution. If
 * that stops, a Retry does not know the charges of its original, and only Order References and the keys of unresolved
 * charges guard them. An equal charge within 15 minutes then gets the earlier one.
 */

export function isRetry(context: IExecuteFunctions): boolean {
	return context.getMode() === 'retry';
}

/** The same for an execution and all its Retries. Undefined without an execution, as in n8n's Agents. */
export function executionKey(context: IExecuteFunctions): string | undefined {
	const url = n8nResumeUrl(context);
	// Without an execution, n8n shows an address with a secret of this call alone, or a text that is no URL.
	if (!context.getExecutionId() || !URL.canParse(url)) return undefined;

	const secret = new URL(url).searchParams.get('signature');
	return secret ? digest(secret) : undefined;
}

/*
 * Since n8n 2.30.0, `$runIndex` counts the runs of a node in an execution. If that stops, Create PIX fails before
 * anything is sent.
 */

export function runIndex(context: IExecuteFunctions): number {
	return z.number().parse(context.getWorkflowDataProxy(0).$runIndex);
}

/*
 * Since n8n 2.30.0, the type of a node that runs as a tool ends in `Tool`. If that stops, Wait for Payment as a tool
 * parks the agent's execution, and a model reads in an error how to charge again.
 */

export function isTool(context: Pick<FunctionsBase, 'getNode'>): boolean {
	return context.getNode().type.endsWith('Tool');
}

/*
 * In n8n 2.41.1, a trigger recognizes the experimental Engine 2.0 by a setting of the workflow, and an action by a
 * workflow without a name together with a UUID of version 7 as execution id. If that stops, Engine 2.0 sends charges
 * unguarded, and waits never end. If the usual engine takes such ids, nothing changes: its workflows have names.
 */

const ENGINE_2_ID = /^[\da-f]{8}-[\da-f]{4}-7/i;

export function isEngine2(
	context: Pick<FunctionsBase, 'getWorkflow' | 'getWorkflowSettings' | 'getExecutionId'>,
): boolean {
	if (context.getWorkflowSettings().engineType === 'v2') return true;
	return !context.getWorkflow().name && ENGINE_2_ID.test(context.getExecutionId());
}

/*
 * Since n8n 2.30.0, a webhook trigger may have `execute`, and n8n reads the node's settings from its entry after
 * `execute`. If n8n does not call `execute`, a sale starts the workflow once for each webhook. If n8n reads the settings
 * earlier, Always Output Data or On Error: Continue runs the next nodes during a wait, for a duplicate, or for what
 * nobody has verified.
 */

/** Replaces settings of the node for this run of it, and for those that follow while the execution waits. */
export function overrideSettings(context: IExecuteFunctions, settings: Partial<INode>): void {
	const entry = context.getExecuteData();
	entry.node = { ...entry.node, ...settings };
}
