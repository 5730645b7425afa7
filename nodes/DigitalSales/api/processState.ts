import type { Account } from './account';
import type { Attempt } from './attempt';
import type { RememberedPage } from './catalogPage';
import type { LedgerRow } from './ledgerRow';
import type { RateLimiter } from './rateLimiter';
import type { ReadBounds } from './readBounds';
import type { Turn } from './turn';

/**
 * The one home of what both nodes and all executions of a process must share. Everything in here is
 * bounded: rate limiters by the number of accounts, the rest by the code that fills it.
 */
export const processState = {
	/** Rate limiters by account and endpoint. */
	rateLimiters: new Map<string, RateLimiter>(),
	/** Accounts of nodes that take notices in, for a few seconds, oldest first. */
	accounts: new Map<string, { account: Promise<Account>; until: number }>(),
	/** What notices may have an account read, by account and on whose word. */
	readBounds: new Map<string, ReadBounds>(),
	/** Transactions that an account is known to have, by account and hash, oldest first. */
	knownTransactions: new Set<string>(),
	/** Looks at transactions and waiting executions, by who looks and at what, oldest first. */
	turns: new Map<string, Turn>(),
	/** The wait that is watched over in each execution. */
	watches: new Map<string, string>(),
	/** Notices that a trigger handed over, by trigger, hash and status, oldest first. */
	notices: new Map<string, 'unanswered' | 'answered'>(),
	/**
	 * Notices that n8n has not answered yet; since when there are any, and when it answered the latest
	 * of them since.
	 */
	backlog: { unanswered: 0, startedAt: 0, answeredAt: Array.of<number>() },
	/** Pages of catalogs by account, search and number, oldest first. */
	catalogPages: new Map<string, RememberedPage>(),
	/** What was made or is being made, by its names, oldest first. */
	attempts: new Map<string, Attempt>(),
	/** Who waits for whom, by what only one may hold at a time. */
	queues: new Map<string, Promise<void>>(),
	/** What is known of the entries of each node in n8n's table of processed items. */
	ledgerRows: new Map<string, LedgerRow>(),
};
