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

/** On whose word a transaction is read back; each has reads of its own. */
export type ReadLane =
	/** Whoever brings the secret of the trigger. */
	| 'trusted'
	/** About a transaction that is known to exist. */
	| 'known'
	/** All others. */
	| 'strangers';

/** How many requests a minute may find nothing. */
const MISSES_A_MINUTE: Readonly<Record<ReadLane, number>> = {
	// In an outage nothing is found of what is real, either.
	trusted: 600,
	known: 600,
	// Only a notice that comes before its transaction is real and finds nothing.
	strangers: 30,
};

/** What notices may have the account read. */
export function readBoundsOf(account: Account, lane: ReadLane): ReadBounds {
	const key = `${account.key} ${lane}`;
	let bounds = processState.readBounds.get(key);
	if (!bounds) {
		bounds = new ReadBounds(MISSES_A_MINUTE[lane], () => leftByTheService(account, lane));
		processState.readBounds.set(key, bounds);
	}
	return bounds;
}

/** Strangers leave half of what the service allows to those who are none. */
function leftByTheService(account: Account, lane: ReadLane): number {
	if (lane !== 'strangers') return Infinity;
	return rateLimiterFor(account, 'GET /transactions/{hash}').leftOfHalf();
}
