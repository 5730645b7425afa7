import sortBy from 'lodash/sortBy';
import { CanceledError, clock } from '../shared/clock';
import { processWide } from '../shared/processWide';
import { ENDPOINTS, type Endpoint } from './outcome';

/** Permission for one request. */
export interface Permit {
	takenAt: number;
	isUrgent: boolean;
}

export interface TakeOptions {
	/** Another rate than the documented one, for this request alone. */
	rate?: number;
	/** Whether it is one of the few that cannot wait for long: it goes first, counted, but not spread over time. */
	isUrgent?: boolean;
	/** Whether it takes its turn after a 429, although it is urgent. */
	yields?: boolean;
	/** When it is too late to begin, on `clock.elapsed()`. */
	latest?: number;
	/** Cancels waiting at once. */
	signal?: AbortSignal;
	/** Whether it was let in before. */
	isBack?: boolean;
	/** Called while it waits, with how long that takes at least. */
	onWait?: (delayMs: number) => void;
}

/** Thrown by {@link RateLimiter.take} when a request cannot be let in in time. */
export class TooLateError extends Error {
	constructor() {
		super('The turn did not come in time');
	}
}

interface Waiting extends TakeOptions {
	admit: (permit: Permit) => void;
	refuse: (error: Error) => void;
}

/** Limits are stated per minute throughout the API document. */
const MINUTE_MS = 60_000;
/** After a 429 few are in flight for so long, or until answers have shown that more may be. */
const NARROW_MS = 300_000;
const MOST_COUNTED = 10_000;
/** Between two requests, on average: no longer than a request may wait by default. */
const LONGEST_PACE_MS = 300_000;
/** Slices, so that a line that all have left leaves no long timer behind. */
const LONGEST_SLEEP_MS = 1_000;

/**
 * The rate limiter of one account at one endpoint, shared by all executions of a process: a sliding
 * window that allows bursts. A request counts from its answer on, the latest moment at which the
 * service can have counted it. Rates are numbers of requests in that window.
 *
 * Other processes spend from the same account, and nobody says how many there are, so 429s tell what our
 * share of a documented rate is. Without a documented rate nothing waits until a 429.
 */
export class RateLimiter {
	/** Who waits, in the order in which they are let in. */
	private line: Waiting[] = [];
	/** When it is looked after next, on `clock.elapsed()`. */
	private wakesAt = 0;
	/** When the requests that still count were answered, the oldest first. */
	private readonly answered: number[] = [];
	private readonly inFlight = new Set<Permit>();
	private closedUntil = 0;
	/** Of the documented limit. */
	private readonly share = new Share();
	/** The latest that was not urgent: while others have a share, ours is not sent in bursts. */
	private latest = { at: -Infinity, spread: 1 };
	/** How many may be in flight at once: a 429 narrows it to one, answers widen it. */
	private width = Infinity;
	private narrowedAt = -Infinity;

	/** @param rate the documented one; undefined if none is documented */
	constructor(
		private readonly rate: number | undefined,
		private readonly windowMs = MINUTE_MS,
	) {}

	get waiting(): number {
		return this.line.length;
	}

	/** How long a request would wait now: Infinity is until another one is answered. */
	delayMs({ rate = this.rate, isUrgent, yields }: TakeOptions = {}): number {
		const now = clock.elapsed();
		if (now < this.closedUntil) return this.closedUntil - now;
		const isWide = now - this.narrowedAt >= NARROW_MS || this.inFlight.size < this.width;
		if (!isWide && (!isUrgent || yields)) return Infinity;
		if (rate === undefined) return 0;
		const paced = this.latest.at + this.paceMs(rate) * this.latest.spread - now;
		if (paced > 0 && !isUrgent) return paced;
		// Of the latest, as many as the rate allows may lie within its window.
		const tooMany = this.answered.length + this.inFlight.size - rate;
		if (tooMany < 0) return 0;
		return Math.max(0, (this.answered[tooMany] ?? Infinity) + this.windowMs - now);
	}

