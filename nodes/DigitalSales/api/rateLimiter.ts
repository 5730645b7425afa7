import { pull, reject, sortBy } from 'lodash';
import {
	BoundedMap,
	CanceledError,
	clock,
	type Deferred,
	deferred,
	LONGEST_SLEEP_MS,
	processState,
} from '../shared';
import { ENDPOINTS, type Endpoint } from './endpoints';

export interface Permit {
	answeredAt?: number;
	share?: number;
}

export interface PermitOptions {
	/** Requests a minute, for this request alone. By default the limiter's own. */
	rate?: number;
	/** The request goes first, even while requests go one at a time, but waits out the pause after a 429. By default false. */
	isUrgent?: boolean;
	/** All requests with this or a smaller share together get this part of the rate. By default all of it. */
	share?: number;
	/** The last moment for the permit, on `clock.elapsed()`. By default none. */
	latest?: number;
	/** Takes the request out of the queue. By default nothing does. */
	signal?: AbortSignal;
	/** The request goes after the first new one. By default it goes last. */
	isRetry?: boolean;
	/** Called at each check that the request does not pass. By default nothing is. */
	onWait?: (delayMs: number) => void;
}

export class TooLateError extends Error {}

type QueuedRequest = PermitOptions & Deferred<Permit>;

/** Limits are per minute (API document, Limits). */
const MINUTE_MS = 60_000;
const ONE_AT_A_TIME_MS = MINUTE_MS;
const MOST_COUNTED = 10_000;
/** These reads leave room for a burst of webhooks. */
export const SHARES = { looks: 1 / 4, gets: 3 / 4 };
/** The lowest documented limit. If fewer requests succeed, other processes used the rest. */
const LEAST_RATE = 20;
const LEARNED_FOR_MS = 15 * MINUTE_MS;

/**
 * A sliding window that allows bursts. A request counts until its answer is older than the window, because the
 * platform may count the request as late as it answers. A 429 pauses all requests. For a minute after it, requests
 * go one at a time, because other processes may use the same account and a burst would be refused again.
 */
export class RateLimiter {
	private readonly queue: QueuedRequest[] = [];
	private nextCheckAt = 0;
	private readonly answered: Permit[] = [];
	private readonly inFlight = new Set<Permit>();
	private pausedUntil = 0;
	private latest429At = -Infinity;
	private learnedRate = Infinity;

	constructor(private readonly rate = Infinity) {}

	get waitingCount(): number {
		return this.queue.length;
	}

	/** @returns Infinity if only the answer of a request in flight can make room */
	delayMs({ rate = this.rate, isUrgent, share }: PermitOptions = {}): number {
		const now = clock.elapsed();
		if (now < this.pausedUntil) return this.pausedUntil - now;

		const isOneAtATime = now - this.latest429At < ONE_AT_A_TIME_MS && !isUrgent;
		if (isOneAtATime && this.inFlight.size > 0) return Infinity;

		const delayMs = this.msUntilRoom(rate, this.answered, this.inFlight.size);
		if (share === undefined) return delayMs;

		const isOfShare = (permit: Permit) => (permit.share ?? 1) <= share;
		const answered = this.answered.filter(isOfShare);
		const inFlight = [...this.inFlight].filter(isOfShare).length;
		const most = Math.ceil(this.rateToShare(rate) * share);
		return Math.max(delayMs, this.msUntilRoom(most, answered, inFlight));
	}

	private msUntilRoom(rate: number, answered: Permit[], inFlight: number): number {
		// There is room once the answered request at this index has left the window.
		const index = answered.length + inFlight - rate;
		if (index < 0) return 0;
		const { answeredAt = Infinity } = answered[index] ?? {};
		return Math.max(0, answeredAt + MINUTE_MS - clock.elapsed());
	}

	/** The given rate or, for a while after a 429, the most that succeeded in a minute, if less. */
	rateToShare(rate = this.rate): number {
		if (clock.elapsed() - this.latest429At >= LEARNED_FOR_MS) return rate;
		return Math.min(rate, Math.max(this.learnedRate, this.recentCount()));
	}

