import { BoundedMap } from '../shared/boundedMap';
import type { Account } from './account';
import type { Attempt } from './attempt';
import type { RememberedPage } from './catalogPage';
import { clock } from './clock';
import type { LedgerRow } from './ledgerRow';
import type { RateLimiter } from './rateLimiter';
import type { ReadBounds } from './readBounds';
import type { Turn } from './turn';

const isPast = ({ until }: { until: number }): boolean => until <= clock.elapsed();

/**
 * The one home of what both nodes and all executions of a process must share. Everything in here is
 * bounded: what belongs to an account by their number, queues and watches by what is under way.
 */
export const processState = {
	/** Rate limiters by account and endpoint. */
	rateLimiters: new Map<string, RateLimiter>(),
	/** Accounts of nodes that take notices in, for a few seconds. */
	accounts: new BoundedMap<{ account: Promise<Account>; until: number }>({
		most: 100,
		isOver: isPast,
	}),
	/** What notices may have an account read, by account and on whose word. */
	readBounds: new Map<string, ReadBounds>(),
	/** Transactions that an account is known to have, by account and hash. */
	knownTransactions: new BoundedMap<true>({ most: 10_000 }),
	/** Looks at transactions and waiting executions, by who looks and at what. */
	turns: new BoundedMap<Turn>({
		most: 1_000,
		isOver: ({ inHand, freeAt }) => !inHand && freeAt <= clock.elapsed(),
		isKept: ({ inHand }) => inHand !== undefined,
	}),
	/** The wait that is watched over in each execution. */
	watches: new Map<string, string>(),
	/** Notices that a trigger handed over, by trigger, hash and status. */
	notices: new BoundedMap<'unanswered' | 'answered'>({ most: 10_000 }),
	/**
	 * Notices that n8n has not answered yet; since when there are any, and when it answered the latest
	 * of them since.
	 */
	backlog: { unanswered: 0, startedAt: 0, answeredAt: Array.of<number>() },
	/** Pages of catalogs by account, search and number. */
	catalogPages: new BoundedMap<RememberedPage>({ most: 60, isOver: isPast }),
	/** What was made or is being made, by its names; what is in doubt goes last. */
	attempts: new BoundedMap<Attempt>({
		most: 10_000,
		isKept: ({ state }) => state === 'inDoubt',
	}),
	/** Who waits for whom, by what only one may hold at a time. */
	queues: new Map<string, Promise<void>>(),
	/** What is known of the entries of each node in n8n's table of processed items. */
	ledgerRows: new BoundedMap<LedgerRow>({ most: 1_000 }),
};
