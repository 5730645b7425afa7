import sortedLastIndex from 'lodash/sortedLastIndex';
import { CanceledError, clock } from '../shared/clock';
import { processWide } from '../shared/processWide';
import { ENDPOINTS, type Endpoint, type RateLimitHeaders } from './outcome';

/** Permission for one request. */
export interface Permit {
	takenAt: number;
	/** The rate of this request, if it is not the account's own. */
	rate?: number;
	isUrgent?: boolean;
}

export interface TakeOptions extends Patience {
	/** Another rate than the account's own, for this request alone. */
	rate?: number;
	/** Whether it is one of the few that somebody waits for: counted, but not spread over time. */
	isUrgent?: boolean;
	/** The part of the rate that it leaves to requests that leave less; of a stated one, too, if none is documented. */
	leaves?: number;
}

/** Limits are stated per minute throughout the API document. */
const MINUTE_MS = 60_000;
/** A limit that starts again from zero so soon may be one per second: it is not taken over. */
const SOON_MS = 2_000;
/** A limit that the service does not state again was a mistake or no longer holds. */
const STATED_FOR_MS = 300_000;
const MOST_COUNTED = 10_000;

/** Between two requests, on average: no longer than a request may wait by default. */
const LONGEST_PACE_MS = 300_000;
/**
 * The rate limiter of one account at one endpoint, shared by all executions of a process: a sliding
 * window that allows bursts. A request counts from its answer on, the latest moment at which the
 * service can have counted it. Requests of one rate and urgency are served in the order in which they came.
 * Rates are numbers of requests in that window.
 *
 * Other processes spend from the same account: what the headers say was used beyond our own count
 * is entered as if we had sent it. Nobody says how many processes there are, so 429s tell what our share
 * of a documented rate is. Without a known rate nothing waits until a 429 teaches one.
 */
export class RateLimiter {
	private readonly lines = new Map<string, Turnstile<Permit>>();
	/** When the requests that still count were answered, the oldest first. */
	private answered: number[] = [];
	private readonly inFlight = new Set<Permit>();
	private closedUntil = 0;
	/** Of the documented limit. */
	private readonly share = new Share();
	/** The latest that was not urgent: while others have a share, ours is not sent in bursts. */
	private latest = { at: -Infinity, spread: 1 };
	private stated?: { limit: number; remaining?: number; at: number };
	/** Whether a 429 has shown that the endpoint has a limit, although none is documented. */
	private isTaught = false;
	/**
	 * Who goes first after a 429. Where no limit is documented, it may be about one request alone, which
	 * must not hold up all the others.
	 */
	readonly placeOfRefused: 'first' | 'second';
	/** How many may be in flight at once: a 429 narrows it to one, answers widen it. */
	private width = Infinity;
	private narrowedAt = -Infinity;

	/** @param rate the documented one; undefined if none is documented */
	constructor(
		private readonly rate: number | undefined,
		private readonly windowMs = MINUTE_MS,
	) {
		this.placeOfRefused = rate ? 'first' : 'second';
	}

	/** Whether a 429 keeps everything from being sent now. */
	get isClosed(): boolean {
		return clock.elapsed() < this.closedUntil;
	}

	/** How long a request of a rate would wait now: Infinity is until another one is answered. */
	delayMs({ rate: own, isUrgent, leaves = 0 }: TakeOptions = {}): number {
		const now = clock.elapsed();
		if (this.isClosed) return this.closedUntil - now;
		const isWide = now - this.narrowedAt >= STATED_FOR_MS || this.inFlight.size < this.width;
		if (!isWide && !(isUrgent && leaves === 0)) return Infinity;
		const rate = this.rateNow(own) ?? (leaves > 0 ? this.limitNow() : undefined);
		if (rate === undefined) return 0;
		const paced = this.latest.at + this.paceMs(rate) * this.latest.spread - now;
		if (paced > 0 && !isUrgent) return paced;
		const empty = isUrgent ? this.emptyMs(now) : 0;
		if (empty > 0) return empty;
		// Of the latest, as many as the rate allows may lie within its window.
		const most = Math.ceil(rate * (1 - leaves));
		const tooMany = this.answered.length + this.inFlight.size - most;
		if (tooMany < 0) return 0;
		return Math.max(0, (this.answered[tooMany] ?? Infinity) + this.windowMs - now);
	}

