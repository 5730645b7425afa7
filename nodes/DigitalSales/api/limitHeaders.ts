import { clock } from '../shared/clock';
import type { LimitHeaders } from './rateLimiter';

/** Headers of an answer by lower-case name. */
export type Headers = Readonly<Record<string, unknown>>;

const LONGEST_RETRY_AFTER_MS = 300_000;
/** Below this a reset header counts seconds from now, above it is a unix time. */
const FIRST_UNIX_TIME = 1_000_000_000;

/** Reads `X-RateLimit-Limit` and `X-RateLimit-Remaining`; a proxy may have dropped them. */
export function readLimitHeaders(headers: Headers): LimitHeaders {
	return {
		limit: wholeNumber(headers['x-ratelimit-limit']),
		remaining: wholeNumber(headers['x-ratelimit-remaining']),
	};
}

/**
 * How long an answer asks to wait, in milliseconds: `Retry-After` in seconds or as a date, else
 * `X-RateLimit-Reset`, else undefined. No time at all, or a moment that has passed, is no wait to go
 * by: the clocks may differ. Capped at five minutes, since a proxy may ask for a day.
 */
export function retryAfterMs(headers: Headers): number | undefined {
	const asked = [
		fromRetryAfter(headers['retry-after']),
		fromReset(headers['x-ratelimit-reset']),
	].find((milliseconds = 0) => milliseconds > 0);
	return asked === undefined ? undefined : Math.min(LONGEST_RETRY_AFTER_MS, asked);
}

function fromRetryAfter(value: unknown): number | undefined {
	const seconds = wholeNumber(value);
	if (seconds !== undefined) return seconds * 1_000;
	if (typeof value !== 'string' || !/[a-z]/i.test(value)) return undefined;
	const date = Date.parse(value);
	return Number.isNaN(date) ? undefined : date - clock.now();
}

function fromReset(value: unknown): number | undefined {
	const reset = wholeNumber(value);
	if (reset === undefined) return undefined;
	return reset < FIRST_UNIX_TIME ? reset * 1_000 : reset * 1_000 - clock.now();
}

function wholeNumber(value: unknown): number | undefined {
	const text = typeof value === 'number' ? String(value) : value;
	if (typeof text !== 'string' || !/^\d{1,15}$/.test(text.trim())) return undefined;
	return Number(text);
}
