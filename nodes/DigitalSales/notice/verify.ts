import type { IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';
import { type Account, CREDENTIAL_NAME, readAccount } from '../api/account';
import { Client } from '../api/client';
import { ServiceError } from '../api/serviceError';
import { RateLimiter, limiterOf } from '../api/rateLimiter';
import type { Transaction } from '../api/schemas/transaction';
import { getTransaction, hasSeenTransaction } from '../api/transactions';
import { clock } from '../shared/clock';
import { PromiseCache, processWide } from '../shared/processWide';

/** What reading a transaction back gave; without `isSent` the rate limit left no room for the read. */
type ReadBack =
	| { outcome: 'found'; transaction: Transaction }
	| { outcome: 'unknown' | 'unread'; isSent: boolean };

/** A sender waits about ten seconds; one quick retry has to fit in. */
export const ANSWER_WITHIN_MS = 9_500;

/** With less time left than this, a read would only waste a request. */
export const SHORTEST_READ_MS = 3_000;
const LONGEST_TRY_MS = 3_500;
/** Shorter than any 429 closes the rate limit: nobody is kept waiting for that. */
const LONGEST_LIMITER_WAIT_MS = 1_000;
const MOST_TRIES = 2;
/** What the first try leaves for a second one, if it fails at once. */
const FOR_QUICK_RETRY_MS = 1_000;

/**
 * Reads the transaction of a notice back; `busy` if there are too many reads, now, or a moment ago that found nothing.
 *
 * @param answerBy when the answer has to be there, on `clock.elapsed()`
 */
export async function verifyTransaction(
	context: IWebhookFunctions,
	account: Account,
	{ hash, answerBy }: { hash: string; answerBy: number },
): Promise<ReadBack | { outcome: 'busy' }> {
	// A transaction stays known after a 404: a notice can come before its transaction can be read.
	const lane = hasSeenTransaction(account, hash) ? 'seen' : 'unverified';
	const { misses, perMs, yields } = LANES[lane];
	const limiter = limiterOf(account, lane, () => new RateLimiter(misses, perMs));
	if (limiter.waiting >= MOST_IN_LINE) return { outcome: 'busy' };
	const latest = answerBy - SHORTEST_READ_MS;
	const permit = await limiter.take({ latest }).catch(() => undefined);
	if (!permit) return { outcome: 'busy' };
	let isFree = false;
	try {
		const read = await readBack(context, account, hash, { answerBy, yields });
		isFree = read.outcome === 'found' || !read.isSent;
		return read;
	} finally {
		if (isFree) limiter.giveBack(permit);
		else limiter.settle(permit);
	}
}

/**
 * Reads a transaction from the service while a sender waits. Only a well-formed transaction with the
 * requested hash is believed; only a 404 says that there is none. Never throws.
 */
async function readBack(
	context: IWebhookFunctions,
	account: Account,
	hash: string,
	{ answerBy, yields }: { answerBy: number; yields: boolean },
): Promise<ReadBack> {
	const forTries = Math.max(0, answerBy - clock.elapsed() - MOST_TRIES * LONGEST_LIMITER_WAIT_MS);
	const forRetry = Math.min(FOR_QUICK_RETRY_MS, forTries / MOST_TRIES);
	const timeoutMs = Math.min(LONGEST_TRY_MS, Math.max(1, Math.floor(forTries - forRetry)));
	const client = new Client(context, account, {
		timeoutMs,
		retry: { maxTries: MOST_TRIES, maxTotalMs: Math.max(0, forTries - timeoutMs) },
		longestLimiterWaitMs: LONGEST_LIMITER_WAIT_MS,
		yields,
	});
	try {
		return { outcome: 'found', transaction: await getTransaction(client, hash) };
	} catch (error) {
		if (!(error instanceof ServiceError)) return { outcome: 'unread', isSent: true };
		const { outcome, tries } = error;
		const isUnknown = outcome.status === 404 && !outcome.isWebPage;
		return { outcome: isUnknown ? 'unknown' : 'unread', isSent: tries > 0 };
	}
}

/** @internal */
export const accounts = processWide(new PromiseCache<Account>({ most: 100, keptMs: 5_000 }));

/**
 * The account of a node that receives notices, kept for a few seconds: fetching and decrypting the
 * credential for every request is most of the work in a burst.
 */
export async function accountOf(
	context: Pick<
		IExecuteFunctions | IWebhookFunctions,
		'getNode' | 'getWorkflow' | 'getCredentials'
	>,
): Promise<Account> {
	const { id, credentials } = context.getNode();
	const key = `${context.getWorkflow().id} ${id} ${credentials?.[CREDENTIAL_NAME]?.id}`;
	return await accounts.get(key, async () =>
		readAccount(await context.getCredentials(CREDENTIAL_NAME)),
	);
}

const MOST_IN_LINE = 256;

/**
 * How many reads may find nothing in which time, and so be under way at once: a trigger's address is open
 * to anybody, and each notice costs a request of the account. Those that find their transaction are free.
 * Unverified notices are limited apart, so that no flood of them delays those about a transaction that is
 * known here.
 */
const LANES = {
	/** About a transaction that this process has seen; in an outage even genuine ones find nothing. */
	seen: { misses: 10, perMs: 1_000, yields: false },
	/** All others: the only genuine misses are notices that arrive before their transaction. */
	unverified: { misses: 8, perMs: 20_000, yields: true },
};
