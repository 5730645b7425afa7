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
 * Bounds the reads that notices cause: the address of a trigger is open to anybody, and each notice
 * costs a request of the account. Reads that find their transaction are work and hardly bounded;
 * those that do not, whatever the service answers, are few. Callers with the secret of a trigger,
 * transactions known to exist and all others have one of these each, so that no stranger can keep a
 * genuine notice waiting.
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
	 * @param leftByTheService how many reads there may be at once, as far as the service's own limit goes
	 */
	constructor(
		missesAMinute: number,
		private readonly leftByTheService: () => number = () => Infinity,
	) {
		this.misses = new Allowance(missesAMinute);
	}

	/**
	 * Asks for a read, and waits in a short line if too many are under way. An admitted read must
	 * be followed by one {@link leave}.
	 *
	 * @param startBy when it is too late to begin, on the clock of the package
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

	/** Each read under way may turn out to find nothing, so it is counted among those until it has. */
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
 * So many a minute: half of them at once, the other half evenly over the minute. If all were
 * used up in an outage, the next one is there seconds after it and not a minute.
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

	/**
	 * Takes so many, or what there is: no debt, so that the next one is never far.
	 *
	 * @param count below 0 it is given back
	 */
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

/** On whose word a transaction is read back; each has reads of its own. */
export type ReadLane =
	/** Of a caller with the secret of the trigger. */
	| 'trusted'
	/** About a transaction that is known to exist. */
	| 'known'
	/** All others. */
	| 'strangers';

/** How many requests a minute may find nothing. */
const MISSES_A_MINUTE: Readonly<Record<ReadLane, number>> = {
	// In an outage nothing is found of what is real, either.
	trusted: 600,
	known: 600,
	// Only a notice that comes before its transaction is real and finds nothing.
	strangers: 30,
};

/** What notices may have the account read. */
export function readLimiterFor(account: Account, lane: ReadLane): ReadLimiter {
	const key = `${account.key} ${lane}`;
	let limiter = limiters.get(key);
	if (!limiter) {
		limiter = new ReadLimiter(MISSES_A_MINUTE[lane], () => leftByTheService(account, lane));
		limiters.set(key, limiter);
	}
	return limiter;
}

/** Strangers leave half of what the service allows to those who are none. */
function leftByTheService(account: Account, lane: ReadLane): number {
	if (lane !== 'strangers') return Infinity;
	return rateLimiterFor(account, 'GET /transactions/{hash}').leftOfHalf();
}
