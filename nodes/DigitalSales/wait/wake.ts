import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { isWaiting } from '../domain';
import { Declined, handleWebhook, readNotification, REPLIES } from '../notification';

/** A webhook with a hash wakes the execution, unless its status is waiting. The look believes nothing in it. */
export async function wakeExecution(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	return await handleWebhook(context, 'A webhook to a waiting execution failed', async () => {
		const { status } = await readNotification(context);
		if (isWaiting(status)) throw new Declined(REPLIES.waiting);
		return { workflowData: [] };
	});
}
