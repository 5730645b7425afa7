import type { IExecuteFunctions, IWebhookDescription } from 'n8n-workflow';
import { z } from 'zod/v3';

/*
 * The address at which a webhook wakes this execution.
 *
 * Rests on: `$execution.resumeUrl` exists in every execution, is the same in all its runs, and carries its secret as
 * `signature`. A path of our own at its end keeps the address from waking a Wait node of n8n's own.
 *
 * Holds since: n8n 2.30.0, the oldest supported version.
 *
 * If it stops: Create PIX fails before anything is sent, and waits go on without webhooks.
 */

const PATH = 'digital-sales';

const executionSchema = z.object({ resumeUrl: z.string().url() });

export function resumeUrl(context: IExecuteFunctions): string {
	const { resumeUrl } = executionSchema.parse(context.getWorkflowDataProxy(0).$execution);
	const url = new URL(resumeUrl);
	url.pathname += `/${PATH}`;
	return url.href;
}

/** The webhook that n8n calls there. */
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
