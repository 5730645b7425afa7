import type { Account } from '../api/account';
import { rateLimiterFor } from '../api/rateLimiter';
import { clock } from '../shared/clock';
import { processWide } from '../shared/processWide';
import { Turnstile } from '../shared/turnstile';

const MINUTE_MS = 60_000;
const A_TICK_MS = 50;
const MOST_AT_ONCE = 10;
const MOST_IN_LINE = 256;
/** Five times what a busy shop sells, and still a light load for the service. */
const MOST_A_MINUTE = 3_000;

/**
 * Limits the reads that notices cause: a trigger's address is open to anybody, and each notice costs a
 * request of the account. Reads that find their transaction are hardly limited, all others strictly.
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

	/**
	 * @param missesAMinute how many requests a minute may find nothing
	 * @param leftByTheService how many reads at once the service's own limit allows
	 */
	constructor(
		missesAMinute: number,
		private readonly leftByTheService: () => number = () => Infinity,
	) {
		this.misses = new Allowance(missesAMinute);
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
		this.misses.take(misses - 1);
		this.line.advance();
	}

	/** A read counts as a miss until it has found its transaction. */
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

/**
 * So many a minute: half of them at once, the other half evenly over the minute. So after an outage
 * the next one takes seconds and not a minute.
 */
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

	/** Takes so many, or what is left; a negative count gives back. */
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

/** Limits the reads of a lane of an account. */
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
