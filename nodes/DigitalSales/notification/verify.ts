import type { IWebhookFunctions } from 'n8n-workflow';
import { type Account, loadAccount } from '../api/account';
import { Client, type ClientOptions } from '../api/client';
import { type Permit, RateLimiter } from '../api/rateLimiter';
import type { Transaction } from '../api/schemas/transaction';
import { ServiceError } from '../api/serviceError';
import { getTransaction, hasSeenTransaction } from '../api/transactions';
import { senderAddress } from '../n8n/senderAddress';
import { clock } from '../shared/clock';
import { BoundedMap, processState } from '../shared/processState';
import { Declined, REPLIES } from './reply';

/** A sender waits about ten seconds; one quick retry has to fit in. */
export const ANSWER_WITHIN_MS = 9_500;

/** With less time left than this, a read would only waste a request. */
export const SHORTEST_READ_MS = 3_000;
const LONGEST_TRY_MS = 3_500;
/** Shorter than any closure of the rate limiter after a 429: a webhook does not wait for that. */
const LONGEST_LIMITER_WAIT_MS = 1_000;
const MOST_TRIES = 2;
/** How much time the first try leaves for a second one, if it fails at once. */
const FOR_QUICK_RETRY_MS = 1_000;

/** What the service shows of a transaction. */
export interface ReadResult {
	/** Undefined if the service does not know it. */
	transaction?: Transaction;
	/** How many reads in a row before have shown the same status. */
	repeats: number;
}

/**
 * Reads the transaction of a webhook back. Only a well-formed transaction with the requested hash is believed, and
 * only a 404 means that there is none.
 *
 * @param answerBy when the sender needs the answer, on `clock.elapsed()`
 * @param before the previous reading of the transaction
 * @throws Declined if it cannot be read, or if too many reads are under way or have shown nothing new lately
 */
export async function verifyTransaction(
	context: IWebhookFunctions,
	hash: string,
	{ answerBy, before }: { answerBy: number; before?: ReadResult },
): Promise<ReadResult> {
	const account = await loadAccount(context);
	// A transaction stays known after a 404: a webhook can come before its transaction can be read.
	const isSeen = hasSeenTransaction(account, hash);
	const entered: Array<[RateLimiter, Permit]> = [];
	let isMiss = false;
	try {
		for (const lane of findLanes(context, account, isSeen)) {
			entered.push([lane, await enterLane(lane, answerBy - SHORTEST_READ_MS)]);
		}
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
		const isRepeat = before?.transaction?.payment_status === transaction?.payment_status;
		const repeats = before && isRepeat ? before.repeats + 1 : 0;
		// One repeat is free: a genuine webhook may be ahead of what the service shows.
		if (transaction) isMiss = repeats > 1;
		return { transaction, repeats };
	} finally {
		for (const [lane, permit] of entered) {
			if (isMiss) lane.releaseUsed(permit);
			else lane.releaseUnused(permit);
		}
	}
}

function limitsUntil(answerBy: number): ClientOptions {
	const forTries = Math.max(0, answerBy - clock.elapsed() - MOST_TRIES * LONGEST_LIMITER_WAIT_MS);
	const forRetry = Math.min(FOR_QUICK_RETRY_MS, forTries / MOST_TRIES);
	const timeoutMs = Math.min(LONGEST_TRY_MS, Math.max(1, Math.floor(forTries - forRetry)));
	const retry = { maxTries: MOST_TRIES, maxTotalMs: Math.max(0, forTries - timeoutMs) };
	return { timeoutMs, retry, longestLimiterWaitMs: LONGEST_LIMITER_WAIT_MS };
}

/**
 * How many reads may show nothing new within 20 seconds, and so be under way at once: anybody may send webhooks, and
 * each read costs a request of the account.
 */
const MISSES_WITHIN_MS = 20_000;
const MISSES_OF_SENDER = 8;
/** A flood from two or three addresses must leave room for other senders. */
const MISSES_OF_ALL = 4 * MISSES_OF_SENDER;
const MOST_IN_LINE = 256;

/** @internal */
export const lanes = processState(new BoundedMap<RateLimiter>({ most: 1_000 }));

/**
 * The lane of the sender, so that a flood from one address does not delay others, and the lane of all senders.
 * Transactions that this process has seen have lanes of their own, which no flood of unknown hashes delays.
 */
function findLanes(context: IWebhookFunctions, account: Account, isSeen: boolean): RateLimiter[] {
	const all = `${account.key} ${isSeen ? 'seen' : 'unseen'}`;
	const sender = `${all} ${senderAddress(context)}`;
	return [findLane(sender, MISSES_OF_SENDER), findLane(all, MISSES_OF_ALL)];
}

function findLane(key: string, misses: number): RateLimiter {
	const lane = lanes.get(key) ?? new RateLimiter(misses, MISSES_WITHIN_MS);
	lanes.set(key, lane);
	return lane;
}

async function enterLane(lane: RateLimiter, latest: number): Promise<Permit> {
	if (lane.waitingCount >= MOST_IN_LINE) throw new Declined(REPLIES.busy);
	return await lane.acquirePermit({ latest }).catch(() => {
		throw new Declined(REPLIES.busy);
	});
}
