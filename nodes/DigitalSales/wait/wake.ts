import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { parseNotification } from '../api';
import { isWaiting } from '../domain';
import { Declined, handleWebhook, readBody, REPLIES } from '../notification';

/** Any webhook wakes the execution, unless its status is waiting. The look believes nothing in it. */
export async function wakeExecution(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	return await handleWebhook(context, 'A webhook to a waiting execution failed', async () => {
		const notification = parseNotification(await readBody(context));
		if (isWaiting(notification?.status)) throw new Declined(REPLIES.waiting);
		return { workflowData: [] };
	});
}
