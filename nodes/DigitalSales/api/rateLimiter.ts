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
	/** When each request of the last two windows was answered, oldest first. */
	private answered: number[] = [];
	private inFlight = 0;
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
		if (this.probing) return this.inFlight > 0 ? Infinity : 0;
		if (!this.rate) return 0;
		this.forgetOld(now);
		const window = this.answeredSince(now - this.rate.perMs);
		if (window.length + this.inFlight < this.rate.requests) return 0;
		const [oldest] = window;
		return oldest === undefined ? Infinity : oldest + this.rate.perMs - now;
	}

	/**
	 * Waits for a place in the window. Each call that returns must be followed by one {@link settle}.
	 *
	 * @throws CanceledError when the execution is cancelled while it waits
	 */
	async take(signal?: AbortSignal): Promise<void> {
		let abandoned = false;
		const turn = this.queue.then(async () => await this.untilFree(signal));
		this.queue = turn.then(
			() => {
				if (abandoned) this.release();
			},
			() => undefined,
		);
		if (!signal) return await turn;
		try {
			await raceAbort(turn, signal);
		} finally {
			abandoned = signal.aborted;
		}
	}

	/**
	 * Enters the answer of a request that was taken, with what its headers said.
	 *
	 * @param sentAt when it was sent, on the clock of the package
	 */
	settle(headers: LimitHeaders, sentAt: number): void {
		const now = clock.now();
		if (this.probing) this.answered = [];
		this.probing = false;
		this.answered.push(now);
		this.correct(headers, sentAt, now);
		this.release();
	}

	/** Enters a 429: nothing is sent for the given time, and a rate is learned where none was known. */
	settleLimited(headers: LimitHeaders, retryAfterMs: number): void {
		this.closedUntil = Math.max(this.closedUntil, clock.now() + retryAfterMs);
		this.probing = true;
		if (headers.limit !== undefined) {
			this.rate ??= { requests: Math.max(1, headers.limit), perMs: LEARNED_WINDOW_MS };
		}
		this.release();
	}

	private release(): void {
		this.inFlight--;
		this.wake();
	}

	private async untilFree(signal: AbortSignal | undefined): Promise<void> {
		for (;;) {
			if (signal?.aborted) throw new CanceledError();
			const delay = this.delayMs();
			if (delay <= 0) break;
			const answered = new Promise<void>((resolve) => {
				this.wake = resolve;
			});
			await (delay === Infinity ? raceAbort(answered, signal) : wait(delay, signal));
		}
		this.inFlight++;
	}

	/**
	 * The service counts for all who share the account; where it has counted more, we follow. It
	 * counted at some moment since the request was sent, and what of ours has left the window only
	 * after that is in its count too.
	 */
	private correct({ limit, remaining }: LimitHeaders, sentAt: number, now: number): void {
		if (!this.rate || limit === undefined || limit < 1) return;
		if (limit < this.rate.requests) this.rate = { ...this.rate, requests: limit };
		if (remaining === undefined) return;
		const ours = this.answeredSince(sentAt - this.rate.perMs).length + this.inFlight - 1;
		const spentByOthers = limit - remaining - ours;
		for (let spent = 0; spent < Math.min(spentByOthers, limit); spent++) this.answered.push(now);
	}

	private forgetOld(now: number): void {
		const { rate } = this;
		if (rate) this.answered = this.answeredSince(now - 2 * rate.perMs);
	}

	private answeredSince(moment: number): number[] {
		const first = this.answered.findIndex((at) => at > moment);
		return first < 0 ? [] : this.answered.slice(first);
	}
}

/** Limits are stated per minute throughout the API document. */
const LEARNED_WINDOW_MS = 60_000;

async function raceAbort(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
	if (!signal) return await promise;
	if (signal.aborted) throw new CanceledError();
	let onAbort: () => void = () => undefined;
	const aborted = new Promise<never>((_, reject) => {
		onAbort = () => reject(new CanceledError());
		signal.addEventListener('abort', onAbort);
	});
	try {
		await Promise.race([promise, aborted]);
	} finally {
		signal.removeEventListener('abort', onAbort);
	}
}
