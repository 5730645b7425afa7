import type { IWebhookFunctions } from 'n8n-workflow';
import { clock } from '../api/clock';
import { processState } from '../api/processState';

const MOST_REMEMBERED = 10_000;
/** A sender waits some ten seconds, and part of them passes before n8n calls the trigger. */
const LONGEST_WAIT_MS = 4_000;
/** What n8n takes to store an execution in a burst; a lone one is stored in a fifth of it. */
const LEAST_EACH_MS = 100;
/** How much of what is expected of the next answer comes from the latest one. */
const WEIGHT_OF_LATEST = 0.2;

/** Whether this process has handed a notice over before, and whether n8n has answered it. */
export function handedOver(key: string): 'unanswered' | 'answered' | undefined {
	return processState.notices.get(key);
}

/** Whether one more notice would be answered too late: n8n is still storing those before it. */
export function isBacklogged(): boolean {
	const { unanswered, eachMs } = processState.backlog;
	return unanswered * Math.max(LEAST_EACH_MS, eachMs) >= LONGEST_WAIT_MS;
}

/**
 * Hands a notice over to n8n, which answers it. Under its key it counts as taken only when its 200
 * has gone out: where n8n cannot store the execution, or the sender has left, it must start the
 * workflow when it comes again.
 */
export function handOver(context: IWebhookFunctions, key: string | undefined): void {
	const { notices, backlog } = processState;
	const startedAt = clock.now();
	backlog.unanswered += 1;
	const inLine = backlog.unanswered;
	if (key !== undefined) notices.set(key, 'unanswered');
	forgetSurplus();
	const response = context.getResponseObject();
	response.once('close', () => {
		backlog.unanswered -= 1;
		const eachMs = (clock.now() - startedAt) / inLine;
		backlog.eachMs += (eachMs - backlog.eachMs) * WEIGHT_OF_LATEST;
		if (key === undefined) return;
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
