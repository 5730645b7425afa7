import { CanceledError, clock } from '../shared/clock';
import { processWide } from '../shared/processWide';
import { Turnstile, type Patience } from '../shared/turnstile';
import { ENDPOINTS, type Endpoint } from './endpoints';
import type { RateLimitHeaders } from './outcome';
import { Share } from './share';

/** A number of requests in a span of time. */
export interface Rate {
	requests: number;
	perMs: number;
}

/** Permission for one request. */
export interface Permit {
	takenAt: number;
	/** The rate of this request, if it is not the account's own. */
	rate?: Rate;
	isUrgent?: boolean;
}

export interface TakeOptions extends Patience {
	/** Another rate than the account's own, for this request alone. */
	rate?: Rate;
	/** Whether it is one of the few that somebody waits for: counted, but not spread over time. */
	isUrgent?: boolean;
	/** The part of the rate that it leaves to requests that leave less. */
	leaves?: number;
}

/** Limits are stated per minute throughout the API document. */
const MINUTE_MS = 60_000;
/** A limit that the service does not state again was a mistake or no longer holds. */
const STATED_FOR_MS = 300_000;
const MOST_COUNTED = 10_000;

/** Between two requests, on average: no longer than a request may wait by default. */
const LONGEST_PACE_MS = 300_000;
/**
 * The rate limiter of one account at one endpoint, shared by all executions of a process: a sliding
 * window that allows bursts. A request counts from its answer on, the latest moment at which the
 * service can have counted it. Requests of one rate and urgency are served in the order in which they came.
 *
 * Other processes spend from the same account: what the headers say was used beyond our own count
 * is entered as if we had sent it. Nobody says how many processes there are, so 429s tell what our share
 * of a documented rate is. Without a known rate nothing waits until a 429 teaches one.
 */
export class RateLimiter {
	/** By rate, urgency and what they leave; requests without a rate of their own share one. */
	private readonly lines = new Map<string, Turnstile<Permit>>();
	/** When the requests that still count were answered, the oldest first. */
	private answered: number[] = [];
	private readonly inFlight = new Set<Permit>();
	private closedUntil = 0;
	/** After a 429 a single request, the probe, goes first; the others wait for its answer. */
	private halfOpen?: { probe?: Permit; hasFailed: boolean };
	/** Of the documented limit. */
	private readonly share = new Share();
	/** The latest request that was not urgent: while others have a share, ours is not sent in bursts. */
	private latest = { at: -Infinity, spread: 1 };
	private stated?: { requests: number; remaining?: number; at: number };
	/** Whether a 429 has shown that the endpoint has a limit, although none is documented. */
	private isTaught = false;
	private longestWindowMs: number;
	/**
	 * Who goes first after a 429. Where no limit is documented, it may be about one request alone, which
	 * must not hold up all the others.
	 */
	readonly placeOfRefused: 'first' | 'second';
	/** How many may be in flight at once while no rate is known: a 429 narrows it, answers widen it. */
	private width = Infinity;
	private narrowedAt = -Infinity;

	/** @param rate the documented one; undefined if none is documented */
	constructor(private readonly rate: Rate | undefined) {
		this.placeOfRefused = rate ? 'first' : 'second';
		this.longestWindowMs = rate?.perMs ?? MINUTE_MS;
	}

	/** How long a request of a rate would wait now: Infinity is until another one is answered. */
	delayMs({ rate: own, isUrgent, leaves = 0 }: TakeOptions = {}): number {
		const now = clock.elapsed();
		if (now < this.closedUntil) return this.closedUntil - now;
		if (this.halfOpen?.probe) return Infinity;
		// The 429 said when to come again: that holds for one request, whatever our own count.
		if (this.halfOpen && !this.halfOpen.hasFailed) return 0;
		const rate = this.rateNow(own);
		const isFree = isUrgent && leaves === 0;
		if (!rate) return isFree || this.inFlight.size < this.widthNow(now) ? 0 : Infinity;
		const paced = this.latest.at + this.paceMs(rate) * this.latest.spread - now;
		if (paced > 0 && !isUrgent) return paced;
		const empty = isUrgent ? this.emptyMs(now) : 0;
		if (empty > 0) return empty;
		const first = this.firstWithin(rate.perMs, now);
		const spent = this.spentWithin(rate.perMs, now);
		const most = Math.ceil(rate.requests * (1 - leaves));
		if (spent < most) return 0;
		// As many answered requests as are too many must leave the window.
		const last = this.answered[first + spent - most];
		return last === undefined ? Infinity : last + rate.perMs - now;
	}

	private widthNow(now: number): number {
		return now - this.narrowedAt < STATED_FOR_MS ? this.width : Infinity;
	}

	/** How long others leave nothing of the limit, where our own count does not include them. */
	private emptyMs(now: number): number {
		const { stated } = this;
		if (stated?.remaining === undefined || this.share.now() >= 1) return 0;
		const isEmpty = this.spentWithin(now - stated.at, now) >= stated.remaining;
		return isEmpty ? stated.at + MINUTE_MS - now : 0;
	}

	/**
	 * How many requests are left of half of what the service states, 0 or less if none; Infinity if it
	 * states nothing. None are left during the wait after a 429.
	 */
	leftOfHalf(): number {
		const { stated } = this;
		const now = clock.elapsed();
		if (now < this.closedUntil) return 0;
		if (!stated || now - stated.at >= STATED_FOR_MS) return Infinity;
		const isOver = now - stated.at >= MINUTE_MS;
		const { requests, remaining = requests } = stated;
		return (isOver ? requests : remaining) - requests / 2;
	}

