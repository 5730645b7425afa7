import type { IWebhookFunctions } from 'n8n-workflow';
import { clock, processState } from '../shared';

/*
 * Since n8n 2.30.0, n8n answers a webhook with 200 only once it has stored the execution, even if the sender has left.
 * If that stops, a sale may be lost, or start the workflow twice.
 */

/** n8n takes up to about this time to store an execution in a burst. */
const STORED_WITHIN_MS = 10_000;

const unanswered = processState(new Set<object>());

/** How many executions n8n is storing. */
export function unansweredCount(): number {
	return unanswered.size;
}

/**
 * Calls `done` when n8n has answered the webhook. If the sender leaves first, no event reports the answer, so its status
 * is read after a while.
 */
export function whenAnswered(context: IWebhookFunctions, done: (isStored: boolean) => void): void {
	const response = context.getResponseObject();
	unanswered.add(response);

	const afterClose = async (): Promise<void> => {
		if (!response.writableFinished) await clock.sleep(STORED_WITHIN_MS);
		unanswered.delete(response);
		done(response.writableFinished && response.statusCode === 200);
	};

	if (response.destroyed) void afterClose();
	else response.once('close', () => void afterClose());
}
