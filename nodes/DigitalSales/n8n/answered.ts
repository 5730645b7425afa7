import type { IWebhookFunctions } from 'n8n-workflow';

/*
 * Since n8n 2.30.0, n8n answers 200 to a webhook once it has stored the execution, and otherwise another status.
 * If that stops, a sale may be lost, or start the workflow twice.
 */

/** Calls `done` once n8n has answered, or the sender has left. */
export function whenAnswered(context: IWebhookFunctions, done: (isStored: boolean) => void): void {
	const response = context.getResponseObject();
	response.once('close', () => done(response.writableFinished && response.statusCode === 200));
}

export function hasSenderLeft(context: IWebhookFunctions): boolean {
	return context.getResponseObject().destroyed;
}
