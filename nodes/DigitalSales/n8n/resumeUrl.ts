import type { IExecuteFunctions, IWebhookDescription } from 'n8n-workflow';
import { z } from 'zod/v3';

/*
 * Since n8n 2.30.0, `$execution.resumeUrl` exists, and is the same in all runs of an execution. If it is missing,
 * Create PIX fails before anything is sent, and the trigger fails. If it changes, waits look more often.
 */

/** Keeps the address from waking n8n's own Wait node. */
const PATH = 'digital-sales';

const executionSchema = z.object({ resumeUrl: z.string() });

export function resumeUrl(context: IExecuteFunctions): string {
	const url = new URL(n8nResumeUrl(context));
	url.pathname += `/${PATH}`;
	return url.href;
}

/** Not a URL if there is no execution. */
export function n8nResumeUrl(context: IExecuteFunctions): string {
	return executionSchema.parse(context.getWorkflowDataProxy(0).$execution).resumeUrl;
}

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
