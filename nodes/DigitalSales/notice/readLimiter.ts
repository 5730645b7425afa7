import type { Account } from '../api/account';
import { rateLimiterFor } from '../api/rateLimiter';
import { clock } from '../shared/clock';
import { processWide } from '../shared/processWide';
import { Turnstile } from '../shared/turnstile';

const MINUTE_MS = 60_000;
const MOST_AT_ONCE = 10;
const MOST_IN_LINE = 256;
/** Five times what a busy shop sells, and still no load for a service. */
const MOST_A_MINUTE = 3_000;

/**
 * Bounds the reads that notices cause: anyone can post to a trigger, and each notice costs a request
 * of the account. Reads that find their transaction are hardly bounded; misses, whatever the service
 * answers, are few.
 */
export class ReadLimiter {
	private underWay = 0;
	private readonly line = new Turnstile({
		isClosed: () => this.isSpent(),
		delayMs: () => (this.hasRoom() ? 0 : Infinity),
		admit: () => this.start(),
	});
	private readonly reads = new Allowance(MOST_A_MINUTE);
	private readonly misses: Allowance;

	/** @param leftByTheService how many reads the service's own limit allows at once */
	constructor(
		missesAMinute: number,
		private readonly leftByTheService: () => number = () => Infinity,
	) {
		this.misses = new Allowance(missesAMinute);
	}

	/**
	 * Waits in a short line for a read, which must be ended by {@link leave}.
	 *
	 * @param startBy when it is too late to begin, on `clock.elapsed()`
	 * @returns whether the read is admitted
	 */
	async enter(startBy: number): Promise<boolean> {
		if (this.line.length >= MOST_IN_LINE) return false;
		// A caller that does not have to wait begins, however late it is.
		const latest = Math.max(startBy, clock.elapsed());
		return await this.line.enter({ latest }).then(
			() => true,
			() => false,
		);
	}

	/**
	 * Ends an admitted read.
	 *
	 * @param misses how many requests did not find the transaction; 0 if it was found
	 */
	leave(misses: number): void {
		this.underWay--;
		this.misses.take(misses - 1);
		this.line.advance();
	}

	/** Counts a read under way as a miss, which it may become. */
	private start(): void {
		this.underWay++;
		this.reads.take(1);
		this.misses.take(1);
	}

	private isSpent(): boolean {
		return !this.reads.isLeft() || (this.underWay === 0 && !this.hasRoom());
	}

	private hasRoom(): boolean {
		const most = Math.min(MOST_AT_ONCE, this.leftByTheService());
		return this.underWay < most && this.misses.isLeft();
	}
}

/** So many a minute: half at once, half spread evenly, so that an outage ends in seconds for all. */
class Allowance {
	private readonly most: number;
	private left: number;
	private countedAt = clock.elapsed();

	constructor(perMinute: number) {
		this.most = perMinute / 2;
		this.left = this.most;
	}

	isLeft(): boolean {
		return this.refilled() >= 1;
	}

	/** Takes so many, or what is left: no debt, so that the next one is never far. Below 0 gives back. */
	take(count: number): void {
		this.left = Math.min(this.most, Math.max(0, this.refilled() - count));
	}

	private refilled(): number {
		const now = clock.elapsed();
		const passed = now - this.countedAt;
		this.countedAt = now;
		this.left = Math.min(this.most, this.left + (passed * this.most) / MINUTE_MS);
		return this.left;
	}
}

/**
 * How many requests a minute may miss, for callers with the secret of the trigger, for transactions
 * that are known to exist, and for all others. Each lane has its own reads, so that no stranger can
 * keep a genuine notice waiting.
 */
const MISSES_A_MINUTE = {
	// In an outage even real transactions are not found.
	trusted: 600,
	seen: 600,
	// The only genuine miss is a notice that comes before its transaction can be read.
	unverified: 30,
} as const;

export type ReadLane = keyof typeof MISSES_A_MINUTE;

/** By account and lane. */
const limiters = processWide(new Map<string, ReadLimiter>());

/** The limiter of an account for the reads of a lane. */
export function readLimiterFor(account: Account, lane: ReadLane): ReadLimiter {
	const key = `${account.key} ${lane}`;
	let limiter = limiters.get(key);
	if (!limiter) {
		limiter = new ReadLimiter(MISSES_A_MINUTE[lane], () => leftByTheService(account, lane));
		limiters.set(key, limiter);
	}
	return limiter;
}

/** Unverified reads leave half of what the service allows to the other lanes. */
function leftByTheService(account: Account, lane: ReadLane): number {
	if (lane !== 'unverified') return Infinity;
	return rateLimiterFor(account, 'GET /transactions/{hash}').leftOfHalf();
}