	private recentCount(): number {
		const from = clock.elapsed() - MINUTE_MS;
		return this.answered.filter(({ answeredAt = 0 }) => answeredAt > from).length;
	}

	/**
	 * The caller then calls `releaseUsed`, `releaseLimited` after a 429, or `release` if the request does not count.
	 *
	 * @throws CanceledError
	 * @throws TooLateError as soon as no permit can come in time
	 */
	async acquirePermit(options: PermitOptions = {}): Promise<Permit> {
		const { signal } = options;
		if (signal?.aborted) throw new CanceledError();

		const queued = { ...options, ...deferred<Permit>() };
		const cancel = (): void => {
			pull(this.queue, queued);
			queued.reject(new CanceledError());
		};

		this.queue.splice(this.positionFor(queued), 0, queued);
		signal?.addEventListener('abort', cancel);
		void this.serveQueue();
		const permit = await queued.promise.finally(() => signal?.removeEventListener('abort', cancel));

		if (!signal?.aborted) return permit;
		this.release(permit);
		throw new CanceledError();
	}

	/** The request does not count. */
	release(permit: Permit): void {
		this.inFlight.delete(permit);
		void this.serveQueue();
	}

	releaseUsed(permit: Permit): void {
		this.inFlight.delete(permit);
		this.answered.push(Object.assign(permit, { answeredAt: clock.elapsed() }));
		this.answered.splice(0, this.answered.length - MOST_COUNTED);
		void this.serveQueue();
	}

	releaseLimited(permit: Permit, pauseMs: number): void {
		const now = clock.elapsed();
		this.pausedUntil = Math.max(this.pausedUntil, now + pauseMs);
		this.latest429At = now;
		this.learnedRate = Math.max(LEAST_RATE, this.recentCount());
		this.release(permit);
	}

	/** A retry lets one new request pass, so that others get through if the platform keeps refusing the retry. */
	private positionFor({ isRetry }: QueuedRequest): number {
		const [, secondNew] = reject(this.queue, 'isRetry');
		if (!isRetry || !secondNew) return this.queue.length;
		return this.queue.indexOf(secondNew);
	}

	/** @returns the delay until the next check; Infinity if no request waits for time to pass */
	private admitOrReject(): number {
		let nextMs = Infinity;

		for (const queued of sortBy(this.queue, ({ isUrgent }) => !isUrgent)) {
			const { latest = Infinity, share } = queued;
			const now = clock.elapsed();
			const delayMs = this.delayMs(queued);
			// An answer, which some requests wait for, may come at any moment.
			const earliest = now + (Number.isFinite(delayMs) ? delayMs : 0);

			if (earliest > latest) {
				pull(this.queue, queued);
				queued.reject(new TooLateError());
			} else if (delayMs > 0) {
				queued.onWait?.(delayMs);
				nextMs = Math.min(nextMs, delayMs, latest - now + 1);
			} else {
				pull(this.queue, queued);
				const permit = { share };
				this.inFlight.add(permit);
				queued.resolve(permit);
			}
		}

		return nextMs;
	}

	private async serveQueue(): Promise<void> {
		for (;;) {
			const nextMs = this.admitOrReject();
			if (nextMs === Infinity) return;

			const now = clock.elapsed();
			const checkAt = now + Math.min(nextMs, LONGEST_SLEEP_MS);
			const isCheckedBefore = this.nextCheckAt > now && this.nextCheckAt <= checkAt;
			if (isCheckedBefore) return;

			this.nextCheckAt = checkAt;
			await clock.sleep(checkAt - now);
			if (this.nextCheckAt !== checkAt) return;
			this.nextCheckAt = 0;
		}
	}
}

const rateLimiters = processState(new BoundedMap<RateLimiter>({ most: 10_000 }));

export function findRateLimiter(key: string, rate?: number): RateLimiter {
	const limiter = rateLimiters.get(key) ?? new RateLimiter(rate);
	// Also if it was found, so that limiters in use are the last to go.
	rateLimiters.set(key, limiter);
	return limiter;
}

export function rateLimiterFor(account: { key: string }, endpoint: Endpoint): RateLimiter {
	return findRateLimiter(`${account.key} ${endpoint}`, ENDPOINTS[endpoint].requestsPerMinute);
}
