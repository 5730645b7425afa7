import type { IWebhookFunctions } from 'n8n-workflow';
import { BoundedMap, clock, processState } from '../shared';
import type { Account } from './account';
import { Client, type ClientOptions } from './client';
import { findRateLimiter } from './rateLimiter';
import type { Transaction } from './schemas/transaction';
import { isUnknownHash, ServiceError } from './serviceError';
import { getTransaction } from './transactions';

/** Between two reads of a transaction. */
export const READ_AGAIN_MS = 3_000;
const LEFT_FOR_READ_MS = 3_000;
const LONGEST_TRY_MS = 6_000;
/** For the permit, or a second try. */
const LEFT_FOR_START_MS = 1_000;

/** Reads a minute that find nothing, of hashes that nothing here knows. Anybody can send webhooks. */
const MOST_MISSES = 40;
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

export class TooLateError extends Error {}

/** What the latest read showed that has not failed, within the hour. */
export function lastReadBack(account: Account, hash: string): Transaction | undefined {
	return readings.get(keyOf(account, hash))?.shown;
}

function keyOf({ key }: Account, hash: string): string {
	return `${key} ${hash}`;
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
	{ earliest, answerBy, isKnown }: Wish,
): Promise<Transaction | undefined> {
	const read = async (priority: ClientOptions['priority']) => {
		// Now, because the read may have waited for another.
		const client = new Client(context, account, { ...limitsUntil(answerBy), priority });
		return await getTransaction(client, hash).catch((error: unknown) => {
			if (error instanceof ServiceError && isUnknownHash(error.answer)) return undefined;
			throw error;
		});
	};

	return await readSince(keyOf(account, hash), earliest, async () => {
		if (isKnown || lastReadBack(account, hash)) return await read('urgent');
		return await readUnknown(account, answerBy, async () => await read('background'));
	});
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

		const dueAt = Math.max(earliest, (last?.startedAt ?? -Infinity) + READ_AGAIN_MS);
		const waitMs = dueAt - clock.elapsed();
		if (waitMs <= 0) return await startReading(key, read);
		await clock.sleep(waitMs);
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

/** @throws TooLateError */
function limitsUntil(answerBy: number): ClientOptions {
	const leftMs = answerBy - clock.elapsed();
	if (leftMs < LEFT_FOR_READ_MS) throw new TooLateError();

	const timeoutMs = Math.min(LONGEST_TRY_MS, leftMs - LEFT_FOR_START_MS);
	return { maxTries: 2, startWithinMs: leftMs - timeoutMs, timeoutMs };
}

async function readUnknown(account: Account, answerBy: number, read: Read): ReturnType<Read> {
	const lane = findRateLimiter(`${account.key} unknown`, MOST_MISSES);
	if (lane.waitingCount >= MOST_IN_LINE) throw new TooLateError();
	const hasPermit = await lane.acquirePermit({ latest: answerBy - LEFT_FOR_READ_MS });
	if (!hasPermit) throw new TooLateError();

	const reading = read();
	const isMiss = await reading.then(
		(transaction) => transaction === undefined,
		(error: unknown) => !wasRefused(error),
	);

	if (isMiss) lane.releaseUsed();
	else lane.release();
	return await reading;
}

/** Whether the rate limit or the time allowed no read. */
function wasRefused(error: unknown): boolean {
	if (error instanceof ServiceError) return error.answer.kind === 'rateLimited';
	return error instanceof TooLateError;
}