	/**
	 * Waits for a permit, which must be given back by {@link settle}, {@link settleLimited} or {@link giveBack}.
	 *
	 * @throws CanceledError when the signal is aborted
	 * @throws TooLateError as soon as it is certain that the permit cannot be had in time
	 */
	async take(options: TakeOptions = {}): Promise<Permit> {
		const { signal, isBack } = options;
		if (signal?.aborted) throw new CanceledError();
		let leave: () => void = () => undefined;
		const taking = new Promise<Permit>((admit, refuse) => {
			const waiting = { ...options, admit, refuse };
			leave = () => {
				this.line = this.line.filter((other) => other !== waiting);
				refuse(new CanceledError());
			};
			this.line.splice(isBack ? this.placeOfRefused() : this.line.length, 0, waiting);
		});
		signal?.addEventListener('abort', leave);
		void this.tick();
		const permit = await taking.finally(() => signal?.removeEventListener('abort', leave));
		if (!signal?.aborted) return permit;
		// Granted while aborting.
		this.giveBack(permit);
		throw new CanceledError();
	}

	/** Takes back a permit for what was not sent. */
	giveBack(permit: Permit): void {
		this.inFlight.delete(permit);
		void this.tick();
	}

	/** Enters the end of a request, other than a 429; only an answer of the service itself shows that more may be in flight. */
	settle(permit: Permit, isAnswered = true): void {
		this.answered.push(clock.elapsed());
		this.answered.splice(0, this.answered.length - MOST_COUNTED);
		if (isAnswered && permit.takenAt > this.narrowedAt) this.width += 1 / this.width;
		this.giveBack(permit);
	}

	/** Enters a 429: nothing is sent for the given time. */
	settleLimited(permit: Permit, closedMs: number): void {
		const now = clock.elapsed();
		this.closedUntil = Math.max(this.closedUntil, now + closedMs);
		// An urgent one tells what others leave over, not whether our share is too large.
		if (!permit.isUrgent) this.share.reduce(permit.takenAt);
		this.width = 1;
		this.narrowedAt = now;
		this.giveBack(permit);
	}

	/**
	 * Before all who were not let in yet. Where no limit is documented, a 429 may be about one request
	 * alone, which must not hold up all the others: there the first of them goes before it.
	 */
	private placeOfRefused(): number {
		const first = this.line.findIndex(({ isBack }) => !isBack);
		const least = this.rate === undefined ? first + 1 : first;
		const place = this.line.findIndex(({ isBack }, nth) => !isBack && nth >= least);
		return place < 0 ? this.line.length : place;
	}

	/** How long is between two requests, on average, for our share of a rate. */
	private paceMs(rate: number): number {
		const share = this.share.now();
		return share >= 1 ? 0 : Math.min(LONGEST_PACE_MS, this.windowMs / (rate * share));
	}

	/** Lets in whose turn has come, and refuses who would be too late. How long until time alone changes that. */
	private letIn(): number {
		let soonest = Infinity;
		for (const waiting of sortBy(this.line, ({ isUrgent }) => !isUrgent)) {
			const now = clock.elapsed();
			const { latest = Infinity, isUrgent = false } = waiting;
			const delayMs = this.delayMs(waiting);
			// A request that need not wait is in time: a millisecond may have passed since it came.
			const isTooLate = delayMs > 0 && now + (delayMs === Infinity ? 0 : delayMs) > latest;
			if (delayMs > 0 && !isTooLate) {
				waiting.onWait?.(delayMs);
				soonest = Math.min(soonest, delayMs, latest - now + 1);
				continue;
			}
			this.line = this.line.filter((other) => other !== waiting);
			if (isTooLate) {
				waiting.refuse(new TooLateError());
				continue;
			}
			const permit = { takenAt: now, isUrgent };
			// An urgent one comes on top: many of them must not hold up the others.
			if (!isUrgent) this.latest = { at: now, spread: 0.75 + clock.random() / 2 };
			this.inFlight.add(permit);
			waiting.admit(permit);
		}
		return soonest;
	}

	/** Looks after the line until time alone changes nothing any more. */
	private async tick(): Promise<void> {
		for (;;) {
			const nextMs = this.letIn();
			const now = clock.elapsed();
			const at = now + Math.min(nextMs, LONGEST_SLEEP_MS);
			const isAwaited = this.wakesAt > now && this.wakesAt <= at;
			if (nextMs === Infinity || isAwaited) return;
			this.wakesAt = at;
			await clock.sleep(at - now);
			if (this.wakesAt !== at) return;
			this.wakesAt = 0;
		}
	}
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