	/**
	 * Waits for a permit, which must be given back by {@link settle} or {@link settleLimited}.
	 *
	 * @throws CanceledError if the execution is canceled during the wait
	 * @throws TooLateError as soon as it is certain that the permit cannot be had in time
	 */
	async take(options: TakeOptions = {}): Promise<Permit> {
		const { rate, isUrgent, leaves, signal } = options;
		this.longestWindowMs = Math.max(this.longestWindowMs, rate?.perMs ?? 0);
		const key = JSON.stringify({ rate, isUrgent, leaves });
		const line = this.lines.get(key) ?? this.newLine({ rate, isUrgent, leaves });
		this.lines.set(key, line);
		const permit = await line.enter(options).finally(() => {
			// By now another line may have taken its place.
			if (line.length === 0 && this.lines.get(key) === line) this.lines.delete(key);
		});
		if (!signal?.aborted) return permit;
		// Granted while aborting.
		this.release(permit);
		this.advance();
		throw new CanceledError();
	}

	/**
	 * Enters the end of a request, other than a 429.
	 *
	 * @param headers undefined if the service itself did not answer
	 */
	settle(permit: Permit, headers?: RateLimitHeaders): void {
		if (this.halfOpen?.probe === permit) {
			if (headers) this.answered = [];
			this.halfOpen = headers ? undefined : { hasFailed: true };
		}
		if (this.rate || this.isTaught) this.answered.push(clock.elapsed());
		this.release(permit);
		if (headers) {
			this.share.succeed();
			if (permit.takenAt > this.narrowedAt) this.width += 1 / this.width;
			this.correct(permit, headers);
		}
		this.forgetOld();
		this.advance();
	}

	/** Enters a 429: nothing is sent for the given time, and the stated rate is learned. */
	settleLimited(permit: Permit, { limit }: RateLimitHeaders, closedMs: number): void {
		const now = clock.elapsed();
		this.closedUntil = Math.max(this.closedUntil, now + closedMs);
		// An urgent one tells what others leave over, not whether our share is too large.
		if (this.rate && !permit.isUrgent) this.share.reduce(permit.takenAt);
		this.width = 1;
		this.narrowedAt = now;
		this.halfOpen = { hasFailed: false };
		if (limit !== undefined) {
			this.isTaught = true;
			this.stated = { requests: Math.max(1, limit), at: now };
		}
		this.release(permit);
		this.advance();
	}

	/** The rate that counts now: what the service states lowers it and never raises it. */
	private rateNow(own: Rate | undefined): Rate | undefined {
		const { stated, isTaught } = this;
		const wanted = own ?? this.rate;
		if (!stated || clock.elapsed() - stated.at >= STATED_FOR_MS) return wanted;
		if (!wanted) return isTaught ? { requests: stated.requests, perMs: MINUTE_MS } : undefined;
		return { ...wanted, requests: Math.min(wanted.requests, stated.requests) };
	}

	/** How long is between two requests, on average, for our share of a rate. */
	private paceMs(rate: Rate): number {
		const share = this.share.now();
		return share >= 1 ? 0 : Math.min(LONGEST_PACE_MS, rate.perMs / (rate.requests * share));
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
				if (this.halfOpen) this.halfOpen.probe = permit;
				return permit;
			},
		});
	}

	private release(permit: Permit): void {
		this.inFlight.delete(permit);
		if (this.halfOpen?.probe === permit) this.halfOpen.probe = undefined;
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
	 * answered; its window is not the one of a request's own rate.
	 */
	private correct({ takenAt, rate: own }: Permit, { limit, remaining }: RateLimitHeaders): void {
		if (limit === undefined || limit < 1) return;
		const now = clock.elapsed();
		this.stated = { requests: limit, remaining, at: now };
		const rate = this.rateNow(own);
		if (!rate || remaining === undefined) return;
		const statedWindowMs = this.rate?.perMs ?? MINUTE_MS;
		const spentByOthers = limit - remaining - this.spentWithin(statedWindowMs, takenAt);
		const leftTooMany = rate.requests - remaining - this.spentWithin(rate.perMs, takenAt);
		const entered = Math.min(spentByOthers, leftTooMany, MOST_COUNTED);
		// Our share already allows for what others spend.
		if (this.share.now() < 1) return;
		for (let spent = 0; spent < entered; spent++) this.answered.push(now);
	}

	/** How many requests count at a moment, those in flight included. */
	private spentWithin(windowMs: number, moment: number): number {
		return this.answered.length - this.firstWithin(windowMs, moment) + this.inFlight.size;
	}

	/** The index of the oldest answered request that is a window or less before a moment. */
	private firstWithin(windowMs: number, moment: number): number {
		const first = this.answered.findIndex((at) => moment - at < windowMs);
		return first < 0 ? this.answered.length : first;
	}

	/** Forgets what no longer counts, not even for a request that is still in flight. */
	private forgetOld(): void {
		const earliest = Math.min(clock.elapsed(), ...[...this.inFlight].map(({ takenAt }) => takenAt));
		const tooMany = this.answered.length - MOST_COUNTED;
		this.answered.splice(0, Math.max(tooMany, this.firstWithin(this.longestWindowMs, earliest)));
	}
}

/** By account and endpoint. */
const rateLimiters = processWide(new Map<string, RateLimiter>());

/** The rate limiter of an account at an endpoint, at the documented rate (API document, Limits). */
export function rateLimiterFor(account: { key: string }, endpoint: Endpoint): RateLimiter {
	const key = `${account.key} ${endpoint}`;
	let limiter = rateLimiters.get(key);
	if (!limiter) {
		const requests = ENDPOINTS[endpoint].requestsPerMinute;
		limiter = new RateLimiter(requests === undefined ? undefined : { requests, perMs: MINUTE_MS });
		rateLimiters.set(key, limiter);
	}
	return limiter;
}