	/** How long others leave nothing of the limit, where our own count does not include them. */
	private emptyMs(now: number): number {
		const { stated } = this;
		if (stated?.remaining === undefined || this.share.now() >= 1) return 0;
		const isEmpty = this.spentSince(stated.at) >= stated.remaining;
		return isEmpty ? stated.at + this.windowMs - now : 0;
	}

	/**
	 * Waits for a permit, which must be given back by {@link settle}, {@link settleLimited} or {@link giveBack}.
	 *
	 * @throws CanceledError if the execution is canceled during the wait
	 * @throws TooLateError as soon as it is certain that the permit cannot be had in time
	 */
	async take(options: TakeOptions = {}): Promise<Permit> {
		const { rate, isUrgent, leaves, signal } = options;
		const key = JSON.stringify({ rate, isUrgent, leaves });
		const line = this.lines.get(key) ?? this.newLine({ rate, isUrgent, leaves });
		this.lines.set(key, line);
		const permit = await line.enter(options).finally(() => {
			// By now another line may have taken its place.
			if (line.length === 0 && this.lines.get(key) === line) this.lines.delete(key);
		});
		if (!signal?.aborted) return permit;
		// Granted while aborting.
		this.giveBack(permit);
		throw new CanceledError();
	}

	get waiting(): number {
		return [...this.lines.values()].reduce((sum, { length }) => sum + length, 0);
	}

	/** Takes back a permit for what was not sent. */
	giveBack(permit: Permit): void {
		this.inFlight.delete(permit);
		this.advance();
	}

	/**
	 * Enters the end of a request, other than a 429.
	 *
	 * @param headers undefined if the service itself did not answer
	 */
	settle(permit: Permit, headers?: RateLimitHeaders): void {
		this.answered.push(clock.elapsed());
		this.inFlight.delete(permit);
		if (headers) {
			if (permit.takenAt > this.narrowedAt) this.width += 1 / this.width;
			this.correct(permit, headers);
		}
		this.answered.splice(0, this.answered.length - MOST_COUNTED);
		this.advance();
	}

	/** Enters a 429: nothing is sent for the given time, and the stated rate is learned. */
	settleLimited(permit: Permit, { limit, resetMs }: RateLimitHeaders, closedMs: number): void {
		const now = clock.elapsed();
		this.closedUntil = Math.max(this.closedUntil, now + closedMs);
		// An urgent one tells what others leave over, not whether our share is too large.
		if (this.rate && !permit.isUrgent) this.share.reduce(permit.takenAt);
		this.width = 1;
		this.narrowedAt = now;
		if (limit !== undefined && !isSoon(resetMs)) {
			// What was sent before counts no more: the service says how long to wait for that.
			if (this.rate === undefined && !this.isTaught) this.answered = [];
			this.isTaught = true;
			this.stated = { limit: Math.max(1, limit), at: now };
		}
		this.inFlight.delete(permit);
		this.advance();
	}

	private limitNow(): number | undefined {
		const isOver = clock.elapsed() - (this.stated?.at ?? -Infinity) >= STATED_FOR_MS;
		return isOver ? undefined : this.stated?.limit;
	}

	/** The rate that counts now: what the service states lowers it and never raises it. */
	private rateNow(own: number | undefined): number | undefined {
		const limit = this.limitNow();
		const wanted = own ?? this.rate;
		if (wanted === undefined) return this.isTaught ? limit : undefined;
		return Math.min(wanted, limit ?? Infinity);
	}

	/** How long is between two requests, on average, for our share of a rate. */
	private paceMs(rate: number): number {
		const share = this.share.now();
		return share >= 1 ? 0 : Math.min(LONGEST_PACE_MS, this.windowMs / (rate * share));
	}

	private newLine(options: TakeOptions): Turnstile<Permit> {
		return new Turnstile<Permit>({
			delayMs: () => this.delayMs(options),
			wake: () => this.advance(),
			admit: () => {
				const now = clock.elapsed();
				const { rate, isUrgent } = options;
				const permit = { takenAt: now, rate, isUrgent };
				// An urgent one comes on top: many of them must not hold up the others.
				if (!isUrgent) this.latest = { at: now, spread: 0.75 + clock.random() / 2 };
				this.inFlight.add(permit);
				return permit;
			},
		});
	}

