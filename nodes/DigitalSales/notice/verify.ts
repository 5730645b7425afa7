import clamp from 'lodash/clamp';
import type { IWebhookFunctions } from 'n8n-workflow';
import { CREDENTIAL_NAME, readAccount, type Account } from '../api/account';
import { Client } from '../api/client';
import { ServiceError } from '../api/outcome';
import { rateLimiterFor } from '../api/rateLimiter';
import type { Transaction } from '../api/schemas/transaction';
import { getTransaction, hasSeenTransaction } from '../api/transactions';
import { clock } from '../shared/clock';
import { processWide } from '../shared/processWide';
import { PromiseCache } from '../shared/promiseCache';
import { Turnstile } from '../shared/turnstile';

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

/** @internal */
export const accounts = processWide(new PromiseCache<Account>({ most: 100, keptMs: 5_000 }));

/**
 * The account of a node that receives notices, kept for a few seconds: fetching and decrypting the
 * credential for every request is most of the work in a burst.
 */
export async function accountOf(context: IWebhookFunctions): Promise<Account> {
	const { id, credentials } = context.getNode();
	const key = `${context.getWorkflow().id} ${id} ${credentials?.[CREDENTIAL_NAME]?.id}`;
	return await accounts.get(key, async () =>
		readAccount(await context.getCredentials(CREDENTIAL_NAME)),
	);
}

const MINUTE_MS = 60_000;
const A_TICK_MS = 50;
const MOST_AT_ONCE = 10;
const MOST_IN_LINE = 256;

/**
 * Limits the reads that notices cause: a trigger's address is open to anybody, and each notice costs a
 * request of the account. Those that find their transaction are free. Of the others so many a minute
 * are allowed, half of them at once and the other half evenly over the minute: so after an outage the
 * next one takes seconds.
 *
 * @internal
 */
export class ReadLimiter {
	private underWay = 0;
	private readonly most: number;
	private left: number;
	private countedAt = clock.elapsed();
	private readonly line = new Turnstile({
		isClosed: () => this.underWay === 0 && !this.hasRoom(),
		delayMs: () => (this.hasRoom() ? 0 : Infinity),
		admit: () => this.start(),
	});

	/**
	 * @param missesAMinute how many requests a minute may find nothing
	 * @param leftByTheService how many reads at once the service's own limit allows
	 */
	constructor(
		missesAMinute: number,
		private readonly leftByTheService: () => number = () => Infinity,
	) {
		this.most = this.left = missesAMinute / 2;
	}

	/**
	 * Asks for a read, and queues if too many are under way. An admitted read must {@link leave}.
	 *
	 * @param startBy when it is too late to begin, on `clock.elapsed()`
	 * @returns whether the read is admitted
	 */
	async enter(startBy: number): Promise<boolean> {
		if (this.line.length >= MOST_IN_LINE) return false;
		// A caller that need not queue begins, however late it is; the clock may tick meanwhile.
		const latest = Math.max(startBy, clock.elapsed() + A_TICK_MS);
		return await this.line.enter({ latest }).then(
			() => true,
			() => false,
		);
	}

	/** Ends an admitted read, of which so many requests did not find the transaction. */
	leave(misses: number): void {
		this.underWay--;
		this.take(misses - 1);
		this.line.advance();
	}

	/** A read counts as a miss until it has found its transaction. */
	private start(): void {
		this.underWay++;
		this.take(1);
	}

	private hasRoom(): boolean {
		this.take(0);
		return this.left >= 1 && this.underWay < Math.min(MOST_AT_ONCE, this.leftByTheService());
	}

	/** Takes so many of what is left by now; a negative count gives back. */
	private take(count: number): void {
		const now = clock.elapsed();
		const refilled = this.left + ((now - this.countedAt) * this.most) / MINUTE_MS;
		this.countedAt = now;
		this.left = clamp(Math.min(this.most, refilled) - count, 0, this.most);
	}
}

/** By account and lane. */
const limiters = processWide(new Map<string, ReadLimiter>());

/** How many requests a minute may find nothing. */
const MISSES_A_MINUTE = {
	/** About a transaction that this process has seen; in an outage even genuine ones find nothing. */
	seen: 600,
	/** All others: the only genuine misses are notices that arrive before their transaction. */
	unverified: 30,
};

/** Why a notice may cause a read. Each lane is limited apart, so that no flood delays a genuine notice. */
type ReadLane = keyof typeof MISSES_A_MINUTE;

/**
 * Limits the reads of a lane of an account.
 *
 * @internal
 */
export function readLimiterFor(account: Account, lane: ReadLane): ReadLimiter {
	const key = `${account.key} ${lane}`;
	// Unverified notices leave half of what the service allows to the others.
	const leftByTheService = (): number =>
		lane === 'unverified'
			? rateLimiterFor(account, 'GET /transactions/{hash}').leftOfHalf()
			: Infinity;
	const limiter = limiters.get(key) ?? new ReadLimiter(MISSES_A_MINUTE[lane], leftByTheService);
	limiters.set(key, limiter);
	return limiter;
}
