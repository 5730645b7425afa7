import type { Account } from './account';
import type { RememberedPage } from './catalogPage';
import type { ChargeState } from './chargeState';
import type { RateLimiter } from './rateLimiter';
import type { ReadBounds } from './readBounds';
import type { Turn } from './turn';

/**
 * The one home of what both nodes and all executions of a process must share. Everything in here is
 * bounded: budgets by the number of accounts, the rest by the code that fills it.
 */
export const processState = {
	/** Budgets by account and endpoint. */
	budgets: new Map<string, RateLimiter>(),
	/** Accounts of nodes that take notices in, for a few seconds, oldest first. */
	accounts: new Map<string, { account: Promise<Account>; until: number }>(),
	/** What strangers may have an account read, by account. */
	readBounds: new Map<string, ReadBounds>(),
	/** Transactions that an account is known to have, by account and hash, oldest first. */
	knownTransactions: new Set<string>(),
	/** Looks at transactions and waiting executions, by who looks and at what, oldest first. */
	turns: new Map<string, Turn>(),
	/** The wait that is watched over in each execution. */
	watches: new Map<string, string>(),
	/** What each trigger has emitted, by trigger: `hash|status`, oldest first. */
	emitted: new Map<string, Set<string>>(),
	/** Pages of catalogs by account, search and number, oldest first. */
	catalogPages: new Map<string, RememberedPage>(),
	/** Charges by the place in the execution where they are made. */
	charges: new Map<string, ChargeState>(),
	/** Charges by workflow and order reference. */
	orders: new Map<string, Map<string, ChargeState>>(),
	/** When the orders of a workflow were first handed to n8n to be kept with it, by the workflow's id. */
	ordersStoredAt: new Map<string, number>(),
};
