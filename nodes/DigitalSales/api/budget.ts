import type { Account } from './account';
import { ENDPOINTS, type Endpoint } from './endpoints';
import { processState } from './processState';
import { RateLimiter, type Rate } from './rateLimiter';
import { ReadBounds } from './readBounds';

const MINUTE_MS = 60_000;

/** The rate limiter of an account at an endpoint, at the documented rate (API document, Limits). */
export function rateLimiterFor(account: Account, endpoint: Endpoint): RateLimiter {
	const key = `${account.key} ${endpoint}`;
	let limiter = processState.rateLimiters.get(key);
	if (!limiter) {
		limiter = new RateLimiter(documentedRate(endpoint));
		processState.rateLimiters.set(key, limiter);
	}
	return limiter;
}

function documentedRate(endpoint: Endpoint): Rate | undefined {
	const { requestsPerMinute } = ENDPOINTS[endpoint];
	return requestsPerMinute === undefined
		? undefined
		: { requests: requestsPerMinute, perMs: MINUTE_MS };
}

/** Real notices are of real transactions; only one that comes before its transaction finds nothing. */
const STRANGERS_MISSES_A_MINUTE = 30;
/** In an outage nothing is found of what is known, either. */
const KNOWN_MISSES_A_MINUTE = 600;

/**
 * What notices may have the account read.
 *
 * @param isKnown whether it is about transactions that are known to exist, or about all others
 */
export function readBoundsOf(account: Account, isKnown: boolean): ReadBounds {
	const key = `${account.key} ${isKnown ? 'known' : 'strangers'}`;
	let bounds = processState.readBounds.get(key);
	if (!bounds) {
		bounds = new ReadBounds(isKnown ? KNOWN_MISSES_A_MINUTE : STRANGERS_MISSES_A_MINUTE);
		processState.readBounds.set(key, bounds);
	}
	return bounds;
}
