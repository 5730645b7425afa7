import type { IWebhookFunctions } from 'n8n-workflow';

/*
 * Since n8n 2.30.0, n8n answers 200 to a webhook once it has stored the execution, and otherwise another status.
 * If that stops, a sale may be lost, or start the workflow twice.
 */

/** Calls `done` when n8n has answered the webhook, or when the sender has left before that. */
export function whenAnswered(context: IWebhookFunctions, done: (isStored: boolean) => void): void {
	const response = context.getResponseObject();
	response.once('close', () => done(response.writableFinished && response.statusCode === 200));
}

/** Whether the sender has left, so that no answer will show whether n8n has stored anything. */
export function hasSenderLeft(context: IWebhookFunctions): boolean {
	return context.getResponseObject().destroyed;
}
