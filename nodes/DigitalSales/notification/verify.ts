import type { IWebhookFunctions } from 'n8n-workflow';
import {
	type Account,
	Client,
	findRateLimiter,
	getTransaction,
	loadRecentAccount,
	type Permit,
	type PermitOptions,
	type RateLimiter,
	rateLimiterFor,
	ServiceError,
	type Transaction,
} from '../api';
import { isChargeKnown } from '../idempotency';
import { senderAddress } from '../n8n';
import { clock } from '../shared';
import { Declined, REPLIES } from './reply';

export const LEFT_FOR_READ_MS = 3_000;
const LONGEST_TRY_MS = 6_000;
/** No webhook waits out the rate limiter's pause after a 429. */
const LONGEST_LIMITER_WAIT_MS = 1_000;
const MOST_TRIES = 2;
const KEPT_FOR_RETRY_MS = 1_000;

export interface ReadResult {
	/** Undefined if the service does not know the hash. */
	transaction?: Transaction;
	/** How many earlier reads in a row showed the same status. */
	repeats: number;
	/** On `clock.elapsed()`: when the first of these reads started. */
	shownSince: number;
	/** The limiters that the read passed (see `findLanes`). */
	entered: Array<[RateLimiter, Permit]>;
}

/**
 * @param answerBy on `clock.elapsed()`
 * @throws ServiceError if the transaction cannot be read
 * @throws Declined if too many reads showed nothing new
 */
export async function readBackTransaction(
	context: IWebhookFunctions,
	hash: string,
	{ answerBy, previous }: { answerBy: number; previous?: ReadResult },
): Promise<ReadResult> {
	const startedAt = clock.elapsed();
	const account = await loadRecentAccount(context);
	const isKnown = previous?.transaction !== undefined || isChargeKnown(hash);
	const entered: ReadResult['entered'] = [];
	// The permits of a last read that did not find this hash do not count, because a new sale may appear late.
	const permitsOfUnknown = previous && !previous.transaction ? previous.entered : [];
	/** A failed read, an unknown hash, or a status repeated twice. */
	let isMiss = false;
	try {
		const latest = answerBy - LEFT_FOR_READ_MS;
		for (const [lane, rate] of findLanes(context, account, isKnown)) {
			const own = permitsOfUnknown.filter(([limiter]) => limiter === lane).length;
			entered.push([lane, await enterLane(lane, { rate: rate + own, latest })]);
		}
		const limits = limitsUntil(answerBy);
		const client = new Client(context, account, { ...limits, isUrgent: true });
		const transaction = await getTransaction(client, hash).catch((error: unknown) => {
			const outcome = error instanceof ServiceError ? error.outcome : undefined;
			// A 429, no permit in time, or a try that was cut short says nothing about the hash.
			const isCutShort = outcome?.kind === 'interrupted' && limits.timeoutMs < LONGEST_TRY_MS;
			isMiss = outcome?.kind !== 'rateLimited' && !isCutShort;
			if (outcome?.status === 404 && !outcome.isWebPage) return undefined;
			throw error;
		});
		const isRepeat = previous?.transaction?.payment_status === transaction?.payment_status;
		const repeats = previous && isRepeat ? previous.repeats + 1 : 0;
		const shownSince = previous && isRepeat ? previous.shownSince : startedAt;
		// The first repeat is no miss, because reads can lag behind a genuine webhook.
		if (transaction) {
			isMiss = repeats > 1;
			for (const [lane, permit] of permitsOfUnknown) lane.release(permit);
		}
		return { transaction, repeats, shownSince, entered };
	} finally {
		for (const [lane, permit] of entered) {
			if (isMiss) lane.releaseUsed(permit);
			else lane.release(permit);
		}
	}
}

function limitsUntil(answerBy: number) {
	const leftMs = Math.max(0, answerBy - clock.elapsed() - MOST_TRIES * LONGEST_LIMITER_WAIT_MS);
	const retryMs = Math.min(KEPT_FOR_RETRY_MS, leftMs / MOST_TRIES);
	const timeoutMs = Math.min(LONGEST_TRY_MS, Math.max(1, Math.floor(leftMs - retryMs)));
	const retry = { maxTries: MOST_TRIES, maxTotalMs: Math.max(0, leftMs - timeoutMs) };
	return { timeoutMs, retry, longestLimiterWaitMs: LONGEST_LIMITER_WAIT_MS };
}

/** Per minute. Reads that are in progress or showed nothing new are limited, because anybody can send webhooks. */
const MISSES_OF_SENDER = 24;
/** After a 429, misses of a sender use an eighth of the rate that the limiter has learned. */
const MISS_RATE_DIVISOR = 8;
/** All senders together may miss as often as four senders, so two or three floods leave room. */
const SENDERS_IN_ALL = 4;
const MOST_IN_LINE = 256;

/**
 * Finds the two limiters that a read passes, and their limits: one for its sender, so that a flood from one address
 * does not delay others, and one for all senders. Known transactions have their own, so that unknown hashes do not delay
 * them.
 */
function findLanes(
	context: IWebhookFunctions,
	account: Account,
	isKnown: boolean,
): Array<[RateLimiter, number]> {
	const all = `${account.key} ${isKnown ? 'known' : 'unknown'}`;
	const sender = `${all} ${senderAddress(context)}`;
	const allowedRate = rateLimiterFor(account, 'GET /transactions/{hash}').rateToShare();
	const misses = Math.min(MISSES_OF_SENDER, Math.ceil(allowedRate / MISS_RATE_DIVISOR));
	return [
		[findRateLimiter(sender), misses],
		[findRateLimiter(all), SENDERS_IN_ALL * misses],
	];
}

async function enterLane(lane: RateLimiter, options: PermitOptions): Promise<Permit> {
	if (lane.waitingCount >= MOST_IN_LINE) throw new Declined(REPLIES.busy);
	return await lane.acquirePermit(options).catch(() => {
		throw new Declined(REPLIES.busy);
	});
}
