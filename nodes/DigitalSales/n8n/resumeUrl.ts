import type { IExecuteFunctions, IWebhookDescription } from 'n8n-workflow';
import { z } from 'zod/v3';

/*
 * The address at which a webhook wakes this execution.
 *
 * Rests on (since n8n 2.30.0): `$execution.resumeUrl` is the same in all runs of an execution. A path of our own at
 * its end keeps the address from waking n8n's own Wait node.
 * If it stops: Create PIX with Webhooks Go To: Automatic fails before anything is sent, and so does the wait for a charge
 * whose webhooks go to a public address.
 */

const PATH = 'digital-sales';

const executionSchema = z.object({ resumeUrl: z.string() });

export function resumeUrl(context: IExecuteFunctions): string {
	const url = new URL(n8nResumeUrl(context));
	url.pathname += `/${PATH}`;
	return url.href;
}

/** n8n's own address, without our path. It is no URL if n8n runs the node without an execution. */
export function n8nResumeUrl(context: IExecuteFunctions): string {
	return executionSchema.parse(context.getWorkflowDataProxy(0).$execution).resumeUrl;
}

/** The webhook at that address. */
export const resumeWebhooks: IWebhookDescription[] = [
	{
		name: 'default',
		httpMethod: 'POST',
		responseMode: 'onReceived',
		responseData: 'noData',
		path: PATH,
		restartWebhook: true,
		isFullPath: true,
	},
];
