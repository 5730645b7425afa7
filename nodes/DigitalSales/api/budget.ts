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

/** What strangers may have the account read. */
export function readBoundsOf(account: Account): ReadBounds {
	let bounds = processState.readBounds.get(account.key);
	if (!bounds) {
		bounds = new ReadBounds();
		processState.readBounds.set(account.key, bounds);
	}
	return bounds;
}
