import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { isWaiting } from '../domain/paymentStatus';
import { readNotification } from '../notification/parse';
import { handleWebhook, Declined, REPLIES } from '../notification/reply';

/**
 * Wakes a waiting execution, so that the node reads its payments. The node believes nothing in the webhook. A webhook
 * about any charge wakes the execution, unless it says that the payment is still open.
 */
export async function wakeExecution(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	return await handleWebhook(context, 'A webhook to a waiting execution failed', async () => {
		const { status } = await readNotification(context);
		if (isWaiting(status)) throw new Declined(REPLIES.waiting);
		return { workflowData: [] };
	});
}
