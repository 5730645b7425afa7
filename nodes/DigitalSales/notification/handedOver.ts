import type { IWebhookFunctions } from 'n8n-workflow';
import { processState } from '../api/processState';

const MOST_REMEMBERED = 10_000;

/** What became of a notice that a trigger handed over to n8n. */
export type HandedOver = 'unanswered' | 'answered';

/** Whether this process has handed a notice over before, and whether n8n has answered it. */
export function handedOver(key: string): HandedOver | undefined {
	return processState.notices.get(key);
}

/**
 * Remembers a notice that is handed over to n8n. It counts as taken only when its 200 has gone out:
 * where n8n cannot store the execution, or the sender has left, the notice must start it when it
 * comes again.
 */
export function noteHandedOver(context: IWebhookFunctions, key: string): void {
	const { notices } = processState;
	notices.set(key, 'unanswered');
	forgetSurplus();
	const response = context.getResponseObject();
	response.once('close', () => {
		const isTaken = response.writableFinished && response.statusCode === 200;
		if (isTaken) notices.set(key, 'answered');
		else notices.delete(key);
	});
}

function forgetSurplus(): void {
	const { notices } = processState;
	for (const oldest of notices.keys()) {
		if (notices.size <= MOST_REMEMBERED) return;
		notices.delete(oldest);
	}
}
