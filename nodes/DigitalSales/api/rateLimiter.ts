import { pull, sortBy } from 'lodash';
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
}

export interface PermitOptions {
	/**
	 * The request goes first, even while requests go one at a time, and may use the whole rate. It waits out the pause
	 * after a 429.
	 */
	isUrgent?: boolean;
	/** Nobody waits for the request, so it gets no permit for a minute after a 429. */
	isBackground?: boolean;
	/** The last moment for the permit, on `clock.elapsed()`. */
	latest?: number;
	signal?: AbortSignal;
	onWait?: (delayMs: number) => void;
}

export class TooLateError extends Error {}

type QueuedRequest = PermitOptions & Deferred<Permit>;

/** Limits are per minute (API document, Limits). */
const MINUTE_MS = 60_000;
const MOST_COUNTED = 10_000;

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

	/** @param leftForUrgent the part of the rate that only urgent requests get */
	constructor(
		private readonly rate = Infinity,
		private readonly leftForUrgent = 0,
	) {}

	get waitingCount(): number {
		return this.queue.length;
	}

	/** @returns Infinity if the request waits for the answer of another request */
	delayMs({ isUrgent = false, isBackground = false }: PermitOptions = {}): number {
		const now = clock.elapsed();
		const quietInMs = this.latest429At + MINUTE_MS - now;
		const pauseMs = Math.max(this.pausedUntil - now, isBackground ? quietInMs : 0);
		const rate = isUrgent ? this.rate : this.rate - this.leftForUrgent;

		if (pauseMs > 0) return pauseMs;
		if (quietInMs > 0 && !isUrgent && this.inFlight.size > 0) return Infinity;

		// There is room once the answered request at this index has left the window.
		const index = this.answered.length + this.inFlight.size - rate;
		if (index < 0) return 0;
		const { answeredAt = Infinity } = this.answered[index] ?? {};
		return Math.max(0, answeredAt + MINUTE_MS - now);
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

		const admission = deferred<Permit>();
		const queued = { ...options, ...admission };
		const cancel = (): void => {
			pull(this.queue, queued);
			queued.reject(new CanceledError());
		};
		this.queue.push(queued);
		signal?.addEventListener('abort', cancel);

		void this.serveQueue();
		const permit = await admission.promise.finally(() =>
			signal?.removeEventListener('abort', cancel),
		);

		if (!signal?.aborted) return permit;
		this.release(permit);
		throw new CanceledError();
	}

	/** The request does not count, even if `releaseUsed` has counted it. */
	release(permit: Permit): void {
		this.inFlight.delete(permit);
		pull(this.answered, permit);
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
		this.release(permit);
	}

	/** @returns the delay until the next check; Infinity if no request waits for time to pass */
	private admitOrReject(): number {
		let nextMs = Infinity;
		for (const queued of sortBy(this.queue, ({ isUrgent }) => !isUrgent)) {
			const now = clock.elapsed();
			const { latest = Infinity } = queued;
			const delayMs = this.delayMs(queued);
			const isTooLate = now + (delayMs === Infinity ? 0 : delayMs) > latest;

			if (isTooLate) {
				pull(this.queue, queued);
				queued.reject(new TooLateError());
			} else if (delayMs > 0) {
				queued.onWait?.(delayMs);
				nextMs = Math.min(nextMs, delayMs, latest - now + 1);
			} else {
				pull(this.queue, queued);
				const permit = {};
				this.inFlight.add(permit);
				queued.resolve(permit);
			}
		}
		return nextMs;
	}

	private async serveQueue(): Promise<void> {
		for (;;) {
			const nextMs = this.admitOrReject();
			const now = clock.elapsed();
			const checkAt = now + Math.min(nextMs, LONGEST_SLEEP_MS);
			const hasEarlierCheck = this.nextCheckAt > now && this.nextCheckAt <= checkAt;
			if (nextMs === Infinity || hasEarlierCheck) return;

			this.nextCheckAt = checkAt;
			await clock.sleep(checkAt - now);
			if (this.nextCheckAt !== checkAt) return;
			this.nextCheckAt = 0;
		}
	}
}

const rateLimiters = processState(new BoundedMap<RateLimiter>({ most: 10_000 }));

/** @param limits of a limiter that is made now */
export function findRateLimiter(
	key: string,
	...limits: ConstructorParameters<typeof RateLimiter>
): RateLimiter {
	const limiter = rateLimiters.get(key) ?? new RateLimiter(...limits);
	rateLimiters.set(key, limiter);
	return limiter;
}

export function rateLimiterFor(account: { key: string }, endpoint: Endpoint): RateLimiter {
	const { requestsPerMinute, leftForUrgent } = ENDPOINTS[endpoint];
	return findRateLimiter(`${account.key} ${endpoint}`, requestsPerMinute, leftForUrgent);
}
