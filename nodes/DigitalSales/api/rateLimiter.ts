import { CanceledError, clock, wait } from '../shared/clock';
import type { LimitHeaders } from './response';

/** A number of requests in a span of time. */
export interface Rate {
	requests: number;
	perMs: number;
}

/** Leave for one request; it counts from {@link RateLimiter.take} on. */
export interface Permit {
	takenAt: number;
	/** The rate that was asked for, where it is not the account's own. */
	rate?: Rate;
}

/** How a permit is asked for. */
export interface TakeOptions {
	/** Another rate than the account's own, for this request alone. */
	rate?: Rate;
	/** Cancels waiting at once. */
	signal?: AbortSignal;
	/** When it is too late to begin, on `clock.elapsed()`. */
	latest?: number;
	/** Told before each wait how long it will be at least, as {@link RateLimiter.delayMs} says it. */
	onWait?: (delayMs: number) => void;
}

/** Thrown by {@link RateLimiter.take} when a turn does not come in time. */
export class TooLateError extends Error {
	constructor() {
		super('The rate limit left no turn in time');
	}
}

/** Limits are stated per minute throughout the API document. */
const LEARNED_WINDOW_MS = 60_000;
/** A limit that the service stated once, and not again, was a mistake or is over. */
const STATED_FOR_MS = 300_000;
const MOST_COUNTED = 10_000;

/**
 * The rate limiter of one account at one endpoint, shared by both nodes and all executions of a
 * process.
 *
 * A sliding window over the requests sent: bursts up to the limit are allowed, then each request
 * waits until the oldest is a full window old. A request counts from its answer on, because that is
 * the latest moment at which the service can have counted it. Requests of one rate are served in the
 * order in which they came; an execution has only a few in flight, so waiting executions take turns.
 *
 * Other processes spend from the same account: what the headers say was used beyond our own count
 * is entered as if we had sent it. Without a known rate nothing waits until a 429 teaches one.
 */
export class RateLimiter {
	/** The end of the queue of each rate. */
	private readonly queues = new Map<string, Promise<void>>();
	/** When the requests that still count were answered, oldest first. */
	private answered: number[] = [];
	private readonly inFlight = new Set<Permit>();
	private closedUntil = 0;
	/** After a 429 a single request, the probe, goes first; the others follow when it was answered. */
	private halfOpen?: { probe?: Permit; hasFailed: boolean };
	/** The latest limit that the service stated. */
	private stated?: { requests: number; remaining?: number; at: number };
	/** Whether a 429 has shown that the endpoint has a limit, where none is documented. */
	private isTaught = false;
	private longestWindowMs: number;
	private readonly waiting = new Set<() => void>();

	/** @param rate the documented one; undefined where none is documented */
	constructor(private readonly rate: Rate | undefined) {
		this.longestWindowMs = rate?.perMs ?? LEARNED_WINDOW_MS;
	}

	/**
	 * How long a request taken now would wait: 0 is not at all, Infinity is until another is answered.
	 *
	 * @param own another rate than the account's, for this request
	 */
	delayMs(own?: Rate): number {
		const now = clock.elapsed();
		if (now < this.closedUntil) return this.closedUntil - now;
		if (this.halfOpen?.probe) return Infinity;
		// The 429 said when to come again; that holds for one request, whatever our own count says.
		if (this.halfOpen && !this.halfOpen.hasFailed) return 0;
		const rate = this.rateNow(own);
		if (!rate) return 0;
		const first = this.firstWithin(rate.perMs, now);
		const spent = this.spentWithin(rate.perMs, now);
		if (spent < rate.requests) return 0;
		// Of those answered, as many as are too many have to grow old.
		const last = this.answered[first + spent - rate.requests];
		return last === undefined ? Infinity : last + rate.perMs - now;
	}

	/**
	 * How many requests are left until half of what the service states is used up: 0 or less is none,
	 * Infinity is that it states nothing. None are left while a 429 is waited out.
	 */
	leftOfHalf(): number {
		const { stated } = this;
		const now = clock.elapsed();
		if (now < this.closedUntil) return 0;
		if (!stated || now - stated.at >= STATED_FOR_MS) return Infinity;
		const isOver = now - stated.at >= LEARNED_WINDOW_MS;
		const { requests, remaining = requests } = stated;
		return (isOver ? requests : remaining) - requests / 2;
	}

	/**
	 * Waits for a permit. It has to be given back by {@link settle} or {@link settleLimited}.
	 *
	 * @throws CanceledError when the execution is cancelled while it waits
	 * @throws TooLateError when its turn does not come in time, as soon as that is certain
	 */
	async take(options: TakeOptions = {}): Promise<Permit> {
		const { rate, signal, latest = Infinity } = options;
		this.longestWindowMs = Math.max(this.longestWindowMs, rate?.perMs ?? 0);
		// Whoever queues behind others asks again only at the head of the queue.
		this.announcedDelay(options);
		const queue = rate ? `${rate.requests}/${rate.perMs}` : '';
		const before = this.queues.get(queue) ?? Promise.resolve();
		const turn = before.then(async () => await this.untilFree(options));
		const after: Promise<void> = turn
			.catch(() => undefined)
			.then(() => this.leaveQueue(queue, after));
		this.queues.set(queue, after);
		return await raceTime(raceAbort(turn, signal), latest).catch((error: unknown) => {
			// Return a permit granted while aborting.
			void turn.then(
				(permit) => this.release(permit),
				() => undefined,
			);
			throw error;
		});
	}

