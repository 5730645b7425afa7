import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { parseNotification } from '../api';
import { groupOf } from '../domain';
import { Declined, handleWebhook, readBody, REPLIES } from '../notification';

/** Any webhook wakes the execution, unless its status is waiting. The look believes nothing in it. */
export async function wakeExecution(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	return await handleWebhook(context, 'A webhook to a waiting execution failed', async () => {
		const notification = parseNotification(await readBody(context));
		if (groupOf(notification?.status) === 'waiting') throw new Declined(REPLIES.waiting);
		return { workflowData: [] };
	});
}
