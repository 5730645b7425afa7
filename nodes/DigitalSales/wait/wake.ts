import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { parseNotification } from '../api';
import { groupOf } from '../domain';
import { EarlyReply, handleWebhook, readBody, REPLIES } from '../notification';

/** Any webhook wakes the execution, unless it says that the payment still waits. The look believes nothing in it. */
export async function wakeExecution(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	return await handleWebhook(context, async () => {
		const notification = parseNotification(await readBody(context));
		if (groupOf(notification?.status) === 'waiting') throw new EarlyReply(REPLIES.waiting);
		// Even without items, n8n resumes the execution.
		return { workflowData: [] };
	});
}
