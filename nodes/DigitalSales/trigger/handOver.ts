import type { IWebhookFunctions } from 'n8n-workflow';
import { clock } from '../shared/clock';
import { processWide } from '../shared/processWide';
import { dedupeStore } from './dedupe';

/** A sender waits about ten seconds, some of which pass before n8n calls the trigger. */
const LONGEST_WAIT_MS = 6_000;
/** The least that n8n takes to store each execution of a burst. */
const LEAST_EACH_MS = 75;
/** How many answers the estimate is based on. */
const SAMPLE_SIZE = 20;

/** Notices handed over to n8n that it has not answered yet. */
class Backlog {
	unanswered = 0;
	/** When the first of them was handed over. */
	startedAt = 0;
	/** The latest answers since then. */
	answeredAt: number[] = [];

	clear(): void {
		this.unanswered = 0;
		this.answeredAt = [];
	}
}

/** @internal */
export const backlog = processWide(new Backlog());

/** Whether n8n, still storing earlier notices, would answer the next one too late. */
export function isBacklogged(): boolean {
	const { unanswered, answeredAt, startedAt } = backlog;
	if (unanswered === 0) return false;
	const [first = startedAt] = answeredAt;
	const last = answeredAt.at(-1) ?? startedAt;
	const eachMs = Math.max(LEAST_EACH_MS, (last - first) / Math.max(1, answeredAt.length - 1));
	return unanswered * eachMs >= LONGEST_WAIT_MS || clock.elapsed() - last >= LONGEST_WAIT_MS;
}

/**
 * Hands a notice over to n8n, which answers it. If no 200 goes out, since n8n cannot store the
 * execution or the sender has left, the notice must start the workflow when it comes again.
 *
 * @param key in the dedupe store; undefined if the notice may be repeated
 */
export function handOver(context: IWebhookFunctions, key: string | undefined): void {
	if (backlog.unanswered === 0) {
		backlog.startedAt = clock.elapsed();
		backlog.answeredAt = [];
	}
	backlog.unanswered += 1;
	if (key !== undefined) dedupeStore.set(key, 'unanswered');
	const response = context.getResponseObject();
	response.once('close', () => {
		backlog.unanswered -= 1;
		backlog.answeredAt = [...backlog.answeredAt, clock.elapsed()].slice(-SAMPLE_SIZE);
		if (key === undefined) return;
		const isAnswered = response.writableFinished && response.statusCode === 200;
		if (isAnswered) dedupeStore.set(key, 'answered');
		else dedupeStore.delete(key);
	});
}
