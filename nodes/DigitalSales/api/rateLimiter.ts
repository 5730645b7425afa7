import { CanceledError, clock, wait } from './clock';

/** A number of requests in a span of time. */
export interface Rate {
	requests: number;
	perMs: number;
}

/** What the service's headers say about the limit. */
export interface LimitHeaders {
	limit?: number;
	remaining?: number;
}

/** Leave for one request; it counts from {@link RateLimiter.take} on. */
export interface Permit {
	takenAt: number;
	/** The rate it was taken at, where there is one. */
	rate?: Rate;
}

/** How a permit is asked for. */
export interface TakeOptions {
	/** Another rate than the account's own, for this request alone. */
	rate?: Rate;
	/** Cancels waiting at once. */
	signal?: AbortSignal;
	/** Told before each wait how long it will be, in milliseconds. */
	onWait?: (delayMs: number) => void;
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
	/** After a 429 a single request tries the way; the others follow when it has passed. */
	private halfOpen = false;
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
		if (this.halfOpen) return this.inFlight.size > 0 ? Infinity : 0;
		const rate = this.rateNow(own);
		if (!rate) return 0;
		const first = this.firstWithin(rate.perMs, now);
		const spent = this.answered.length - first + this.inFlight.size;
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
	 */
	async take(options: TakeOptions = {}): Promise<Permit> {
		const { rate, signal } = options;
		this.longestWindowMs = Math.max(this.longestWindowMs, rate?.perMs ?? 0);
		const queue = rate ? `${rate.requests}/${rate.perMs}` : '';
		const before = this.queues.get(queue) ?? Promise.resolve();
		const turn = before.then(async () => await this.untilFree(options));
		const after: Promise<void> = turn
			.catch(() => undefined)
			.then(() => this.leaveQueue(queue, after));
		this.queues.set(queue, after);
		return await raceAbort(turn, signal).catch((error: unknown) => {
			// Return a permit granted while aborting.
			void turn.then(
				(permit) => this.release(permit),
				() => undefined,
			);
			throw error;
		});
	}

	/** Enters the answer of a request, with what its headers said. */
	settle(permit: Permit, headers: LimitHeaders): void {
		if (this.halfOpen) this.answered = [];
		this.halfOpen = false;
		if (this.rate || this.isTaught) this.answered.push(clock.elapsed());
		this.release(permit);
		this.correct(permit, headers);
		this.forgetOld();
	}

	/** Enters a 429: nothing is sent for the given time, and a rate is learned where none was known. */
	settleLimited(permit: Permit, { limit }: LimitHeaders, closedMs: number): void {
		const now = clock.elapsed();
		this.closedUntil = Math.max(this.closedUntil, now + closedMs);
		this.halfOpen = true;
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
		const waiting = [...this.waiting];
		this.waiting.clear();
		for (const wake of waiting) wake();
	}

	private async untilFree({ rate, signal, onWait }: TakeOptions): Promise<Permit> {
		for (;;) {
			if (signal?.aborted) throw new CanceledError();
			const delay = this.delayMs(rate);
			if (delay <= 0) break;
			if (delay === Infinity) {
				await raceAbort(new Promise<void>((wake) => this.waiting.add(wake)), signal);
			} else {
				onWait?.(delay);
				await wait(delay, signal);
			}
		}
		const permit = { takenAt: clock.elapsed(), rate: this.rateNow(rate) };
		this.inFlight.add(permit);
		return permit;
	}

	/**
	 * The service counts for all who share the account; where it has counted more, we follow. It
	 * counted before it answered, so what has left our window since then may still have been in its.
	 */
	private correct({ takenAt, rate }: Permit, { limit, remaining }: LimitHeaders): void {
		if (limit === undefined || limit < 1) return;
		const now = clock.elapsed();
		this.stated = { requests: limit, remaining, at: now };
		if (!rate || remaining === undefined) return;
		const own = this.answered.length - this.firstWithin(rate.perMs, takenAt) + this.inFlight.size;
		const spentByOthers = Math.min(limit - remaining - own, limit, MOST_COUNTED);
		for (let spent = 0; spent < spentByOthers; spent++) this.answered.push(now);
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

async function raceAbort<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
	if (!signal) return await promise;
	if (signal.aborted) throw new CanceledError();
	let onAbort: () => void = () => undefined;
	const aborted = new Promise<never>((_, reject) => {
		onAbort = () => reject(new CanceledError());
		signal.addEventListener('abort', onAbort);
	});
	try {
		return await Promise.race([promise, aborted]);
	} finally {
		signal.removeEventListener('abort', onAbort);
	}
}
