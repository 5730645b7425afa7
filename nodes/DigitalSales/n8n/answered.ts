import type { IWebhookFunctions } from 'n8n-workflow';
import { clock } from '../shared/clock';

/*
 * When n8n has stored the execution that a webhook started.
 *
 * Rests on (since n8n 2.30.0): if `webhook()` returns `workflowData` and does not answer itself, n8n answers 200 once
 * it has stored the execution, and something else if it could not (webhook-helpers: the response follows
 * `workflowRunner.run()`), even if the sender has left. Older versions answer before they store.
 * If it stops: a sale that n8n could not store is lost, or is stored twice.
 */

/** n8n takes up to about this time to store an execution in a burst. */
const STORED_WITHIN_MS = 10_000;

/**
 * Calls `done` when n8n has answered the webhook. n8n also answers a sender that has left, but then only looking at the
 * response after a while shows it.
 */
export function whenAnswered(context: IWebhookFunctions, done: (isStored: boolean) => void): void {
	const response = context.getResponseObject();
	const close = async (): Promise<void> => {
		if (!response.writableFinished) await clock.sleep(STORED_WITHIN_MS);
		done(response.writableFinished && response.statusCode === 200);
	};
	if (response.destroyed) void close();
	else response.once('close', () => void close());
}
