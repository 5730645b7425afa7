import type { IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';
import { type Account, CREDENTIAL_NAME, readAccount } from '../api/account';
import { Client, type ClientOptions } from '../api/client';
import { ServiceError } from '../api/serviceError';
import { RateLimiter } from '../api/rateLimiter';
import type { Transaction } from '../api/schemas/transaction';
import { getTransaction, hasSeenTransaction } from '../api/transactions';
import { Declined, REPLIES } from './reply';
import { senderAddress } from '../n8n/senderAddress';
import { clock } from '../shared/clock';
import { BoundedMap, PromiseCache, processState } from '../shared/processState';

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

/**
 * Reads the transaction of a notice back. Only a well-formed transaction with the requested hash is believed; only a
 * 404 says that there is none: then it is undefined.
 *
 * @throws Declined if it cannot be read, or if too many are read, now, or were read a moment ago without news
 */
export async function verifyTransaction(
	context: IWebhookFunctions,
	account: Account,
	{ hash, answerBy, isFree }: Asked,
): Promise<Transaction | undefined> {
	// A transaction stays known after a 404: a notice can come before its transaction can be read.
	const isSeen = hasSeenTransaction(account, hash);
	const lane = `${account.key} ${isSeen ? 'seen' : 'unverified'}`;
	const lanes = [laneOf(`${lane} ${senderAddress(context)}`, MISSES), laneOf(lane, 2 * MISSES)];
	const leave: Array<(isMiss: boolean) => void> = [];
	let isMiss = false;
	try {
		for (const one of lanes) leave.push(await enter(one, answerBy - SHORTEST_READ_MS));
		const client = new Client(context, account, {
			...limitsUntil(answerBy),
			waitsAfter429: !isSeen,
		});
		const transaction = await getTransaction(client, hash).catch((error: unknown) => {
			const { outcome, tries } = error instanceof ServiceError ? error : {};
			isMiss = tries !== 0;
			if (outcome?.status === 404 && !outcome.isWebPage) return undefined;
			throw new Declined(REPLIES.unread);
		});
		if (transaction) isMiss = !isFree(transaction);
		return transaction;
	} finally {
		for (const one of leave) one(isMiss);
	}
}

/** Waits for a place in a lane; gives what leaves it. */
async function enter(lane: RateLimiter, latest: number): Promise<(isMiss: boolean) => void> {
	const isFull = lane.waitingCount >= MOST_IN_LINE;
	const permit = isFull ? undefined : await lane.acquirePermit({ latest }).catch(() => undefined);
	if (!permit) throw new Declined(REPLIES.busy);
	return (isMiss) => (isMiss ? lane.releaseUsed(permit) : lane.releaseUnused(permit));
}

function limitsUntil(answerBy: number): ClientOptions {
	const forTries = Math.max(0, answerBy - clock.elapsed() - MOST_TRIES * LONGEST_LIMITER_WAIT_MS);
	const forRetry = Math.min(FOR_QUICK_RETRY_MS, forTries / MOST_TRIES);
	const timeoutMs = Math.min(LONGEST_TRY_MS, Math.max(1, Math.floor(forTries - forRetry)));
	const retry = { maxTries: MOST_TRIES, maxTotalMs: Math.max(0, forTries - timeoutMs) };
	return { timeoutMs, retry, longestLimiterWaitMs: LONGEST_LIMITER_WAIT_MS };
}

/** @internal */
export const accounts = processState(new PromiseCache<Account>({ most: 100, keptMs: 5_000 }));

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
const MISSED_WITHIN_MS = 20_000;

/** @internal */
export const lanes = processState(new BoundedMap<RateLimiter>({ most: 1_000 }));

function laneOf(key: string, misses: number): RateLimiter {
	const lane = lanes.get(key) ?? new RateLimiter(misses, MISSED_WITHIN_MS);
	lanes.set(key, lane);
	return lane;
}
