import type { IWebhookFunctions } from 'n8n-workflow';
import type { Notice } from '../notice/parse';
import { BoundedMap, processWide } from '../shared/processWide';
import { clock } from '../shared/clock';

/** A sender waits about ten seconds; what is handed over next takes longer than what was answered last. */
const LONGEST_WAIT_MS = 3_000;
/** n8n takes at least 75 ms for each in a burst. */
const MOST_UNANSWERED = 80;
const LONGEST_STATUS = 100;

/**
 * What starts the workflow only once: a transaction with one of its statuses, and an event beside it. JSON,
 * since hash and status may contain any character. Which other event it is does not count: it is only
 * claimed, and with ever new names anybody could start a paid sale again.
 */
export function dedupeKey({ hash, status, event }: Notice): string {
	const key = [hash, status?.slice(0, LONGEST_STATUS)];
	return JSON.stringify(event === undefined ? key : [...key, 'other event']);
}

/** Notices handed over to n8n that it has not answered yet. */
class Unanswered {
	/** When, on `clock.elapsed()`, by trigger and {@link dedupeKey}; the oldest comes first. */
	readonly since = new Map<string, number>();
	/** How long the latest answer took, or its sender waited for it: n8n may still be storing that one. */
	lastTookMs = 0;

	clear(): void {
		this.since.clear();
		this.lastTookMs = 0;
	}
}

/** @internal */
export const unanswered = processWide(new Unanswered());

/**
 * Those that it has answered, by the same keys. It saves duplicates an execution; the ledger decides.
 *
 * @internal
 */
export const answered = processWide(new BoundedMap<true>({ most: 10_000 }));

/** What has become of a notice that was handed over. */
export function handedOver(key: string): 'answered' | 'unanswered' | undefined {
	if (unanswered.since.has(key)) return 'unanswered';
	return answered.get(key) && 'answered';
}

/** Whether n8n, still storing earlier notices, would answer the next one too late. */
export function isBacklogged(): boolean {
	const { since, lastTookMs } = unanswered;
	const [oldest] = since.values();
	if (oldest === undefined) return false;
	const waitMs = Math.max(lastTookMs, clock.elapsed() - oldest);
	return since.size >= MOST_UNANSWERED || waitMs >= LONGEST_WAIT_MS;
}

/**
 * Hands a notice over to n8n, which answers it. If no 200 goes out, since n8n cannot store the
 * execution or the sender has left, the notice must start the workflow when it comes again.
 *
 * @param isRepeatable whether it may start the workflow again even so
 */
export function handOver(context: IWebhookFunctions, key: string, isRepeatable: boolean): void {
	const at = clock.elapsed();
	unanswered.since.set(key, at);
	const response = context.getResponseObject();
	response.once('close', () => {
		unanswered.since.delete(key);
		unanswered.lastTookMs = clock.elapsed() - at;
		const isAnswered = response.writableFinished && response.statusCode === 200;
		if (isAnswered && !isRepeatable) answered.set(key, true);
	});
}
