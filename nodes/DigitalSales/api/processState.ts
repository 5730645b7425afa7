import type { ChargeState } from './chargeState';
import type { RateLimiter } from './rateLimiter';

/**
 * The one home of what both nodes and all executions of a process must share. Everything in here is
 * bounded: budgets by the number of accounts, the rest by the code that fills it.
 */
export const processState = {
	/** Budgets by account and endpoint. */
	budgets: new Map<string, RateLimiter>(),
	/** Notices that are being verified right now, by trigger and hash. */
	noticesInHand: new Set<string>(),
	/** What each trigger has emitted, by trigger: `hash|status`, oldest first. */
	emitted: new Map<string, Set<string>>(),
	/** Charges by the place in the execution where they are made. */
	charges: new Map<string, ChargeState>(),
	/** Charges by workflow and order reference. */
	orders: new Map<string, Map<string, ChargeState>>(),
};
