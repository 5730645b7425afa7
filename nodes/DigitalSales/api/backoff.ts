export interface RetryLimits {
	/** A try that gets a 429 does not count. */
	maxTries: number;
	/** No try starts later than this after the first try. */
	maxTotalMs: number;
}

/** @internal */
export const DEFAULT_RETRY_LIMITS: Readonly<RetryLimits> = { maxTries: 5, maxTotalMs: 300_000 };

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;
const FIRST_RATE_LIMIT_WAIT_MS = 5_000;
/** Each minute gets at least one try, because limits are per minute. */
const LONGEST_RATE_LIMIT_WAIT_MS = 20_000;

/** With full jitter, so that executions that fail together do not retry together. */
export function backoffMs(failedTries: number, random: number): number {
	const cap = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failedTries - 1));
	return Math.round(random * cap);
}

/** The wait after a 429, unless the service asks for a longer wait. Up to half of it is jitter. */
export function rateLimitWaitMs(hits: number, random: number): number {
	const cap = Math.min(LONGEST_RATE_LIMIT_WAIT_MS, FIRST_RATE_LIMIT_WAIT_MS * 2 ** (hits - 1));
	return Math.round((cap * (1 + random)) / 2);
}

export function mayRetry(
	limits: RetryLimits,
	used: { failedTries: number; elapsedMs: number; delayMs: number },
): boolean {
	return used.failedTries < limits.maxTries && used.elapsedMs + used.delayMs <= limits.maxTotalMs;
}
