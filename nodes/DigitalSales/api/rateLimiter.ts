import { pull, sortBy } from 'lodash';
import { BoundedMap, CanceledError, clock, type Deferred, deferred, processState } from '../shared';

export interface PermitOptions {
	/**
	 * Urgent requests go first. One run may send thousands of bulk requests. By default none of these. `RateLimiter` says
	 * what they do after a 429.
	 */
	priority?: 'urgent' | 'background' | 'bulk';
	/** The last moment for the permit, on `clock.elapsed()`. By default none. */
	latest?: number;
	/** Takes the request out of the queue. By default nothing does. */
	signal?: AbortSignal;
}

type QueuedRequest = PermitOptions & Deferred<boolean>;

/** Limits are per minute (API document, Limits). */
const MINUTE_MS = 60_000;
const MOST_COUNTED = 10_000;
const LEARNED_FOR_MS = 15 * MINUTE_MS;
/** Of `GET /products`, the lowest that is documented. */
const LOWEST_LIMIT = 20;
const BULK_SHARE = 0.75;

/**
 * A sliding window that allows bursts. A request counts until its answer is older than the window, because the
 * platform may count the request as late as it answers. After a 429, a burst would be refused again, because other
 * processes may use the same account:
 *
 * | priority   | in the pause | until a minute after the 429 | until 15 minutes after it             |
 * | ---------- | ------------ | ---------------------------- | ------------------------------------- |
 * | urgent     | waits        | goes as the rate allows      | goes as the rate allows               |
 * | none       | waits        | goes one at a time           | goes as the rate allows               |
 * | bulk       | waits        | goes one at a time           | leaves a quarter of the learned rate  |
 * | background | waits        | waits                        | goes as the rate allows               |
 */
export class RateLimiter {
	private readonly queue: QueuedRequest[] = [];
	private nextCheckAt = Infinity;
	private inFlight = 0;
	/** When the requests that count were answered. */
	private readonly answeredAt: number[] = [];
	private pausedUntil = 0;
	private latest429At = -Infinity;
	/** What ended without a 429 in the minute before the latest 429, at least the lowest limit. */
	private learnedRate = Infinity;

	constructor(private readonly rate = Infinity) {}

	get waitingCount(): number {
		return this.queue.length;
	}

	/** @returns Infinity if only the answer of a request in flight can make room */
	delayMs({ priority }: PermitOptions = {}): number {
		const now = clock.elapsed();
		const quietUntil = this.latest429At + MINUTE_MS;
		if (now < this.pausedUntil) return this.pausedUntil - now;
		if (now < quietUntil && priority === 'background') return quietUntil - now;

		const isOneAtATime = now < quietUntil && priority !== 'urgent';
		if (isOneAtATime && this.inFlight > 0) return Infinity;

		// There is room once the answer at this index has left the window.
		const index = this.answeredAt.length + this.inFlight - this.rateFor(priority);
		if (index < 0) return 0;
		const answeredAt = this.answeredAt[index] ?? Infinity;
		return Math.max(0, answeredAt + MINUTE_MS - now);
	}

	/**
	 * The caller then calls `releaseUsed`, `releaseLimited` after a 429, or `release` if the request does not count.
	 *
	 * @returns false as soon as no permit can come in time
	 * @throws CanceledError
	 */
	async acquirePermit(options: PermitOptions = {}): Promise<boolean> {
		const { signal } = options;
		const queued = { ...options, ...deferred<boolean>() };
		const serve = (): void => this.serveQueue();

		this.queue.push(queued);
		signal?.addEventListener('abort', serve);
		serve();
		const hasPermit = await queued.promise;
		signal?.removeEventListener('abort', serve);

		if (!signal?.aborted) return hasPermit;
		// Canceled just after the permit came.
		if (hasPermit) this.release();
		throw new CanceledError();
	}

	/** The request does not count. */
	release(): void {
		this.inFlight--;
		this.serveQueue();
	}

	releaseUsed(): void {
		this.answeredAt.push(clock.elapsed());
		this.answeredAt.splice(0, this.answeredAt.length - MOST_COUNTED);
		this.release();
	}

	releaseLimited(pauseMs: number): void {
		const now = clock.elapsed();
		this.pausedUntil = Math.max(this.pausedUntil, now + pauseMs);
		this.latest429At = now;
		const answered = this.answeredAt.filter((at) => at > now - MINUTE_MS).length;
		this.learnedRate = Math.max(LOWEST_LIMIT, answered);
		this.release();
	}

	private rateFor(priority: PermitOptions['priority']): number {
		const isLearned = clock.elapsed() < this.latest429At + LEARNED_FOR_MS;
		if (priority !== 'bulk' || !isLearned) return this.rate;
		return Math.min(this.rate, Math.ceil(this.learnedRate * BULK_SHARE));
	}

	private serveQueue(): void {
		const nextMs = this.admitOrRefuse();
		const checkAt = clock.elapsed() + nextMs;
		if (checkAt >= this.nextCheckAt) return;

		this.nextCheckAt = checkAt;
		void clock.sleep(nextMs).then(() => {
			// An earlier check has replaced this one.
			if (this.nextCheckAt !== checkAt) return;
			this.nextCheckAt = Infinity;
			this.serveQueue();
		});
	}

	/** @returns the delay until the next check; Infinity if no request waits for time to pass */
	private admitOrRefuse(): number {
		let nextMs = Infinity;

		for (const queued of sortBy(this.queue, ({ priority }) => priority !== 'urgent')) {
			const { latest = Infinity, signal } = queued;
			const now = clock.elapsed();
			const delayMs = this.delayMs(queued);
			// An answer, which some requests wait for, may come at any moment.
			const earliest = now + (Number.isFinite(delayMs) ? delayMs : 0);
			const isRefused = signal?.aborted === true || earliest > latest;

			if (delayMs > 0 && !isRefused) {
				nextMs = Math.min(nextMs, delayMs, latest - now + 1);
				continue;
			}

			pull(this.queue, queued);
			if (!isRefused) this.inFlight++;
			queued.resolve(!isRefused);
		}

		return nextMs;
	}
}

const rateLimiters = processState(new BoundedMap<RateLimiter>({ most: 10_000 }));

export function findRateLimiter(key: string, rate?: number): RateLimiter {
	const limiter = rateLimiters.get(key) ?? new RateLimiter(rate);
	// Also if it was found, so that limiters in use are the last to go.
	rateLimiters.set(key, limiter);
	return limiter;
}
