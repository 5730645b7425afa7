import type { IWebhookFunctions } from 'n8n-workflow';
import { BoundedMap, clock, processState } from '../shared';
import type { Account } from './account';
import { Client, type ClientOptions } from './client';
import { findRateLimiter } from './rateLimiter';
import type { Transaction } from './schemas/transaction';
import { ServiceError } from './serviceError';
import { getTransaction } from './transactions';

/** Between two reads of a transaction. */
export const READ_AGAIN_MS = 3_000;
/** With less time left, a read does not start. */
const LEFT_FOR_READ_MS = 3_000;
const LONGEST_TRY_MS = 6_000;
/** For the permit, or a second try. */
const LEFT_FOR_START_MS = 1_000;

/** Reads a minute that show no transaction, also because they fail, of unknown hashes. Anybody can send webhooks. */
const MOST_MISSES = 40;
const MOST_IN_LINE = 256;

/** What a webhook asks to be read. */
interface ReadBack {
	context: IWebhookFunctions;
	account: Account;
	hash: string;
	/** When the read starts at the earliest, on `clock.elapsed()`. */
	earliest: number;
	/** When the sender of the webhook stops waiting, on `clock.elapsed()`. */
	answerBy: number;
	/** Whether this process has charged the hash. Any other may be made up, so its reads are limited. */
	isKnown: boolean;
}

export class TooLateError extends Error {}

/** Undefined if the platform does not know the hash. */
type ReadResult = Promise<Transaction | undefined>;

interface Reading {
	/** On `clock.elapsed()`. */
	startedAt: number;
	result: ReadResult;
	/** What this read showed or, until it ends and if it fails, the one before. */
	shown?: Transaction;
}

/**
 * By account and hash.
 *
 * @internal
 */
export const readings = processState(new BoundedMap<Reading>({ most: 10_000, keptMs: 3_600_000 }));

function keyOf({ key }: Account, hash: string): string {
	return `${key} ${hash}`;
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
export async function readBack(request: ReadBack): ReadResult {
	const { account, hash, earliest, isKnown } = request;

	return await readSince(keyOf(account, hash), earliest, async () => {
		if (isKnown || lastReadBack(account, hash)) return await read(request, 'urgent');
		return await readUnknown(request);
	});
}

/**
 * Returns what a read shows that starts at `earliest` or later. Callers share a running read.
 *
 * @internal
 */
export async function readSince(
	key: string,
	earliest: number,
	start: () => ReadResult,
): ReadResult {
	for (;;) {
		const last = readings.get(key);
		if (last && last.startedAt >= earliest) return await last.result;

		const dueAt = Math.max(earliest, (last?.startedAt ?? -Infinity) + READ_AGAIN_MS);
		const waitMs = dueAt - clock.elapsed();
		if (waitMs > 0) await clock.sleep(waitMs);
		else return await startReading(key, start);
	}
}

async function startReading(key: string, start: () => ReadResult): ReadResult {
	const shown = readings.get(key)?.shown;
	const reading: Reading = { startedAt: clock.elapsed(), result: start(), shown };
	readings.set(key, reading);

	reading.shown = await reading.result.catch((error: unknown) => {
		// The next caller reads at once.
		reading.startedAt = -Infinity;
		throw error;
	});
	return reading.shown;
}

/** @throws TooLateError if too many such reads have found nothing in the last minute */
async function readUnknown(request: ReadBack): ReadResult {
	const { account, answerBy } = request;
	const limiter = findRateLimiter(`${account.key} unknown`, MOST_MISSES);
	if (limiter.waitingCount >= MOST_IN_LINE) throw new TooLateError();
	const hasPermit = await limiter.acquirePermit({ latest: answerBy - LEFT_FOR_READ_MS });
	if (!hasPermit) throw new TooLateError();

	const reading = read(request, 'background');
	const isMiss = await reading.then(
		(transaction) => transaction === undefined,
		(error: unknown) => !hadNoTurn(error),
	);

	if (isMiss) limiter.releaseUsed();
	else limiter.release();
	return await reading;
}

/** Whether the rate limit or the time allowed no read. */
function hadNoTurn(error: unknown): boolean {
	if (error instanceof ServiceError) return error.answer.kind === 'rateLimited';
	return error instanceof TooLateError;
}

/** @throws TooLateError if too little time is left, because the read may have waited for another */
async function read(
	{ context, account, hash, answerBy }: ReadBack,
	priority: ClientOptions['priority'],
): ReadResult {
	const leftMs = answerBy - clock.elapsed();
	if (leftMs < LEFT_FOR_READ_MS) throw new TooLateError();

	const timeoutMs = Math.min(LONGEST_TRY_MS, leftMs - LEFT_FOR_START_MS);
	const limits = { maxTries: 2, startWithinMs: leftMs - timeoutMs, timeoutMs };
	const client = new Client(context, account, { ...limits, priority });

	return await getTransaction(client, hash).catch((error: unknown) => {
		if (error instanceof ServiceError && error.isHashUnknown) return undefined;
		throw error;
	});
}
