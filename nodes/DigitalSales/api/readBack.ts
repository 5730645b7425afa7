import type { IWebhookFunctions } from 'n8n-workflow';
import { BoundedMap, clock, processState } from '../shared';
import type { Account } from './account';
import { Client } from './client';
import { findRateLimiter, rateLimiterFor, TooLateError } from './rateLimiter';
import type { Transaction } from './schemas/transaction';
import { isUnknownHash, ServiceError } from './serviceError';
import { getTransaction } from './transactions';

/** Between two reads of a transaction. */
export const READ_AGAIN_MS = 3_000;
const LEFT_FOR_READ_MS = 3_000;
const LONGEST_TRY_MS = 6_000;
/** No webhook waits out the rate limiter's pause after a 429. */
const LONGEST_LIMITER_WAIT_MS = 1_000;

/** Reads a minute that find nothing, of hashes that nothing here knows. Anybody can send webhooks. */
const MOST_MISSES = 40;
/** After a 429, they use at most a quarter of the rate that the limiter has learned. */
const MISS_RATE_DIVISOR = 4;
const MOST_IN_LINE = 256;

/** Undefined if the platform does not know the hash. */
type Read = () => Promise<Transaction | undefined>;

interface Reading {
	/** On `clock.elapsed()`. */
	startedAt: number;
	result: ReturnType<Read>;
	/** What this read showed or, until it ends and if it fails, the one before. */
	shown?: Transaction;
}

/**
 * By account and hash.
 *
 * @internal
 */
export const readings = processState(new BoundedMap<Reading>({ most: 10_000, keptMs: 3_600_000 }));

interface Wish {
	/** When the read starts at the earliest, on `clock.elapsed()`. */
	earliest: number;
	/** When the sender of the webhook stops waiting. */
	answerBy: number;
	/** Whether the hash is known from elsewhere, so that it needs no permit of the unknown ones. */
	isKnown: boolean;
}

/** What the latest read showed that has not failed, within the hour. */
export function lastReadBack(account: Account, hash: string): Transaction | undefined {
	return readings.get(keyOf(account, hash))?.shown;
}

/**
 * Reads a transaction for a webhook. All webhooks about it share the reads, at any trigger of the account.
 *
 * @returns undefined if the platform does not know the hash
 * @throws ServiceError if the transaction cannot be read
 * @throws TooLateError if no time is left, or too many reads found nothing
 */
export async function readBack(
	context: IWebhookFunctions,
	account: Account,
	hash: string,
	wish: Wish,
): Promise<Transaction | undefined> {
	const isKnown = wish.isKnown || lastReadBack(account, hash) !== undefined;
	const read = async () => await readBefore(context, account, hash, wish.answerBy);
	const start = isKnown ? read : async () => await readUnknown(account, wish.answerBy, read);

	return await readSince(keyOf(account, hash), wish.earliest, start);
}

function keyOf(account: Account, hash: string): string {
	return `${account.key} ${hash}`;
}

/**
 * Returns what a read shows that starts at `earliest` or later. Callers share a running read.
 *
 * @internal
 */
export async function readSince(key: string, earliest: number, read: Read): ReturnType<Read> {
	for (;;) {
		const last = readings.get(key);
		if (last && last.startedAt >= earliest) return await last.result;

		const now = clock.elapsed();
		const dueAt = Math.max(now, earliest, (last?.startedAt ?? -Infinity) + READ_AGAIN_MS);
		if (dueAt === now) return await startReading(key, read);
		await clock.sleep(dueAt - now);
	}
}

async function startReading(key: string, read: Read): ReturnType<Read> {
	const shown = readings.get(key)?.shown;
	const reading: Reading = { startedAt: clock.elapsed(), result: read(), shown };
	readings.set(key, reading);

	reading.shown = await reading.result.catch((error: unknown) => {
		// The next caller reads at once.
		reading.startedAt = -Infinity;
		throw error;
	});
	return reading.shown;
}

async function readBefore(
	context: IWebhookFunctions,
	account: Account,
	hash: string,
	answerBy: number,
): Promise<Transaction | undefined> {
	const leftMs = answerBy - clock.elapsed();
	if (leftMs < LEFT_FOR_READ_MS) throw new TooLateError();

	const limits = limitsWithin(leftMs - 2 * LONGEST_LIMITER_WAIT_MS);
	const client = new Client(context, account, { ...limits, isUrgent: true });
	return await getTransaction(client, hash).catch((error: unknown) => {
		if (!(error instanceof ServiceError)) throw error;
		if (isUnknownHash(error.outcome)) return undefined;

		const isCutShort = error.outcome.kind === 'interrupted' && limits.timeoutMs < LONGEST_TRY_MS;
		if (isCutShort) throw new TooLateError();
		throw error;
	});
}

/** @param readMs for two tries, without their waits for a permit. The second starts only while it has time to end. */
function limitsWithin(readMs: number) {
	const timeoutMs = Math.min(LONGEST_TRY_MS, Math.ceil(Math.max(readMs / 2, readMs - 1_000)));
	const retry = { maxTries: 2, maxTotalMs: readMs - timeoutMs };
	return { timeoutMs, retry, longestLimiterWaitMs: LONGEST_LIMITER_WAIT_MS };
}

async function readUnknown(account: Account, answerBy: number, read: Read): ReturnType<Read> {
	const lane = findRateLimiter(`${account.key} unknown`);
	if (lane.waitingCount >= MOST_IN_LINE) throw new TooLateError();

	const allowed = rateLimiterFor(account, 'GET /transactions/{hash}').rateToShare();
	const rate = Math.min(MOST_MISSES, Math.ceil(allowed / MISS_RATE_DIVISOR));
	const permit = await lane.acquirePermit({ rate, latest: answerBy - LEFT_FOR_READ_MS });

	const reading = read();
	const countsAsMiss = await reading.then((transaction) => !transaction, isFailureCounted);
	if (countsAsMiss) lane.releaseUsed(permit);
	else lane.release(permit);
	return await reading;
}

/** Not a 429, which the client also reports if no permit came in time, nor a try that was cut short. */
function isFailureCounted(error: unknown): boolean {
	return error instanceof ServiceError && error.outcome.kind !== 'rateLimited';
}
