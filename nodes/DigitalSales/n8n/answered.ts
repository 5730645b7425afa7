import type { IWebhookFunctions } from 'n8n-workflow';

/*
 * When n8n has stored the execution that a webhook started.
 *
 * Rests on (since n8n 2.30.0): if `webhook()` returns `workflowData` and does not answer itself, n8n answers 200 once
 * it has stored the execution, and something else if it could not (webhook-helpers: the response follows
 * `workflowRunner.run()`). Older versions answer before they store.
 * If it stops: a sale that n8n could not store is lost, or is stored twice.
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
