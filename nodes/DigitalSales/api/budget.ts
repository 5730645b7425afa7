import { processWide } from '../shared/processWide';
import type { Account } from './account';
import { ENDPOINTS, type Endpoint } from './endpoints';
import { RateLimiter, type Rate } from './rateLimiter';

const MINUTE_MS = 60_000;

/** By account and endpoint. */
const rateLimiters = processWide(new Map<string, RateLimiter>());

/** The rate limiter of an account at an endpoint, at the documented rate (API document, Limits). */
export function rateLimiterFor(account: Account, endpoint: Endpoint): RateLimiter {
	const key = `${account.key} ${endpoint}`;
	let limiter = rateLimiters.get(key);
	if (!limiter) {
		limiter = new RateLimiter(documentedRate(endpoint));
		rateLimiters.set(key, limiter);
	}
	return limiter;
}

function documentedRate(endpoint: Endpoint): Rate | undefined {
	const { requestsPerMinute } = ENDPOINTS[endpoint];
	return requestsPerMinute === undefined
		? undefined
		: { requests: requestsPerMinute, perMs: MINUTE_MS };
}
