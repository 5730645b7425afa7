import sortBy from 'lodash/sortBy';
import { CanceledError, clock } from '../shared/clock';
import { processState } from '../shared/processState';
import { ENDPOINTS, type Endpoint } from './endpoints';

/** Permission for one request. */
export interface Permit {
	takenAt: number;
	answeredAt?: number;
	isBackground?: boolean;
}

export interface PermitOptions {
	/** Another rate than the documented one, for this request alone. */
	rate?: number;
	/** Whether somebody waits for it: it goes first, and after a 429 it does not wait for the request in flight. */
	isUrgent?: boolean;
	/** Whether nobody waits for it: such requests leave most of what is allowed to the others. */
	isBackground?: boolean;
	/** When it is too late to begin, on `clock.elapsed()`. */
	latest?: number;
	/** Cancels waiting at once. */
	signal?: AbortSignal;
	/** Whether it was let in before. */
	isRetry?: boolean;
	/** Called while it waits, with how long that takes at least. */
	onWait?: (delayMs: number) => void;
}

/** Thrown by {@link RateLimiter.acquirePermit} when a request cannot be let in in time. */
export class TooLateError extends Error {
	constructor() {
		super('The turn did not come in time');
	}
}

interface QueuedRequest extends PermitOptions {
	admit: (permit: Permit) => void;
	refuse: (error: Error) => void;
}

/** Limits are stated per minute throughout the API document. */
const MINUTE_MS = 60_000;
/** How long after a 429 one request goes at a time. */
const CAREFUL_MS = MINUTE_MS;
const MOST_COUNTED = 10_000;
/** Of what is allowed, so that a burst of others finds room even just after background requests. */
const BACKGROUND_SHARE = 1 / 4;
/** How long a 429 tells what is allowed. */
const TAUGHT_MS = 15 * MINUTE_MS;
/** Slices, so that a line that all have left leaves no long timer behind. */
const LONGEST_SLEEP_MS = 1_000;

/**
 * The rate limiter of one account at one endpoint, shared by all executions of a process: a sliding
 * window that allows bursts. A request counts from its answer on, the latest moment at which the
 * service can have counted it. Rates are numbers of requests in that window.
 *
 * Other processes spend from the same account, and nobody says how many there are. A 429 closes the
 * limiter, and for a minute one request goes at a time: a burst would only be refused again. Without a
 * documented rate nothing waits until a 429, which shows what is allowed.
 */
export class RateLimiter {
	/** Who waits, in the order in which they are let in. */
	private queue: QueuedRequest[] = [];
	/** When it is looked after next, on `clock.elapsed()`. */
	private nextCheckAt = 0;
	/** The requests that still count, the first answered first. */
	private readonly answered: Permit[] = [];
	private readonly inFlight = new Set<Permit>();
	private closedUntil = 0;
	/** When the latest 429 came. */
	private latest429At = -Infinity;
	/** How many requests had gone well in the minute before a 429. */
	private learnedRate = Infinity;

	/** @param rate the documented one, if there is one */
	constructor(
		private readonly rate = Infinity,
		private readonly windowMs = MINUTE_MS,
	) {}

	get waitingCount(): number {
		return this.queue.length;
	}

	/** How long a request would wait now: Infinity is until another one is answered. */
	delayMs({ rate = this.rate, isUrgent, isBackground }: PermitOptions = {}): number {
		const now = clock.elapsed();
		if (now < this.closedUntil) return this.closedUntil - now;
		const isOneAtATime = now - this.latest429At < CAREFUL_MS && !isUrgent;
		if (isOneAtATime && this.inFlight.size > 0) return Infinity;
		const delayMs = this.msUntilRoom(rate, this.answered, this.inFlight.size);
		if (!isBackground) return delayMs;
		const [answered, inFlight] = [this.answered, [...this.inFlight]].map((permits) =>
			permits.filter((permit) => permit.isBackground),
		);
		const share = Math.ceil(this.allowedRate(rate) * BACKGROUND_SHARE);
		return Math.max(delayMs, this.msUntilRoom(share, answered, inFlight?.length));
	}

	/** How long until the window has room. Of the latest answers, as many as the rate allows may lie within it. */
	private msUntilRoom(rate: number, answered: readonly Permit[] = [], inFlight = 0): number {
		const tooMany = answered.length + inFlight - rate;
		if (tooMany < 0) return 0;
		const { answeredAt = Infinity } = answered[tooMany] ?? {};
		return Math.max(0, answeredAt + this.windowMs - clock.elapsed());
	}

	/** What the service allows in a window, as far as it is documented or a 429 has shown it. */
	private allowedRate(rate: number): number {
		if (clock.elapsed() - this.latest429At >= TAUGHT_MS) return rate;
		return Math.min(rate, Math.max(this.learnedRate, this.recentCount()));
	}

