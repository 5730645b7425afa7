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

/** A sender waits about ten seconds. */
export const ANSWER_WITHIN_MS = 9_500;

export const SHORTEST_READ_MS = 3_000;
const LONGEST_TRY_MS = 3_500;
/** No webhook waits out the rate limiter's pause after a 429. */
const LONGEST_LIMITER_WAIT_MS = 1_000;
const MOST_TRIES = 2;
const KEPT_FOR_RETRY_MS = 1_000;

export interface ReadResult {
	/** Undefined if the service does not know the hash. */
	transaction?: Transaction;
	/** How many earlier reads in a row showed the same status. */
	repeats: number;
}

/**
 * @param answerBy on `clock.elapsed()`
 * @throws Declined if the transaction cannot be read, or too many reads showed nothing new
 */
export async function verifyTransaction(
	context: IWebhookFunctions,
	hash: string,
	{ answerBy, previous }: { answerBy: number; previous?: ReadResult },
): Promise<ReadResult> {
	const account = await loadAccount(context);
	const isSeen = hasSeenTransaction(account, hash);
	const entered: Array<[RateLimiter, Permit]> = [];
	let isMiss = false;
	try {
		for (const lane of findLanes(context, account, isSeen)) {
			entered.push([lane, await enterLane(lane, answerBy - SHORTEST_READ_MS)]);
		}
		const client = new Client(context, account, {
			...limitsUntil(answerBy),
			priority: isSeen ? 'urgent' : undefined,
		});
		const transaction = await getTransaction(client, hash).catch((error: unknown) => {
			const { outcome, tries } = error instanceof ServiceError ? error : {};
			isMiss = tries !== 0;
			if (outcome?.status === 404 && !outcome.isWebPage) return undefined;
			throw new Declined(REPLIES.unread);
		});
		const isRepeat = previous?.transaction?.payment_status === transaction?.payment_status;
		const repeats = previous && isRepeat ? previous.repeats + 1 : 0;
		// The first repeat does not count, because reads can lag behind a genuine webhook.
		if (transaction) isMiss = repeats > 1;
		return { transaction, repeats };
	} finally {
		for (const [lane, permit] of entered) {
			if (isMiss) lane.releaseUsed(permit);
			else lane.release(permit);
		}
	}
}

function limitsUntil(answerBy: number): ClientOptions {
	const leftMs = Math.max(0, answerBy - clock.elapsed() - MOST_TRIES * LONGEST_LIMITER_WAIT_MS);
	const retryMs = Math.min(KEPT_FOR_RETRY_MS, leftMs / MOST_TRIES);
	const timeoutMs = Math.min(LONGEST_TRY_MS, Math.max(1, Math.floor(leftMs - retryMs)));
	const retry = { maxTries: MOST_TRIES, maxTotalMs: Math.max(0, leftMs - timeoutMs) };
	return { timeoutMs, retry, longestLimiterWaitMs: LONGEST_LIMITER_WAIT_MS };
}

/** Limits the reads that are in progress or showed nothing new, because anybody can send webhooks. */
const MISSES_WITHIN_MS = 20_000;
const MISSES_OF_SENDER = 8;
/** A flood from two or three addresses must leave room for other senders. */
const MISSES_OF_ALL = 4 * MISSES_OF_SENDER;
const MOST_IN_LINE = 256;

/** @internal */
export const lanes = processState(new BoundedMap<RateLimiter>({ most: 1_000 }));

/**
 * Finds the two limiters that a read passes: one for its sender, so that a flood from one address does not delay
 * others, and one for all senders. Seen transactions have their own, so that unknown hashes do not delay them.
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
