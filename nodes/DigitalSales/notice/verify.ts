import type { IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';
import { type Account, CREDENTIAL_NAME, readAccount } from '../api/account';
import { Client } from '../api/client';
import { ServiceError } from '../api/serviceError';
import { RateLimiter } from '../api/rateLimiter';
import type { Transaction } from '../api/schemas/transaction';
import { getTransaction, hasSeenTransaction } from '../api/transactions';
import { senderAddress } from '../n8n/senderAddress';
import { clock } from '../shared/clock';
import { BoundedMap, PromiseCache, processWide } from '../shared/processWide';

/** What reading a transaction back gave; without a transaction it is `unknown`. Unless it is free, it counts. */
type ReadBack = { isFree: boolean } & (
	| { outcome: 'read'; transaction: Transaction | undefined }
	| { outcome: 'unread' | 'busy' }
);

const BUSY: ReadBack = { outcome: 'busy', isFree: true };

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

interface Asked {
	hash: string;
	/** When the answer has to be there, on `clock.elapsed()`. */
	answerBy: number;
	/** Whether reading it told something new. */
	isFree: (transaction: Transaction) => boolean;
}

/** Reads the transaction of a notice back; `busy` if there are too many reads, now, or a moment ago without news. */
export async function verifyTransaction(
	context: IWebhookFunctions,
	account: Account,
	asked: Asked,
): Promise<ReadBack> {
	// A transaction stays known after a 404: a notice can come before its transaction can be read.
	const isSeen = hasSeenTransaction(account, asked.hash);
	const lane = `${account.key} ${isSeen ? 'seen' : 'unverified'}`;
	const latest = asked.answerBy - SHORTEST_READ_MS;
	return await counted(laneOf(`${lane} of ${senderAddress(context)}`, MISSES), latest, async () =>
		counted(laneOf(lane, MISSES_OF_ALL), latest, async () =>
			readBack(context, account, asked, !isSeen),
		),
	);
}

async function counted(
	limiter: RateLimiter,
	latest: number,
	read: () => Promise<ReadBack>,
): Promise<ReadBack> {
	if (limiter.waiting >= MOST_IN_LINE) return BUSY;
	const permit = await limiter.take({ latest }).catch(() => undefined);
	if (!permit) return BUSY;
	let isFree = false;
	try {
		const result = await read();
		({ isFree } = result);
		return result;
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
	{ hash, answerBy, isFree }: Asked,
	yields: boolean,
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
		const transaction = await getTransaction(client, hash);
		return { outcome: 'read', transaction, isFree: isFree(transaction) };
	} catch (error) {
		if (!(error instanceof ServiceError)) return { outcome: 'unread', isFree: false };
		const { outcome, tries } = error;
		const isUnknown = outcome.status === 404 && !outcome.isWebPage;
		if (isUnknown) return { outcome: 'read', transaction: undefined, isFree: false };
		return { outcome: 'unread', isFree: tries === 0 };
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
 * How many reads may bring nothing new within 20 seconds, and so be under way at once: a trigger's address is open to
 * anybody, and each notice costs a request of the account. Each address of a sender has its own count, so that no
 * flood from one delays notices from another, and all together have twice as many. Transactions that this process has
 * not seen are counted apart, so that no flood of them delays those that are known here.
 */
const MISSES = 8;
const MISSES_OF_ALL = 2 * MISSES;
const MISSED_WITHIN_MS = 20_000;

/** @internal */
export const lanes = processWide(new BoundedMap<RateLimiter>({ most: 1_000 }));

function laneOf(key: string, misses: number): RateLimiter {
	const lane = lanes.get(key) ?? new RateLimiter(misses, MISSED_WITHIN_MS);
	lanes.set(key, lane);
	return lane;
}