	/** How many requests went well within the last window. */
	private recentCount(): number {
		const from = clock.elapsed() - this.windowMs;
		return this.answered.filter(({ answeredAt = 0 }) => answeredAt > from).length;
	}

	/**
	 * Waits for a permit, which must be given back by {@link releaseUsed}, {@link releaseLimited} or {@link releaseUnused}.
	 *
	 * @throws CanceledError when the signal is aborted
	 * @throws TooLateError as soon as it is certain that the permit cannot be had in time
	 */
	async acquirePermit(options: PermitOptions = {}): Promise<Permit> {
		const { signal, isRetry: isBack } = options;
		if (signal?.aborted) throw new CanceledError();
		let leave: () => void = () => undefined;
		const taking = new Promise<Permit>((admit, refuse) => {
			const waiting = { ...options, admit, refuse };
			leave = () => {
				this.queue = this.queue.filter((other) => other !== waiting);
				refuse(new CanceledError());
			};
			this.queue.splice(isBack ? this.retryPosition() : this.queue.length, 0, waiting);
		});
		signal?.addEventListener('abort', leave);
		void this.serveQueue();
		const permit = await taking.finally(() => signal?.removeEventListener('abort', leave));
		if (!signal?.aborted) return permit;
		// Granted while aborting.
		this.releaseUnused(permit);
		throw new CanceledError();
	}

	/** Takes back a permit for what was not sent. */
	releaseUnused(permit: Permit): void {
		this.inFlight.delete(permit);
		void this.serveQueue();
	}

	/** Enters the end of a request, other than a 429. */
	releaseUsed(permit: Permit): void {
		this.answered.push(Object.assign(permit, { answeredAt: clock.elapsed() }));
		this.answered.splice(0, this.answered.length - MOST_COUNTED);
		this.releaseUnused(permit);
	}

	/** Enters a 429: nothing is sent for the given time. */
	releaseLimited(permit: Permit, closedMs: number): void {
		const now = clock.elapsed();
		this.closedUntil = Math.max(this.closedUntil, now + closedMs);
		this.latest429At = now;
		// The first request of all may meet a limit that others have used up.
		this.learnedRate = this.recentCount() || this.learnedRate;
		this.releaseUnused(permit);
	}

	/** After the first new request: a 429 may be about one request alone, which must not hold up the others. */
	private retryPosition(): number {
		const [, next = this.queue.length] = this.queue.flatMap(({ isRetry: isBack }, nth) =>
			isBack ? [] : nth,
		);
		return next;
	}

	/** Lets in whose turn has come, and refuses who would be too late. How long until time alone changes that. */
	private admitDue(): number {
		let soonest = Infinity;
		for (const waiting of sortBy(this.queue, ({ isUrgent }) => !isUrgent)) {
			const now = clock.elapsed();
			const { latest = Infinity } = waiting;
			const delayMs = this.delayMs(waiting);
			const isTooLate = now + (delayMs === Infinity ? 0 : delayMs) > latest;
			if (delayMs > 0 && !isTooLate) {
				waiting.onWait?.(delayMs);
				soonest = Math.min(soonest, delayMs, latest - now + 1);
				continue;
			}
			this.queue = this.queue.filter((other) => other !== waiting);
			if (isTooLate) {
				waiting.refuse(new TooLateError());
				continue;
			}
			const permit = { takenAt: now, isBackground: waiting.isBackground };
			this.inFlight.add(permit);
			waiting.admit(permit);
		}
		return soonest;
	}

	/** Looks after the line until time alone changes nothing any more. */
	private async serveQueue(): Promise<void> {
		for (;;) {
			const nextMs = this.admitDue();
			const now = clock.elapsed();
			const at = now + Math.min(nextMs, LONGEST_SLEEP_MS);
			const isAwaited = this.nextCheckAt > now && this.nextCheckAt <= at;
			if (nextMs === Infinity || isAwaited) return;
			this.nextCheckAt = at;
			await clock.sleep(at - now);
			if (this.nextCheckAt !== at) return;
			this.nextCheckAt = 0;
		}
	}
}

/** By account and endpoint. */
const rateLimiters = processState(new Map<string, RateLimiter>());

/** The rate limiter of an account at an endpoint, at the documented rate (API document, Limits). */
export function rateLimiterFor(account: { key: string }, endpoint: Endpoint): RateLimiter {
	const key = `${account.key} ${endpoint}`;
	const limiter = rateLimiters.get(key) ?? new RateLimiter(ENDPOINTS[endpoint].requestsPerMinute);
	rateLimiters.set(key, limiter);
	return limiter;
}
