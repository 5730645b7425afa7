import type { IWebhookFunctions } from 'n8n-workflow';
import { BoundedMap } from '../shared/boundedMap';
import { clock } from '../shared/clock';
import { processWide } from '../shared/processWide';

/** A sender waits some ten seconds, and part of them passes before n8n calls the trigger. */
const LONGEST_WAIT_MS = 6_000;
/** What n8n takes to store an execution in a burst; a lone one is stored in a third of it. */
const LEAST_EACH_MS = 75;
/** From how many of the latest answers it is reckoned how long the next one takes. */
const MOST_LOOKED_AT = 20;

/**
 * Notices that a trigger handed over, by trigger, hash and status.
 *
 * @internal
 */
export const notices = processWide(new BoundedMap<'unanswered' | 'answered'>({ most: 10_000 }));

class Backlog {
	/** Notices that n8n has not answered yet. */
	unanswered = 0;
	/** Since when there are any. */
	startedAt = 0;
	/** When n8n answered the latest of them since. */
	answeredAt: number[] = [];

	clear(): void {
		this.unanswered = 0;
		this.answeredAt = [];
	}
}

/** @internal */
export const backlog = processWide(new Backlog());

/** Whether this process has handed a notice over before, and whether n8n has answered it. */
export function handedOver(key: string): 'unanswered' | 'answered' | undefined {
	return notices.get(key);
}

/** Whether one more notice would be answered too late: n8n is still storing those before it. */
export function isBacklogged(): boolean {
	const { unanswered, answeredAt, startedAt } = backlog;
	if (unanswered === 0) return false;
	const [first = startedAt] = answeredAt;
	const last = answeredAt.at(-1) ?? startedAt;
	const eachMs = Math.max(LEAST_EACH_MS, (last - first) / Math.max(1, answeredAt.length - 1));
	return unanswered * eachMs >= LONGEST_WAIT_MS || clock.elapsed() - last >= LONGEST_WAIT_MS;
}

/**
 * Hands a notice over to n8n, which answers it. Under its key it counts as taken only when its 200
 * has gone out: where n8n cannot store the execution, or the sender has left, it must start the
 * workflow when it comes again.
 */
export function handOver(context: IWebhookFunctions, key: string | undefined): void {
	if (backlog.unanswered === 0) {
		backlog.startedAt = clock.elapsed();
		backlog.answeredAt = [];
	}
	backlog.unanswered += 1;
	if (key !== undefined) notices.set(key, 'unanswered');
	const response = context.getResponseObject();
	response.once('close', () => {
		backlog.unanswered -= 1;
		backlog.answeredAt = [...backlog.answeredAt, clock.elapsed()].slice(-MOST_LOOKED_AT);
		if (key === undefined) return;
		const isTaken = response.writableFinished && response.statusCode === 200;
		if (isTaken) notices.set(key, 'answered');
		else notices.delete(key);
	});
}
