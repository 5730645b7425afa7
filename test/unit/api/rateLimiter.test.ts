import { getEventListeners } from 'node:events';
import * as fc from 'fast-check';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { CanceledError } from '../../../nodes/DigitalSales/shared/tasks';
import { RateLimiter, type PermitOptions } from '../../../nodes/DigitalSales/api/rateLimiter';
import { useTimeLapse } from '../../helpers/timeLapse';

const MINUTE = 60_000;
const urgent = { priority: 'urgent' } as const;

/** Sends requests one after the other, and returns the time of each since the first. */
async function send(
	limiter: RateLimiter,
	count: number,
	options?: PermitOptions,
): Promise<number[]> {
	const start = clock.elapsed();
	const moments: number[] = [];
	for (let sent = 0; sent < count; sent++) {
		await limiter.acquirePermit(options);
		moments.push(clock.elapsed() - start);
		limiter.releaseUsed();
	}
	return moments;
}

/** Sends a request that is answered by a 429. */
async function refuse(limiter: RateLimiter): Promise<void> {
	await limiter.acquirePermit();
	limiter.releaseLimited(5_000);
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
			for (let nth = 1; nth < atOnce; nth++) await limiter.acquirePermit();
			await refuse(limiter);
			for (let nth = 1; nth < atOnce; nth++) limiter.releaseUsed();
			await send(limiter, 1);
			return limiter;
		};

		test('admits one request at a time, even if requests sent earlier succeed', async () => {
			expect(await letIn(await refused(16))).toBe(1);
		});

		test('admits urgent requests at once', async () => {
			const limiter = await refused();
			await letIn(limiter);

			expect(await letIn(limiter, urgent)).toBe(20);
		});

		test('admits any number again after a minute', async () => {
			const limiter = await refused();
			await clock.sleep(MINUTE);

			expect(await letIn(limiter)).toBe(20);
		});
	});

	test('admits background requests as others, but none for a minute after a 429', async () => {
		const background = { priority: 'background' } as const;
		const limiter = new RateLimiter(20);
		expect(limiter.delayMs(background)).toBe(0);
		await refuse(limiter);

		expect(await send(limiter, 1, background)).toEqual([MINUTE]);
		expect(limiter.delayMs(background)).toBe(0);
	});

	test.each([
		[4, 15],
		[40, 30],
	])(
		'admits fewer bulk requests for 15 minutes after a 429: after %i answers, %i a minute',
		async (answered, expected) => {
			const bulk = { priority: 'bulk' } as const;
			const limiter = new RateLimiter();
			await send(limiter, answered, bulk);
			await refuse(limiter);
			await clock.sleep(MINUTE);

			expect(await send(limiter, expected + 1, bulk)).toEqual([
				...Array.from({ length: expected }, () => 0),
				MINUTE,
			]);
			await send(limiter, expected - 1, bulk);
			expect(limiter.delayMs(bulk)).toBe(MINUTE);
			expect(limiter.delayMs({ priority: 'background' })).toBe(0);
			expect(limiter.delayMs()).toBe(0);
			await clock.sleep(13 * MINUTE);
			await send(limiter, expected, bulk);
			expect(limiter.delayMs(bulk)).toBe(0);
		},
	);

	test('admits urgent requests first, and counts them', async () => {
		const limiter = new RateLimiter(1);
		await send(limiter, 1, urgent);
		expect(limiter.delayMs(urgent)).toBe(MINUTE);
		const served: string[] = [];
		const serve = async (name: string, options?: PermitOptions): Promise<void> => {
			await send(limiter, 1, options);
			served.push(name);
		};

		await Promise.all([serve('a'), serve('b'), serve('urgent', urgent)]);

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
		await limiter.acquirePermit();
		const { signal } = new AbortController();
		const canceling = new AbortController();
		const start = clock.elapsed();
		const left: string[] = [];
		const wait = (name: string, options: PermitOptions): void => {
			const leave = (how: string): void =>
				void left.push(`${name} ${how} after ${clock.elapsed() - start} ms`);
			void limiter.acquirePermit(options).then(
				(hasPermit) => {
					leave(hasPermit ? 'goes' : 'is late');
					if (hasPermit) limiter.releaseUsed();
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
		limiter.releaseUsed();
		await clock.sleep(0);

		expect(left).toEqual([
			'cancelled CanceledError after 0 ms',
			'late is late after 21 ms',
			'patient goes after 60 ms',
			'next goes after 60 ms',
		]);
		expect(limiter.waitingCount).toBe(0);
		await expect(limiter.acquirePermit({ signal: canceling.signal })).rejects.toThrow(
			CanceledError,
		);
		expect(getEventListeners(signal, 'abort')).toEqual([]);
	});

	test('rejects at once a request that can get no permit in time', async () => {
		const limiter = new RateLimiter(1);
		await send(limiter, 1);
		void limiter.acquirePermit();
		const start = clock.elapsed();

		const late = limiter.acquirePermit({ latest: start + 30_000 });

		expect(await late).toBe(false);
		expect(clock.elapsed()).toBe(start);
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
					const { isLimited, takesMs, cancelAfter } = one;
					const latest = clock.elapsed() + one.patienceMs;
					const taking = limiter.acquirePermit({ latest, signal: canceling.signal });
					const ending = taking.then(async (hasPermit) => {
						if (!hasPermit) return;
						expect(clock.elapsed()).toBeLessThanOrEqual(latest);
						await clock.sleep(takesMs);
						if (isLimited) limiter.releaseLimited(5_000);
						else limiter.releaseUsed();
					});
					for (let turn = 0; turn < (cancelAfter ?? 0); turn++) await Promise.resolve();
					if (cancelAfter !== null) canceling.abort();
					await ending.catch((error: unknown) => {
						if (error instanceof CanceledError) return;
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