	/** One of each line in turn: the callers of one rate must not wait for all of another. */
	private advance(): void {
		let isMoving = true;
		while (isMoving) {
			isMoving = false;
			for (const [key, line] of [...this.lines]) {
				if (!line.letOneIn()) continue;
				isMoving = true;
				// Last now, so that the next permit is for another one.
				this.lines.delete(key);
				this.lines.set(key, line);
			}
		}
	}

	/**
	 * Follows the service's count for all who share the account if that leaves us less than our own
	 * rate. Compared with our window of when the request was sent, since the service counted before it
	 * answered.
	 */
	private correct({ takenAt, rate: own }: Permit, headers: RateLimitHeaders): void {
		const { limit = 0, remaining, resetMs } = headers;
		if (limit < 1 || isSoon(resetMs)) return;
		this.stated = { limit, remaining, at: clock.elapsed() };
		// Our share already allows for what others spend.
		if (remaining === undefined || this.share.now() < 1) return;
		const spent = this.spentSince(takenAt - this.windowMs);
		const spentByOthers = (this.rateNow(own) ?? limit) - remaining - spent;
		for (let nth = 0; nth < Math.min(spentByOthers, MOST_COUNTED); nth++) {
			this.answered.push(clock.elapsed());
		}
	}

	/** How many requests count that were answered after a moment, those in flight included. */
	private spentSince(moment: number): number {
		return this.answered.length - sortedLastIndex(this.answered, moment) + this.inFlight.size;
	}
}

function isSoon(resetMs = Infinity): boolean {
	return resetMs <= SOON_MS;
}

/** By account and what is limited. */
const rateLimiters = processWide(new Map<string, RateLimiter>());

/** The rate limiter of an account at an endpoint, at the documented rate (API document, Limits). */
export function rateLimiterFor(account: { key: string }, endpoint: Endpoint): RateLimiter {
	return limiterOf(account, endpoint, () => new RateLimiter(ENDPOINTS[endpoint].requestsPerMinute));
}

/** What limits something of an account, made when it is first asked for. */
export function limiterOf(
	account: { key: string },
	what: string,
	make: () => RateLimiter,
): RateLimiter {
	const key = `${account.key} ${what}`;
	const limiter = rateLimiters.get(key) ?? make();
	rateLimiters.set(key, limiter);
	return limiter;
}

const LEFT_AFTER_429 = 0.93;
/** A single 429 may be an accident: from here it leaves the whole limit. */
const LARGEST = 1 / LEFT_AFTER_429;
const SMALLEST = 0.01;
/** Added to the square root of the share, so small shares grow relatively faster and all converge. */
const GROWTH_PER_MINUTE = 0.011;
/** 429s this close together carry no new information. */
const SAME_NEWS_MS = 20_000;

/**
 * The share of a limit that a process uses, where nobody says how many others use it: a 429 reduces
 * it, and it grows with time. Processes that all do so come to equal shares, as connections of TCP do.
 */
class Share {
	/** What a 429 reduced it to last; undefined before the first. */
	private reduced?: { to: number; at: number };

	/** The whole limit is 1; somewhat more while no 429 has come for long. */
	now(): number {
		if (!this.reduced) return LARGEST;
		const { to, at } = this.reduced;
		const minutes = (clock.elapsed() - at) / MINUTE_MS;
		return Math.min(LARGEST, (Math.sqrt(to) + minutes * GROWTH_PER_MINUTE) ** 2);
	}

	/** Enters a 429 of a request that was sent at a moment. */
	reduce(sentAt: number): void {
		if (sentAt < (this.reduced?.at ?? -Infinity) + SAME_NEWS_MS) return;
		this.reduced = { to: Math.max(SMALLEST, this.now() * LEFT_AFTER_429), at: clock.elapsed() };
	}
}

/** What a {@link Turnstile} asks its owner. */
export interface Gate<T> {
	/** How long the next caller has to wait at least: Infinity is until the owner calls {@link Turnstile.letOneIn}. */
	delayMs: () => number;
	/** Called when the first in line has waited long enough; calls {@link Turnstile.letOneIn}. */
	wake: () => void;
	/** Lets one caller in; called only if there is no delay. */
	admit: () => T;
}

/** How a caller waits. */
export interface Patience {
	/** When it is too late to begin, on `clock.elapsed()`. */
	latest?: number;
	/** Cancels waiting at once. */
	signal?: AbortSignal;
	/** Where it goes if it was let in before: before all who were not, or before all but the first of them. */
	returnsTo?: 'first' | 'second';
	/** Called before a wait with how long it takes at least. */
	onWait?: (delayMs: number) => void;
}

