import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { isWaiting } from '../domain/paymentStatus';
import { readNotification } from '../notification/parse';
import { handleWebhook, Declined, REPLIES } from '../notification/reply';

/**
 * Wakes an execution that waits, so that the node reads its payments: nothing in the webhook is believed. n8n answers
 * 200 once it has stored that. A webhook about another charge of the execution wakes it, too; a webhook that says
 * that its payment is still open does not.
 */
export async function wakeExecution(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	return await handleWebhook(context, 'A webhook to a waiting execution failed', async () => {
		const { status } = await readNotification(context);
		if (isWaiting(status)) throw new Declined(REPLIES.waiting);
		return { workflowData: [] };
	});
}
