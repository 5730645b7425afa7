import { getEventListeners } from 'node:events';
import * as fc from 'fast-check';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { CanceledError } from '../../../nodes/DigitalSales/shared/tasks';
import {
	RateLimiter,
	SHARES,
	TooLateError,
	type PermitOptions,
} from '../../../nodes/DigitalSales/api/rateLimiter';
import { useTimeLapse } from '../../helpers/timeLapse';

const MINUTE = 60_000;
const isUrgent = true;

/** Sends requests one after the other, and returns the time of each since the first. */
async function send(
	limiter: RateLimiter,
	count: number,
	options?: PermitOptions,
): Promise<number[]> {
	const start = clock.elapsed();
	const moments: number[] = [];
	for (let sent = 0; sent < count; sent++) {
		const permit = await limiter.acquirePermit(options);
		moments.push(clock.elapsed() - start);
		limiter.releaseUsed(permit);
	}
	return moments;
}

/** Sends a request that is answered by a 429. */
async function refuse(limiter: RateLimiter, options?: PermitOptions): Promise<void> {
	limiter.releaseLimited(await limiter.acquirePermit(options), 5_000);
}

describe('The rate limiter', () => {
	useTimeLapse();
	afterEach(() => jest.restoreAllMocks());

	test('admits each request as soon as its window has room, and no sooner', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.integer({ min: 1, max: 6 }),
				fc.array(fc.nat(40_000), { minLength: 1, maxLength: 25 }),
				async (rate, pauses) => {
					const limiter = new RateLimiter(rate);
					const moments: number[] = [];
					for (const pause of pauses) {
						await clock.sleep(pause);
						const hasRoomAt = (moments[moments.length - rate] ?? -Infinity) + MINUTE;
						const expected = Math.max(clock.elapsed(), hasRoomAt);
						await send(limiter, 1);
						moments.push(clock.elapsed());
						expect(moments.at(-1)).toBe(expected);
					}
				},
			),
			{ numRuns: 50 },
		);
	});

	test('queues retries after the first new request', async () => {
		const limiter = new RateLimiter(20);
		const served: string[] = [];
		const serve = async (name: string, isRetry: boolean): Promise<void> => {
			const permit = await limiter.acquirePermit({ isRetry });
			served.push(name);
			limiter.releaseUsed(permit);
		};
		await refuse(limiter);
		expect(limiter.delayMs()).toBe(5_000);

		await Promise.all([
			serve('new', false),
			serve('back', true),
			serve('newest', false),
			serve('back again', true),
		]);

		expect(served).toEqual(['new', 'back', 'back again', 'newest']);
	});

	describe('without a known rate, after a 429', () => {
		/** How many of 20 requests are admitted at once. */
		const letIn = async (limiter: RateLimiter, options?: PermitOptions): Promise<number> => {
			let count = 0;
			for (let nth = 0; nth < 20; nth++) void limiter.acquirePermit(options).then(() => count++);
			await clock.sleep(0);
			return count;
		};
		const refused = async (atOnce = 1): Promise<RateLimiter> => {
			const limiter = new RateLimiter(undefined);
			const permits = [];
			for (let nth = 1; nth < atOnce; nth++) permits.push(await limiter.acquirePermit());
			await refuse(limiter);
			for (const permit of permits) limiter.releaseUsed(permit);
			await send(limiter, 1);
			return limiter;
		};

		test('admits one request at a time, even if requests sent earlier succeed', async () => {
			expect(await letIn(await refused(16))).toBe(1);
		});

		test('admits urgent requests at once', async () => {
			const limiter = await refused();
			await letIn(limiter);

			expect(await letIn(limiter, { isUrgent })).toBe(20);
		});

		test('admits any number again after a minute', async () => {
			const limiter = await refused();
			await clock.sleep(MINUTE);

			expect(await letIn(limiter)).toBe(20);
		});
	});

	describe('for requests with a share', () => {
		const { looks, gets } = SHARES;
		/** How many requests are admitted at once if each is answered before the next. */
		const letIn = async (limiter: RateLimiter, share?: number): Promise<number> => {
			let count = 0;
			while (count < 100 && limiter.delayMs({ share }) === 0) {
				limiter.releaseUsed(await limiter.acquirePermit({ share }));
				count++;
			}
			return count;
		};

		test('allows a part of a documented rate, and leaves the rest to others', async () => {
			const limiter = new RateLimiter(20);

			expect(await letIn(limiter, looks)).toBe(5);
			expect(await letIn(limiter, gets)).toBe(10);
			expect(await letIn(limiter)).toBe(5);
			expect(limiter.delayMs({ share: looks })).toBe(MINUTE);
		});

		test('allows all before a 429, then a part of the requests that succeeded before it', async () => {
			const limiter = new RateLimiter(undefined);
			expect(await letIn(limiter, looks)).toBe(100);
			await clock.sleep(MINUTE);
			await send(limiter, 40);
			await refuse(limiter);
			await clock.sleep(MINUTE);

			expect(await letIn(limiter, looks)).toBe(10);
			expect(await letIn(limiter, gets)).toBe(20);
			expect(await letIn(limiter)).toBe(100);
		});

		test('learns at least the lowest documented rate, and forgets it after 15 minutes', async () => {
			const limiter = new RateLimiter(undefined);
			await refuse(limiter);
			await clock.sleep(14 * MINUTE);
			expect(await letIn(limiter, gets)).toBe(15);
			await clock.sleep(MINUTE);

			expect(await letIn(limiter, gets)).toBe(100);
		});

		test('counts requests in flight', async () => {
			const limiter = new RateLimiter(20);
			for (let nth = 0; nth < 5; nth++) await limiter.acquirePermit({ share: looks });

			expect(limiter.delayMs({ share: looks })).toBe(Infinity);
			expect(limiter.delayMs()).toBe(0);
		});
	});

	test('applies a special rate to its request alone, and counts that request for all', async () => {
		const limiter = new RateLimiter(20);
		await send(limiter, 30, { rate: 1_000 });

		expect(limiter.delayMs({ rate: 1_000 })).toBe(0);
		expect(limiter.delayMs()).toBe(MINUTE);
		expect(limiter.delayMs({ rate: 31 })).toBe(0);
	});

	test('admits urgent requests first, and counts them', async () => {
		const limiter = new RateLimiter(1);
		await send(limiter, 1, { isUrgent });
		expect(limiter.delayMs({ isUrgent })).toBe(MINUTE);
		const served: string[] = [];
		const serve = async (name: string, options?: PermitOptions): Promise<void> => {
			await send(limiter, 1, options);
			served.push(name);
		};

		await Promise.all([serve('a'), serve('b'), serve('urgent', { isUrgent })]);

		expect(served).toEqual(['urgent', 'a', 'b']);
	});

	test('needs one timer for many waiting requests', async () => {
		const limiter = new RateLimiter(20);
		await send(limiter, 20);
		const sleep = jest.spyOn(clock, 'sleep').mockReturnValue(new Promise(() => undefined));
		const canceling = new AbortController();
		const { signal } = canceling;

		const waiting = Array.from({ length: 9 }, async () => await limiter.acquirePermit({ signal }));
		canceling.abort();

		expect((await Promise.allSettled(waiting)).map(({ status }) => status)).toContain('rejected');
		expect(sleep).toHaveBeenCalledTimes(1);
	});

	test('removes canceled and late requests from the queue at once', async () => {
		const limiter = new RateLimiter(undefined);
		await refuse(limiter);
		await clock.sleep(5_000);
		const underWay = await limiter.acquirePermit();
		const { signal } = new AbortController();
		const canceling = new AbortController();
		const start = clock.elapsed();
		const left: string[] = [];
		const wait = (name: string, options: PermitOptions): void => {
			const leave = (how: string): void =>
				void left.push(`${name} ${how} after ${clock.elapsed() - start} ms`);
			void limiter.acquirePermit(options).then(
				(permit) => {
					leave('goes');
					limiter.releaseUsed(permit);
				},
				(error: Error) => leave(error.constructor.name),
			);
		};
		wait('patient', { signal, latest: start + 5_000 });
		wait('cancelled', { signal: canceling.signal });
		wait('late', { latest: start + 20 });
		wait('next', {});

		canceling.abort();
		await clock.sleep(60);
		limiter.releaseUsed(underWay);
		await clock.sleep(0);

		expect(left).toEqual([
			'cancelled CanceledError after 0 ms',
			'late TooLateError after 21 ms',
			'patient goes after 60 ms',
			'next goes after 60 ms',
		]);
		expect(limiter.waitingCount).toBe(0);
		await expect(limiter.acquirePermit({ signal: canceling.signal })).rejects.toThrow(
			CanceledError,
		);
		expect(getEventListeners(signal, 'abort')).toEqual([]);
	});

	test('reports the wait to a queued request at once, or rejects it at once', async () => {
		const limiter = new RateLimiter(1);
		await send(limiter, 1);
		void limiter.acquirePermit();
		const onWait = jest.fn();
		const start = clock.elapsed();

		void limiter.acquirePermit({ onWait });
		const late = limiter.acquirePermit({ latest: start + 30_000 });

		await expect(late).rejects.toThrow(TooLateError);
		expect(clock.elapsed()).toBe(start);
		expect(onWait).toHaveBeenCalledWith(expect.any(Number));
	});

	test('loses no permit if a request is canceled just as it is admitted', async () => {
		const limiter = new RateLimiter(1);
		const canceling = new AbortController();
		const taking = limiter.acquirePermit({ signal: canceling.signal });

		canceling.abort();

		await expect(taking).rejects.toThrow(CanceledError);
		expect(limiter.delayMs()).toBe(0);
	});

	test('loses no permit, whatever is canceled, limited or too late', async () => {
		const request = fc.record({
			rate: fc.constantFrom(undefined, 2, 9),
			isLimited: fc.boolean(),
			takesMs: fc.nat(3_000),
			patienceMs: fc.option(fc.nat(90_000), { nil: Infinity }),
			cancelAfter: fc.option(fc.nat(60)),
		});
		await fc.assert(
			fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 25 }), async (requests) => {
				const limiter = new RateLimiter(5);
				const run = async (one: (typeof requests)[number]): Promise<void> => {
					const canceling = new AbortController();
					const { rate, isLimited, takesMs, cancelAfter } = one;
					const latest = clock.elapsed() + one.patienceMs;
					const taking = limiter.acquirePermit({ rate, latest, signal: canceling.signal });
					const ending = taking.then(async (permit) => {
						expect(clock.elapsed()).toBeLessThanOrEqual(latest);
						await clock.sleep(takesMs);
						if (isLimited) limiter.releaseLimited(permit, 5_000);
						else limiter.releaseUsed(permit);
					});
					for (let turn = 0; turn < (cancelAfter ?? 0); turn++) await Promise.resolve();
					if (cancelAfter !== null) canceling.abort();
					await ending.catch((error: unknown) => {
						if (error instanceof CanceledError || error instanceof TooLateError) return;
						throw error;
					});
				};

				await Promise.all(requests.map(run));
				await clock.sleep(MINUTE);

				const start = clock.elapsed();
				await Promise.all(Array.from({ length: 5 }, async () => await limiter.acquirePermit()));
				expect(clock.elapsed()).toBe(start);
			}),
			{ numRuns: 100 },
		);
	});
});
