import type { IWebhookFunctions } from 'n8n-workflow';
import type { Account } from '../api/account';
import { Client } from '../api/client';
import type { Transaction } from '../api/schemas/transaction';
import { ServiceError } from '../api/outcome';
import { getTransaction, hasSeenTransaction } from '../api/transactions';
import { clock } from '../shared/clock';
import { readLimiterFor } from './readLimiter';

/**
 * What reading a transaction back gave; `requests` counts those that found nothing.
 */
export type ReadBack =
	| { outcome: 'found'; transaction: Transaction }
	| { outcome: 'unknown' | 'unreachable'; requests: number };

/** A sender waits about ten seconds; one quick retry has to fit in. */
export const ANSWER_WITHIN_MS = 9_500;

/** With less time left than this, a read would only waste a request. */
export const SHORTEST_READ_MS = 3_000;
const LONGEST_TRY_MS = 3_500;
const LONGEST_LIMITER_WAIT_MS = 1_000;
const MOST_TRIES = 2;
/** What the first try leaves for a second one, if it fails at once. */
const FOR_QUICK_RETRY_MS = 1_000;

/**
 * Reads the transaction of a notice back; `busy` if there are too many reads, now or in the last minute.
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
	const limiter = readLimiterFor(account, lane);
	if (!(await limiter.enter(answerBy - SHORTEST_READ_MS))) return { outcome: 'busy' };
	let misses = 1;
	try {
		const read = await readBack(context, account, hash, { answerBy });
		if (read.outcome !== 'found') misses = read.requests;
		// A hash in another spelling than the service's is a miss: each of its many spellings costs a read.
		else if (read.transaction.hash === hash) misses = 0;
		return read;
	} finally {
		limiter.leave(misses);
	}
}

/**
 * Reads a transaction from the service while a sender waits. Only a well-formed transaction with the
 * requested hash is believed; only a 404 says that there is none. Never throws.
 *
 * @param answerBy when the answer has to be there, on `clock.elapsed()`
 * @param longestTryMs with less time left, only a try that fails at once is repeated
 * @param leaves the part of the rate limit that it leaves to others
 */
export async function readBack(
	context: IWebhookFunctions,
	account: Account,
	hash: string,
	{
		answerBy,
		longestTryMs = LONGEST_TRY_MS,
		leaves,
	}: { answerBy: number; longestTryMs?: number; leaves?: number },
): Promise<ReadBack> {
	const forTries = Math.max(0, answerBy - clock.elapsed() - MOST_TRIES * LONGEST_LIMITER_WAIT_MS);
	const forRetry = Math.min(FOR_QUICK_RETRY_MS, forTries / MOST_TRIES);
	const timeoutMs = Math.min(longestTryMs, Math.max(1, Math.floor(forTries - forRetry)));
	const client = new Client(context, account, {
		timeoutMs,
		retry: { maxTries: MOST_TRIES, maxTotalMs: Math.max(0, forTries - timeoutMs) },
		longestLimiterWaitMs: LONGEST_LIMITER_WAIT_MS,
		leaves,
	});
	try {
		return { outcome: 'found', transaction: await getTransaction(client, hash) };
	} catch (error) {
		if (!(error instanceof ServiceError)) {
			return { outcome: 'unreachable', requests: 1 };
		}
		const { outcome, tries } = error;
		const isUnknown = outcome.status === 404 && !outcome.isWebPage;
		return { outcome: isUnknown ? 'unknown' : 'unreachable', requests: tries };
	}
}