	/**
	 * Enters what came of a request, other than a 429.
	 *
	 * @param headers what the answer said of the limit; undefined if the service itself gave none
	 */
	settle(permit: Permit, headers?: LimitHeaders): void {
		if (this.halfOpen?.probe === permit) {
			if (headers) this.answered = [];
			this.halfOpen = headers ? undefined : { hasFailed: true };
		}
		if (this.rate || this.isTaught) this.answered.push(clock.elapsed());
		this.release(permit);
		if (headers) this.correct(permit, headers);
		this.forgetOld();
	}

	/** Enters a 429: nothing is sent for the given time, and a rate is learned where none was known. */
	settleLimited(permit: Permit, { limit }: LimitHeaders, closedMs: number): void {
		const now = clock.elapsed();
		this.closedUntil = Math.max(this.closedUntil, now + closedMs);
		this.halfOpen = { hasFailed: false };
		if (limit !== undefined) {
			this.isTaught = true;
			this.stated = { requests: Math.max(1, limit), at: now };
		}
		this.release(permit);
	}

	/** The rate that counts at this moment: what the service states lowers it and never raises it. */
	private rateNow(own: Rate | undefined): Rate | undefined {
		const { stated, isTaught } = this;
		const wanted = own ?? this.rate;
		if (!stated || clock.elapsed() - stated.at >= STATED_FOR_MS) return wanted;
		if (!wanted) {
			return isTaught ? { requests: stated.requests, perMs: LEARNED_WINDOW_MS } : undefined;
		}
		return { ...wanted, requests: Math.min(wanted.requests, stated.requests) };
	}

	private leaveQueue(queue: string, end: Promise<void>): void {
		if (this.queues.get(queue) === end) this.queues.delete(queue);
	}

	private release(permit: Permit): void {
		this.inFlight.delete(permit);
		if (this.halfOpen?.probe === permit) this.halfOpen.probe = undefined;
		const waiting = [...this.waiting];
		this.waiting.clear();
		for (const wake of waiting) wake();
	}

	private async untilFree(options: TakeOptions): Promise<Permit> {
		const { rate, signal } = options;
		for (;;) {
			if (signal?.aborted) throw new CanceledError();
			const delay = this.announcedDelay(options);
			if (delay <= 0) break;
			if (delay === Infinity) {
				await raceAbort(new Promise<void>((wake) => this.waiting.add(wake)), signal);
			} else {
				await wait(delay, signal);
			}
		}
		const permit = { takenAt: clock.elapsed(), rate };
		this.inFlight.add(permit);
		if (this.halfOpen) this.halfOpen.probe = permit;
		return permit;
	}

	/** @throws TooLateError instead of a wait that would be too long */
	private announcedDelay({ rate, latest = Infinity, onWait }: TakeOptions): number {
		const delay = this.delayMs(rate);
		if (delay < Infinity && clock.elapsed() + delay > latest) throw new TooLateError();
		if (delay > 0) onWait?.(delay);
		return delay;
	}

	/**
	 * The service counts for all who share the account; where that leaves us less than our own rate,
	 * we follow. It counted before it answered, so what has left our window since then may still have
	 * been in its; and its window is not the one of a request's own rate.
	 */
	private correct({ takenAt, rate: own }: Permit, { limit, remaining }: LimitHeaders): void {
		if (limit === undefined || limit < 1) return;
		const now = clock.elapsed();
		this.stated = { requests: limit, remaining, at: now };
		const rate = this.rateNow(own);
		if (!rate || remaining === undefined) return;
		const statedWindowMs = this.rate?.perMs ?? LEARNED_WINDOW_MS;
		const spentByOthers = limit - remaining - this.spentWithin(statedWindowMs, takenAt);
		const leftTooMany = rate.requests - remaining - this.spentWithin(rate.perMs, takenAt);
		const entered = Math.min(spentByOthers, leftTooMany, MOST_COUNTED);
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

	/** What counts for nothing any more, not even for a request that is still in flight. */
	private forgetOld(): void {
		const earliest = Math.min(clock.elapsed(), ...[...this.inFlight].map(({ takenAt }) => takenAt));
		const tooMany = this.answered.length - MOST_COUNTED;
		this.answered.splice(0, Math.max(tooMany, this.firstWithin(this.longestWindowMs, earliest)));
	}
}

async function raceTime<T>(promise: Promise<T>, latest: number): Promise<T> {
	if (latest === Infinity) return await promise;
	const late = AbortSignal.timeout(Math.max(0, Math.ceil(latest - clock.elapsed())));
	return await raceAbort(promise, late, () => new TooLateError());
}

async function raceAbort<T>(
	promise: Promise<T>,
	signal: AbortSignal | undefined,
	reason = (): Error => new CanceledError(),
): Promise<T> {
	if (!signal) return await promise;
	if (signal.aborted) throw reason();
	let onAbort: () => void = () => undefined;
	const aborted = new Promise<never>((_, reject) => {
		onAbort = () => reject(reason());
		signal.addEventListener('abort', onAbort);
	});
	try {
		return await Promise.race([promise, aborted]);
	} finally {
		signal.removeEventListener('abort', onAbort);
	}
}
