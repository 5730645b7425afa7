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

/** A request that was let through and has not been answered yet. */
export interface Place {
	takenAt: number;
}

/**
 * The budget of one account at one endpoint, shared by both nodes and all executions of a process.
 *
 * A sliding window over the requests sent: bursts up to the limit are allowed, then each request
 * waits until the oldest is a full window old. A request counts from its answer on, because that is
 * the latest moment at which the service can have counted it. Requests are served in the order in
 * which they came; an execution has only a few under way, so waiting executions take turns.
 *
 * Other processes spend from the same account: what the headers say was used beyond our own count
 * is entered as if we had sent it. Without a known rate nothing waits until a 429 teaches one.
 */
export class RateLimiter {
	private queue: Promise<void> = Promise.resolve();
	/** When the requests that still count were answered, oldest first. */
	private answered: number[] = [];
	private readonly underWay = new Set<Place>();
	private closedUntil = 0;
	/** After a 429 a single request tries the way; the others follow when it has passed. */
	private probing = false;
	private wake: () => void = () => undefined;

	constructor(private rate: Rate | undefined) {}

	/** Takes over the rate that a workflow's options ask for; the last one wins. */
	configure(rate: Rate): void {
		this.rate = rate;
	}

	/** How long a request taken now would wait: 0 is not at all, Infinity is until another is answered. */
	delayMs(): number {
		const now = clock.now();
		if (now < this.closedUntil) return this.closedUntil - now;
		if (this.probing) return this.underWay.size > 0 ? Infinity : 0;
		if (!this.rate) return 0;
		const first = this.firstCountingAt(now);
		if (this.answered.length - first + this.underWay.size < this.rate.requests) return 0;
		const oldest = this.answered[first];
		return oldest === undefined ? Infinity : oldest + this.rate.perMs - now;
	}

	/**
	 * Waits for a place in the window. It has to be given back by {@link settle} or
	 * {@link settleLimited}.
	 *
	 * @param onWait told before each wait how long it will be, in milliseconds
	 * @throws CanceledError when the execution is cancelled while it waits
	 */
	async take(signal?: AbortSignal, onWait?: (delayMs: number) => void): Promise<Place> {
		const turn = this.queue.then(async () => await this.untilFree(signal, onWait));
		this.queue = turn.then(
			() => undefined,
			() => undefined,
		);
		return await raceAbort(turn, signal).catch((error: unknown) => {
			// The turn may have come all the same at that very moment.
			void turn.then(
				(place) => this.release(place),
				() => undefined,
			);
			throw error;
		});
	}

	/** Enters the answer of a request, with what its headers said. */
	settle(place: Place, headers: LimitHeaders): void {
		if (this.probing) this.answered = [];
		this.probing = false;
		if (this.rate) this.answered.push(clock.now());
		this.release(place);
		this.correct(place, headers);
		this.forgetOld();
	}

	/** Enters a 429: nothing is sent for the given time, and a rate is learned where none was known. */
	settleLimited(place: Place, headers: LimitHeaders, retryAfterMs: number): void {
		this.closedUntil = Math.max(this.closedUntil, clock.now() + retryAfterMs);
		this.probing = true;
		if (headers.limit !== undefined) {
			this.rate ??= { requests: Math.max(1, headers.limit), perMs: LEARNED_WINDOW_MS };
		}
		this.release(place);
	}

	private release(place: Place): void {
		this.underWay.delete(place);
		this.wake();
	}

	private async untilFree(
		signal: AbortSignal | undefined,
		onWait: (delayMs: number) => void = () => undefined,
	): Promise<Place> {
		for (;;) {
			if (signal?.aborted) throw new CanceledError();
			const delay = this.delayMs();
			if (delay <= 0) break;
			const answered = new Promise<void>((resolve) => {
				this.wake = resolve;
			});
			if (delay === Infinity) {
				await raceAbort(answered, signal);
			} else {
				onWait(delay);
				await wait(delay, signal);
			}
		}
		const place = { takenAt: clock.now() };
		this.underWay.add(place);
		return place;
	}

	/**
	 * The service counts for all who share the account; where it has counted more, we follow. It
	 * counted before it answered, so what has left our window since then may still have been in its.
	 */
	private correct({ takenAt }: Place, { limit, remaining }: LimitHeaders): void {
		if (!this.rate || limit === undefined || limit < 1) return;
		if (limit < this.rate.requests) this.rate = { ...this.rate, requests: limit };
		if (remaining === undefined) return;
		const own = this.answered.length - this.firstCountingAt(takenAt) + this.underWay.size;
		const spentByOthers = Math.min(limit - remaining - own, limit);
		const now = clock.now();
		for (let spent = 0; spent < spentByOthers; spent++) this.answered.push(now);
	}

	/** The place of the oldest answered request that counts at a moment, a window or less before it. */
	private firstCountingAt(moment: number): number {
		const { rate } = this;
		const first = rate ? this.answered.findIndex((at) => moment - at < rate.perMs) : 0;
		return first < 0 ? this.answered.length : first;
	}

	/** What counts for nothing any more, not even for a request that is still under way. */
	private forgetOld(): void {
		const earliest = Math.min(clock.now(), ...[...this.underWay].map(({ takenAt }) => takenAt));
		this.answered.splice(0, this.firstCountingAt(earliest));
	}
}

/** Limits are stated per minute throughout the API document. */
const LEARNED_WINDOW_MS = 60_000;

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