/** Thrown by {@link Turnstile.enter} when a caller cannot be let in in time. */
export class TooLateError extends Error {
	constructor() {
		super('The turn did not come in time');
	}
}

interface Waiting<T> extends Patience {
	latest: number;
	resolve: (admitted: T) => void;
	reject: (error: Error) => void;
}

const LONGEST_SLEEP_MS = 1_000;

/** A line of callers, let in one by one in the order in which they came; who is back goes first. */
export class Turnstile<T> {
	private line: Array<Waiting<T>> = [];
	/** When the first in line may ask again. */
	private alarmAt = Infinity;
	private isTicking = false;

	constructor(private readonly gate: Gate<T>) {}

	/** How many callers wait. */
	get length(): number {
		return this.line.length;
	}

	/**
	 * Waits to be let in.
	 *
	 * @throws CanceledError when the signal is aborted
	 * @throws TooLateError as soon as it is certain that the caller cannot be let in in time
	 */
	async enter({ latest = Infinity, signal, returnsTo, onWait }: Patience = {}): Promise<T> {
		if (signal?.aborted) throw new CanceledError();
		const delayMs = this.gate.delayMs();
		if (this.isTooLate(latest, delayMs)) throw new TooLateError();
		if (delayMs === 0 && this.line.length === 0) return this.gate.admit();
		// Queued callers are told nothing before they are first, so report now.
		if (delayMs > 0) onWait?.(delayMs);
		const admitted = this.wait({ latest, signal, returnsTo, onWait });
		if (this.line.length === 1) this.setAlarm(delayMs);
		return await admitted;
	}

	/** Rejects who is too late, and lets the first in, if that need not wait. Whether one was let in. */
	letOneIn(): boolean {
		const delayMs = this.gate.delayMs();
		const tooLate = this.line.filter(({ latest }) => this.isTooLate(latest, delayMs));
		this.line = this.line.filter((one) => !tooLate.includes(one));
		for (const { reject } of tooLate) reject(new TooLateError());
		const [first] = this.line;
		if (!first) return false;
		if (delayMs > 0) {
			first.onWait?.(delayMs);
			this.setAlarm(delayMs);
			return false;
		}
		this.line.shift();
		first.resolve(this.gate.admit());
		return true;
	}

	private async wait(patience: Patience & { latest: number }): Promise<T> {
		const { latest, signal } = patience;
		const leftMs = Math.max(0, Math.ceil(latest - clock.elapsed()));
		const late = leftMs === Infinity ? undefined : AbortSignal.timeout(leftMs);
		let leave: () => void = () => undefined;
		try {
			return await new Promise<T>((resolve, reject) => {
				const waiting = { ...patience, resolve, reject };
				leave = () => {
					// At once, so that it is not let in after it has left.
					this.line = this.line.filter((one) => one !== waiting);
					reject(signal?.aborted ? new CanceledError() : new TooLateError());
				};
				const firstNew = this.line.findIndex((other) => !other.returnsTo);
				const least = patience.returnsTo === 'second' ? firstNew + 1 : 0;
				const place = this.line.findIndex(
					(other, nth) => patience.returnsTo && !other.returnsTo && nth >= least,
				);
				this.line.splice(place < 0 ? this.line.length : place, 0, waiting);
				signal?.addEventListener('abort', leave);
				late?.addEventListener('abort', leave);
			});
		} finally {
			signal?.removeEventListener('abort', leave);
			late?.removeEventListener('abort', leave);
		}
	}

	private setAlarm(delayMs: number): void {
		this.alarmAt = clock.elapsed() + delayMs;
		if (!this.isTicking) void this.tick();
	}

	/** Sleeps in slices, so that a line that all have left leaves no long timer behind. */
	private async tick(): Promise<void> {
		this.isTicking = true;
		while (this.line.length > 0 && this.alarmAt < Infinity) {
			const left = this.alarmAt - clock.elapsed();
			if (left > 0) await clock.sleep(Math.min(left, LONGEST_SLEEP_MS));
			else this.gate.wake();
		}
		this.isTicking = false;
	}

	private isTooLate(latest: number, delayMs: number): boolean {
		return clock.elapsed() + (delayMs === Infinity ? 0 : delayMs) > latest;
	}
}
