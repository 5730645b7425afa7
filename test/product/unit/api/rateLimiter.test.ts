import { getEventListeners } from 'node:events';
import * as fc from 'fast-check';
import { CanceledError, clock } from '../../../../nodes/DigitalSales/shared/clock';
import { retryAfterMs } from '../../../../nodes/DigitalSales/api/response';
import {
	RateLimiter,
	TooLateError,
	type TakeOptions,
} from '../../../../nodes/DigitalSales/api/rateLimiter';
import { withoutWaiting } from '../../../support/clocks';

const MINUTE = 60_000;

describe('The budget of an account', () => {
	let restoreTime: () => number;

	beforeEach(() => {
		restoreTime = withoutWaiting(clock);
	});
	afterEach(() => {
		jest.useRealTimers();
		restoreTime();
	});

	/** Sends requests one after the other and gives the moment of each, from the first on. */
	async function send(limiter: RateLimiter, count: number): Promise<number[]> {
		const start = clock.elapsed();
		const moments: number[] = [];
		for (let sent = 0; sent < count; sent++) {
			const place = await limiter.take();
			moments.push(clock.elapsed() - start);
			limiter.settle(place);
		}
		return moments;
	}

	test('lets a burst up to the limit through at once, then waits for the window', async () => {
		const moments = await send(new RateLimiter(20), 45);

		expect(moments[19]).toBeLessThan(1_000);
		expect(moments[20]).toBeGreaterThanOrEqual(MINUTE);
		expect(moments[39]).toBeLessThan(MINUTE + 1_000);
		expect(moments[40]).toBeGreaterThanOrEqual(2 * MINUTE);
	});

	test('no window of time holds more requests than the limit', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.integer({ min: 1, max: 6 }),
				fc.array(fc.nat(40_000), { minLength: 1, maxLength: 25 }),
				async (requests, pauses) => {
					const limiter = new RateLimiter(requests);
					const moments: number[] = [];
					for (const pause of pauses) {
						await clock.sleep(pause);
						const place = await limiter.take();
						moments.push(clock.elapsed());
						limiter.settle(place);
					}
					for (const moment of moments) {
						const within = moments.filter((other) => other >= moment && other < moment + MINUTE);
						expect(within.length).toBeLessThanOrEqual(requests);
					}
				},
			),
			{ numRuns: 50 },
		);
	});

	test('no caller is forgotten when others of its rate leave the line at the same moment', async () => {
		const rate = 2;
		await fc.assert(
			fc.asyncProperty(fc.array(fc.nat(6), { minLength: 3, maxLength: 8 }), async (microtasks) => {
				const limiter = new RateLimiter(undefined, 1_000);
				const callers = microtasks.map(async (count) => {
					for (let passed = 0; passed < count; passed++) await undefined;
					const permit = await limiter.take({ rate });
					await clock.sleep(30);
					limiter.settle(permit);
					return 'served';
				});
				const late = new Promise((resolve) => setTimeout(resolve, 500, 'forgotten'));
				const outcomes = await Promise.all(
					callers.map(async (caller) => await Promise.race([caller, late])),
				);
				expect(outcomes).toEqual(microtasks.map(() => 'served'));
			}),
			{ numRuns: 60 },
		);
	});

	test.each([
		['first where a limit is documented', 1, ['back', 'back again', 'new', 'newest']],
		['second elsewhere', undefined, ['new', 'back', 'back again', 'newest']],
	])('who was let in before and comes back goes %s', async (_place, rate, order) => {
		const limiter = new RateLimiter(rate);
		const served: string[] = [];
		const serve = async (name: string, isBack: boolean): Promise<void> => {
			const permit = await limiter.take({ isBack });
			served.push(name);
			limiter.settle(permit);
		};
		limiter.settleLimited(await limiter.take(), 5_000);
		const waiting = [
			serve('new', false),
			serve('back', true),
			serve('newest', false),
			serve('back again', true),
		];
		await Promise.all(waiting);

		expect(served).toEqual(order);
	});

	describe('without a known rate, after a 429', () => {
		/** How many of 20 requests are let in at once. */
		const letIn = async (limiter: RateLimiter, isUrgent = false): Promise<number> => {
			let count = 0;
			for (let nth = 0; nth < 20; nth++) void limiter.take({ isUrgent }).then(() => count++);
			await Promise.resolve().then(() => undefined);
			await clock.sleep(0);
			return count;
		};
		const refused = async (atOnce = 1): Promise<RateLimiter> => {
			const limiter = new RateLimiter(undefined);
			const permits = [];
			for (let nth = 0; nth < atOnce; nth++) permits.push(await limiter.take());
			const [first, ...others] = permits;
			if (first) limiter.settleLimited(first, 5_000);
			for (const permit of others) limiter.settle(permit);
			limiter.settle(await limiter.take());
			return limiter;
		};

		test('few are under way, even if what was sent before it succeeds', async () => {
			expect(await letIn(await refused(16))).toBe(2);
		});

		test('what somebody waits for is not among them, unless it yields', async () => {
			const limiter = await refused();
			await letIn(limiter);

			expect(await letIn(limiter, true)).toBe(20);
			expect(limiter.delayMs({ isUrgent: true, yields: true })).toBe(Infinity);
		});

		test('any number is, when five minutes have passed', async () => {
			const limiter = await refused();
			await clock.sleep(5 * MINUTE);

			expect(await letIn(limiter)).toBe(20);
		});
	});

	describe('where others use the same account', () => {
		const refuse = async (limiter: RateLimiter): Promise<void> =>
			limiter.settleLimited(await limiter.take(), 5_000);

		/** Refuses so many requests in a row, and then answers one. */
		const afterRefusals = async (refusals: number, apartMs: number): Promise<RateLimiter> => {
			const limiter = new RateLimiter(20);
			for (let refused = 0; refused < refusals; refused++) {
				await refuse(limiter);
				await clock.sleep(apartMs);
			}
			await send(limiter, 1);
			return limiter;
		};

		test.each([
			[1, MINUTE, 0, 0],
			[2, 6_000, 0, 0],
			[2, MINUTE, 2_000, 5_000],
			[40, MINUTE, 7_000, 40_000],
		])('after %i 429s, %i ms apart, %i to %i ms are between requests', async (...given) => {
			const [refusals, apartMs, least, most] = given;
			const limiter = await afterRefusals(refusals, apartMs);

			expect(limiter.delayMs()).toBeGreaterThanOrEqual(least);
			expect(limiter.delayMs()).toBeLessThanOrEqual(most);
		});

		test('an hour after the last 429 the whole limit is ours again', async () => {
			const limiter = await afterRefusals(40, MINUTE);

			await clock.sleep(20 * MINUTE);
			expect(limiter.delayMs()).toBe(0);
			await send(limiter, 1);
			expect(limiter.delayMs()).toBeGreaterThan(2_000);

			await clock.sleep(40 * MINUTE);
			const moments = await send(limiter, 21);
			expect(moments[19]).toBeLessThan(1_000);
			expect(moments[20]).toBeGreaterThanOrEqual(MINUTE);
		});

		test('a slow rate of a run holds up nobody else', async () => {
			const limiter = await afterRefusals(2, MINUTE);
			const slow = 1;
			await clock.sleep(MINUTE);

			limiter.settle(await limiter.take({ rate: slow }));

			// Three quarters of its pace at least.
			expect(limiter.delayMs({ rate: slow })).toBeGreaterThan(45_000);
			expect(limiter.delayMs()).toBeLessThan(8_000);
		});

		test('what somebody waits for is not spread over time, counts, and holds up nobody', async () => {
			const limiter = await afterRefusals(3, MINUTE);
			const others = limiter.delayMs();
			const isUrgent = true;

			for (let sent = 0; sent < 19; sent++) {
				expect(limiter.delayMs({ isUrgent })).toBe(0);
				limiter.settle(await limiter.take({ isUrgent }));
			}

			expect(limiter.delayMs({ isUrgent })).toBeGreaterThan(50_000);
			expect(others).toBeGreaterThan(2_000);
			await clock.sleep(MINUTE);
			expect(limiter.delayMs()).toBe(0);
		});

		test('a 429 of what somebody waits for takes nothing from the share', async () => {
			const limiter = await afterRefusals(1, MINUTE);
			for (let nth = 0; nth < 5; nth++) {
				limiter.settleLimited(await limiter.take({ isUrgent: true }), 5_000);
				await clock.sleep(MINUTE);
			}

			await send(limiter, 1);

			expect(limiter.delayMs()).toBe(0);
		});

		test('a limit that is not documented is not shared', async () => {
			const limiter = new RateLimiter(undefined);
			for (let refused = 0; refused < 5; refused++) {
				limiter.settleLimited(await limiter.take(), 5_000);
				await clock.sleep(MINUTE);
			}

			limiter.settle(await limiter.take());

			expect(limiter.delayMs()).toBe(0);
		});
	});

	test('a limiter of another window lets so many in within it', async () => {
		const limiter = new RateLimiter(2, 20_000);
		await send(limiter, 2);
		expect(limiter.delayMs()).toBeGreaterThan(19_000);
		await clock.sleep(20_000);
		expect(limiter.delayMs()).toBe(0);
	});

	test.each([-3_600_000, 3_600_000])('a clock set by %i ms changes no wait', async (by) => {
		const limiter = new RateLimiter(20);
		await send(limiter, 20);
		const before = limiter.delayMs();
		const { now } = clock;
		clock.now = () => now() + by;

		const after = limiter.delayMs();

		clock.now = now;
		expect(before).toBeGreaterThan(MINUTE - 1_000);
		expect(Math.abs(after - before)).toBeLessThan(1_000);
	});

	test('a rate of its own holds for a request alone, and what it sends counts for all', async () => {
		const limiter = new RateLimiter(20);
		for (let sent = 0; sent < 30; sent++) {
			limiter.settle(await limiter.take({ rate: 1_000 }));
		}

		expect(limiter.delayMs({ rate: 1_000 })).toBe(0);
		expect(limiter.delayMs()).toBeGreaterThan(MINUTE - 1_000);
		expect(limiter.delayMs({ rate: 31 })).toBe(0);
	});

	test('what somebody waits for goes first', async () => {
		const limiter = new RateLimiter(1);
		limiter.settle(await limiter.take());
		const served: string[] = [];
		const serve = async (name: string, isUrgent: boolean): Promise<void> => {
			limiter.settle(await limiter.take({ isUrgent }));
			served.push(name);
		};

		await Promise.all([serve('a', false), serve('b', false), serve('urgent', true)]);

		expect(served).toEqual(['urgent', 'a', 'b']);
	});

	test('many who wait need one timer', async () => {
		const limiter = new RateLimiter(20);
		for (let sent = 0; sent < 20; sent++) limiter.settle(await limiter.take());
		const sleep = jest.spyOn(clock, 'sleep').mockReturnValue(new Promise(() => undefined));
		const canceling = new AbortController();
		const { signal } = canceling;

		const waiting = Array.from({ length: 9 }, async () => await limiter.take({ signal }));
		canceling.abort();

		expect((await Promise.allSettled(waiting)).map(({ status }) => status)).toContain('rejected');
		expect(sleep).toHaveBeenCalledTimes(1);
		sleep.mockRestore();
	});

	test('who is cancelled or would come too late leaves at once, and holds up nobody', async () => {
		restoreTime();
		const limiter = new RateLimiter(undefined);
		limiter.settleLimited(await limiter.take(), 0);
		const underWay = await limiter.take();
		const { signal } = new AbortController();
		const canceling = new AbortController();
		const left: string[] = [];
		const wait = (name: string, options: TakeOptions): void => {
			void limiter.take(options).then(
				() => left.push(name),
				(error: Error) => left.push(`${name}: ${error.constructor.name}`),
			);
		};
		wait('a', { signal: canceling.signal });
		wait('b', { latest: clock.elapsed() + 20 });
		wait('c', { signal });

		canceling.abort();
		await Promise.resolve();
		await new Promise((resolve) => setTimeout(resolve, 60));
		expect(left).toEqual(['a: CanceledError', 'b: TooLateError']);
		limiter.settle(underWay);
		await new Promise((resolve) => setImmediate(resolve));
		expect([left.at(-1), limiter.waiting]).toEqual(['c', 0]);
		await expect(limiter.take({ signal: canceling.signal })).rejects.toThrow(CanceledError);
		expect(getEventListeners(signal, 'abort')).toEqual([]);
		restoreTime = withoutWaiting(clock);
	});

	test('who can not wait for long is refused in time, while another waits for longer', async () => {
		restoreTime();
		const limiter = new RateLimiter(undefined);
		limiter.settleLimited(await limiter.take(), 0);
		await limiter.take();
		const canceling = new AbortController();
		const patient = limiter.take({ latest: clock.elapsed() + 5_000, signal: canceling.signal });
		const start = Date.now();

		await expect(limiter.take({ latest: clock.elapsed() + 20 })).rejects.toThrow(TooLateError);

		expect(Date.now() - start).toBeLessThan(500);
		canceling.abort();
		await expect(patient).rejects.toThrow(CanceledError);
		restoreTime = withoutWaiting(clock);
	});

	test('whoever waits behind others is told at once, or refused at once', async () => {
		restoreTime();
		const limiter = new RateLimiter(1);
		limiter.settle(await limiter.take());
		const canceling = new AbortController();
		const { signal } = canceling;
		const first = limiter.take({ signal });
		const onWait = jest.fn();
		const start = Date.now();

		const second = limiter.take({ signal, onWait });
		const late = limiter.take({ latest: clock.elapsed() + 30_000 });

		await expect(late).rejects.toThrow(TooLateError);
		expect(Date.now() - start).toBeLessThan(500);
		expect(onWait).toHaveBeenCalledWith(expect.any(Number));
		canceling.abort();
		await expect(first).rejects.toThrow(CanceledError);
		await expect(second).rejects.toThrow(CanceledError);
		restoreTime = withoutWaiting(clock);
	});

	test('whatever is cancelled, limited, too late or not answered, no permit is lost', async () => {
		const rates = [undefined, 2, 9];
		const request = fc.record({
			rate: fc.constantFrom(...rates),
			end: fc.constantFrom('answered', 'limited', 'not answered'),
			takesMs: fc.nat(3_000),
			patienceMs: fc.option(fc.nat(90_000), { nil: Infinity }),
			cancelAfter: fc.option(fc.nat(60)),
		});
		await fc.assert(
			fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 25 }), async (requests) => {
				const limiter = new RateLimiter(5);
				const run = async (one: (typeof requests)[number]): Promise<void> => {
					const canceling = new AbortController();
					const { rate, end, takesMs, cancelAfter } = one;
					const latest = clock.elapsed() + one.patienceMs;
					const taking = limiter.take({ rate, latest, signal: canceling.signal });
					const ending = taking.then(async (permit) => {
						expect(permit.takenAt).toBeLessThanOrEqual(latest);
						await clock.sleep(takesMs);
						if (end === 'limited') limiter.settleLimited(permit, 5_000);
						else limiter.settle(permit, end === 'answered');
					});
					for (let turn = 0; turn < (cancelAfter ?? 0); turn++) await Promise.resolve();
					if (cancelAfter !== null) canceling.abort();
					await ending.catch((error: unknown) => {
						if (error instanceof CanceledError || error instanceof TooLateError) return;
						throw error;
					});
				};

				await Promise.all(requests.map(run));
				// By then the whole limit is ours again, whatever its 429s have left of our share.
				await clock.sleep(25 * MINUTE);
				limiter.settle(await limiter.take());
				await clock.sleep(MINUTE);

				const start = clock.elapsed();
				await Promise.all(Array.from({ length: 5 }, async () => await limiter.take()));
				expect(clock.elapsed() - start).toBeLessThan(1_000);
			}),
			{ numRuns: 100 },
		);
	});

	test('a permit that comes at the moment of the cancellation is not lost', async () => {
		const outcomes = new Set<string>();
		for (let turns = 0; turns < 20; turns++) {
			const limiter = new RateLimiter(1);
			const canceling = new AbortController();
			const taking = limiter.take({ signal: canceling.signal }).then(
				(permit) => {
					limiter.settle(permit);
					return 'taken';
				},
				() => 'given back',
			);
			for (let turn = 0; turn < turns; turn++) await Promise.resolve();
			canceling.abort();
			const outcome = await taking;
			outcomes.add(outcome);
			await new Promise((resolve) => setImmediate(resolve));

			expect(Math.round(limiter.delayMs() / MINUTE)).toBe(outcome === 'taken' ? 1 : 0);
		}
		expect([...outcomes].sort()).toEqual(['given back', 'taken']);
	});
});

describe('How long the service asks to wait', () => {
	test.each([
		[{ 'retry-after': '7' }, 7_000],
		[{ 'retry-after': 7 }, 7_000],
		[{ 'retry-after': ' 7 ' }, 7_000],
		[{ 'retry-after': '0' }, undefined],
		[{ 'retry-after': '86400' }, 300_000],
		[{ 'retry-after': '7;' }, undefined],
		[{ 'retry-after': 'soon' }, undefined],
		// Not a date of HTTP, though JavaScript would read it as one.
		[{ 'retry-after': '2999-01-01' }, undefined],
		[{}, undefined],
	])('%j: %p ms', (headers, expected) => {
		expect(retryAfterMs(headers)).toBe(expected);
	});

	test('a date is counted from now', () => {
		const asked = retryAfterMs({ 'retry-after': new Date(clock.now() + 30_000).toUTCString() });
		expect(asked).toBeGreaterThan(25_000);
		expect(asked).toBeLessThanOrEqual(31_000);
	});

	test('a date that has passed is no wait to go by', () => {
		const passed = new Date(clock.now() - 30_000).toUTCString();
		expect(retryAfterMs({ 'retry-after': passed })).toBeUndefined();
	});
});
