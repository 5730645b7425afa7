import type { Account } from './account';
import { ENDPOINTS, type Endpoint } from './endpoints';
import { processState } from './processState';
import { RateLimiter, type Rate } from './rateLimiter';
import { ReadBounds } from './readBounds';

const MINUTE_MS = 60_000;

/**
 * The budget of an account at an endpoint (API document, Limits).
 *
 * @param rate another rate than the documented one, where the user has set it
 */
export function budgetOf(account: Account, endpoint: Endpoint, rate?: Rate): RateLimiter {
	const key = `${account.key} ${endpoint}`;
	let budget = processState.budgets.get(key);
	if (!budget) {
		budget = new RateLimiter(documentedRate(endpoint));
		processState.budgets.set(key, budget);
	}
	if (rate) budget.configure(rate);
	return budget;
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
