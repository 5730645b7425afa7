/** How often and how long a request is tried. Times in milliseconds. */
export interface RetryLimits {
	/** Tries in all, the first included. A 429 does not count: it is waited out until the time is up. */
	maxTries: number;
	/** No new try starts later than this after the first one. */
	maxTotalMs: number;
}

export const DEFAULT_RETRY_LIMITS: Readonly<RetryLimits> = { maxTries: 5, maxTotalMs: 300_000 };

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;

/**
 * Exponential backoff with full jitter, so that executions that failed together do not come back
 * together.
 *
 * @param failedTries at least 1
 * @param random from 0 up to 1
 */
export function backoffMs(failedTries: number, random: number): number {
	const cap = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failedTries - 1));
	return Math.round(random * cap);
}

const FIRST_RATE_LIMIT_WAIT_MS = 5_000;
/** Short enough to miss none of the minutes over which limits are counted. */
const LONGEST_RATE_LIMIT_WAIT_MS = 20_000;

/**
 * How long to wait at least after a 429, whatever it says: doubling, its upper half at random.
 *
 * @param rateLimitHits 429s so far, this one included
 * @param random from 0 up to 1
 */
export function rateLimitWaitMs(rateLimitHits: number, random: number): number {
	const cap = Math.min(
		LONGEST_RATE_LIMIT_WAIT_MS,
		FIRST_RATE_LIMIT_WAIT_MS * 2 ** (rateLimitHits - 1),
	);
	return Math.round((cap * (1 + random)) / 2);
}

/** Whether the limits leave room for another try. */
export function mayRetry(
	limits: RetryLimits,
	used: { failedTries: number; elapsedMs: number; delayMs: number },
): boolean {
	return used.failedTries < limits.maxTries && used.elapsedMs + used.delayMs <= limits.maxTotalMs;
}
