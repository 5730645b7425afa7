import * as fc from 'fast-check';
import { CanceledError, clock } from '../../../../nodes/DigitalSales/shared/clock';
import { readRateLimitHeaders, retryAfterMs } from '../../../../nodes/DigitalSales/api/response';
import type { RateLimitHeaders } from '../../../../nodes/DigitalSales/api/outcome';
import { RateLimiter, TooLateError } from '../../../../nodes/DigitalSales/api/rateLimiter';
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
			limiter.settle(place, {});
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

	test('what leaves a part of the limit to others is let in only as far as that part stays free', async () => {
		const limiter = new RateLimiter(20);
		const letIn = async (leaves: number): Promise<number> => {
			let sent = 0;
			while (limiter.delayMs({ leaves }) === 0) {
				limiter.settle(await limiter.take({ leaves }), {});
				sent += 1;
			}
			return sent;
		};

		expect([await letIn(0.5), await letIn(0.25), await letIn(0.5), await letIn(0)]).toEqual([
			10, 5, 0, 5,
		]);
		await clock.sleep(MINUTE);
		expect(limiter.delayMs({ leaves: 0.5 })).toBe(0);
	});

	test('what leaves a part of a limit that nobody knows is sent one by one after a 429', async () => {
		const limiter = new RateLimiter(undefined);
		limiter.settleLimited(await limiter.take(), {}, 1_000);
		await clock.sleep(1_000);
		limiter.settle(await limiter.take(), {});
		const options = { isUrgent: true, leaves: 0.5 };
		for (let width = 2; width > 0; width--) await limiter.take(options);

		expect(limiter.delayMs(options)).toBe(Infinity);
		expect(limiter.delayMs({ isUrgent: true })).toBe(0);
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
						limiter.settle(place, {});
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
					limiter.settle(permit, {});
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
		['first', ['back', 'back again', 'new', 'newest']],
		['second', ['new', 'back', 'back again', 'newest']],
	] as const)('who was let in before and comes back goes %s', async (returnsTo, order) => {
		const limiter = new RateLimiter(1);
		const served: string[] = [];
		const serve = async (name: string, isBack: boolean): Promise<void> => {
			const permit = await limiter.take({ returnsTo: isBack ? returnsTo : undefined });
			served.push(name);
			limiter.settle(permit, {});
		};
		const first = await limiter.take();
		const waiting = [
			serve('new', false),
			serve('back', true),
			serve('newest', false),
			serve('back again', true),
		];
		limiter.settle(first, {});
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
			if (first) limiter.settleLimited(first, {}, 5_000);
			for (const permit of others) limiter.settle(permit, {});
			limiter.settle(await limiter.take(), {});
			return limiter;
		};

		test('few are under way, even if what was sent before it succeeds', async () => {
			expect(await letIn(await refused(16))).toBe(2);
		});

		test('what somebody waits for is not among them', async () => {
			const limiter = await refused();
			await letIn(limiter);

			expect(await letIn(limiter, true)).toBe(20);
		});

		test('any number is, when five minutes have passed', async () => {
			const limiter = await refused();
			await clock.sleep(5 * MINUTE);

			expect(await letIn(limiter)).toBe(20);
		});
	});

	describe('where others use the same account', () => {
		const refuse = async (limiter: RateLimiter): Promise<void> =>
			limiter.settleLimited(await limiter.take(), {}, 5_000);

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

			limiter.settle(await limiter.take({ rate: slow }), {});

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
				limiter.settle(await limiter.take({ isUrgent }), {});
			}

			expect(limiter.delayMs({ isUrgent })).toBeGreaterThan(50_000);
			expect(others).toBeGreaterThan(2_000);
			await clock.sleep(MINUTE);
			expect(limiter.delayMs()).toBe(0);
		});

		test('what somebody waits for is not sent while others leave nothing', async () => {
			const limiter = await afterRefusals(3, MINUTE);
			const isUrgent = true;

			limiter.settle(await limiter.take({ isUrgent }), { limit: 20, remaining: 1 });
			expect(limiter.delayMs({ isUrgent })).toBe(0);

			limiter.settle(await limiter.take({ isUrgent }), { limit: 20, remaining: 0 });
			expect(limiter.delayMs({ isUrgent })).toBeGreaterThan(MINUTE - 1_000);
			await clock.sleep(MINUTE);
			expect(limiter.delayMs({ isUrgent })).toBe(0);
		});

		test('a 429 of what somebody waits for takes nothing from the share', async () => {
			const limiter = await afterRefusals(1, MINUTE);
			for (let nth = 0; nth < 5; nth++) {
				limiter.settleLimited(await limiter.take({ isUrgent: true }), {}, 5_000);
				await clock.sleep(MINUTE);
			}

			await send(limiter, 1);

			expect(limiter.delayMs()).toBe(0);
		});

		test('the callers of one rate do not wait for all of another', async () => {
			const limiter = await afterRefusals(2, MINUTE);
			const served: string[] = [];
			const serve = async (name: string, rate?: number): Promise<void> => {
				const permit = await limiter.take({ rate });
				served.push(name);
				limiter.settle(permit, {});
			};

			await Promise.all([
				...Array.from({ length: 10 }, async () => await serve('others')),
				serve('own', 20),
			]);

			expect(served.indexOf('own')).toBeLessThan(3);
		});

		test('a limit that is not documented is not shared', async () => {
			const limiter = new RateLimiter(undefined);
			for (let refused = 0; refused < 5; refused++) {
				limiter.settleLimited(await limiter.take(), { limit: 60 }, 5_000);
				await clock.sleep(MINUTE);
			}

			limiter.settle(await limiter.take(), { limit: 60, remaining: 59 });

			expect(limiter.delayMs()).toBe(0);
		});

		test('what the headers say of others does not count twice', async () => {
			const limiter = await afterRefusals(2, MINUTE);
			await clock.sleep(10_000);
			const permit = await limiter.take();

			limiter.settle(permit, { limit: 20, remaining: 0 });

			expect(limiter.delayMs()).toBeLessThan(8_000);
		});
	});

	test('does not take for others what it spent itself while answers were under way', async () => {
		const service: number[] = [];
		const limiter = new RateLimiter(20);
		restoreTime();
		jest.useFakeTimers();
		const start = clock.elapsed();
		let left = 100;
		const worker = async (): Promise<void> => {
			while (left-- > 0) {
				const place = await limiter.take();
				await clock.sleep(20);
				service.push(clock.elapsed());
				const counted = service.filter((at) => clock.elapsed() - at < MINUTE).length;
				// Some answers come in a moment, others take a second.
				await clock.sleep(left % 3 === 0 ? 1_000 : 20);
				limiter.settle(place, { limit: 20, remaining: 20 - counted });
			}
		};
		const done = Promise.all(Array.from({ length: 4 }, worker));
		await jest.advanceTimersByTimeAsync(20 * MINUTE);
		await done;
		jest.useRealTimers();

		const took = Math.max(...service) - start;
		expect(took).toBeGreaterThanOrEqual(4 * MINUTE);
		expect(took).toBeLessThan(4 * MINUTE * 1.02);
	});

	test.each([
		[34, 20],
		[5, 5],
	])('of a higher limit others have left %i: %i more go out at once', async (remaining, more) => {
		const limiter = new RateLimiter(20);
		limiter.settle(await limiter.take(), { limit: 60, remaining });

		const moments = await send(limiter, 25);

		const atOnce = moments.filter((moment) => moment < 1_000);
		expect(atOnce).toHaveLength(Math.min(more, 19));
	});

	test('a limit that one answer lowered holds until the next answer states another', async () => {
		const limiter = new RateLimiter(20);
		limiter.settle(await limiter.take(), { limit: 1, remaining: 0 });
		expect(limiter.delayMs()).toBeGreaterThan(MINUTE - 1_000);

		limiter.settle(await limiter.take(), { limit: 20, remaining: 19 });

		const moments = await send(limiter, 19);
		expect(moments[18]).toBeLessThan(1_000);
	});

	test('a limit that was stated once holds for five minutes', async () => {
		const limiter = new RateLimiter(20);
		limiter.settle(await limiter.take(), { limit: 2 });

		await clock.sleep(299_000);
		expect((await send(limiter, 3))[2]).toBeGreaterThan(MINUTE - 1_000);
		await clock.sleep(2 * MINUTE);
		expect((await send(limiter, 20))[19]).toBeLessThan(1_000);
	});

	test('a rate that a 429 taught is forgotten as well, unless it is stated again', async () => {
		const limiter = new RateLimiter(undefined);
		limiter.settleLimited(await limiter.take(), { limit: 1 }, 5_000);

		expect((await send(limiter, 2))[1]).toBeGreaterThan(MINUTE - 1_000);
		await clock.sleep(5 * MINUTE);
		expect((await send(limiter, 100))[99]).toBeLessThan(1_000);
		limiter.settle(await limiter.take(), { limit: 3, remaining: 0 });
		expect(limiter.delayMs()).toBeGreaterThan(MINUTE - 1_000);
	});

	describe('half of a limit that the service states, though none is documented,', () => {
		const HALF = { leaves: 0.5 };
		const stating = async (headers: RateLimitHeaders): Promise<RateLimiter> => {
			const limiter = new RateLimiter(undefined);
			limiter.settle(await limiter.take(), headers);
			return limiter;
		};

		test.each<[RateLimitHeaders, number]>([
			[{ limit: 20, remaining: 19 }, 9],
			[{ limit: 20, remaining: 12 }, 2],
			[{ limit: 20, remaining: 10 }, 0],
			[{ limit: 20, remaining: 3 }, 0],
			[{ limit: 20 }, 9],
		])('is left to others: %j', async (headers, more) => {
			const limiter = await stating(headers);
			let sent = 0;
			for (; sent < 20 && limiter.delayMs(HALF) === 0; sent++) {
				limiter.settle(await limiter.take(HALF), {});
			}

			expect(sent).toBe(more);
			expect(limiter.delayMs(HALF)).toBeGreaterThan(MINUTE - 1_000);
			expect(limiter.delayMs()).toBe(0);
			await clock.sleep(MINUTE);
			expect(limiter.delayMs(HALF)).toBe(0);
		});

		test('is not, where none was stated for five minutes', async () => {
			const limiter = await stating({ limit: 2, remaining: 0 });
			await clock.sleep(5 * MINUTE);
			for (let sent = 0; sent < 20; sent++) limiter.settle(await limiter.take(HALF), {});

			expect(limiter.delayMs(HALF)).toBe(0);
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
			limiter.settle(await limiter.take({ rate: 1_000 }), {});
		}

		expect(limiter.delayMs({ rate: 1_000 })).toBe(0);
		expect(limiter.delayMs()).toBeGreaterThan(MINUTE - 1_000);
		expect(limiter.delayMs({ rate: 31 })).toBe(0);
	});

	test('paces nothing without a known limit, until a 429 teaches one', async () => {
		const limiter = new RateLimiter(undefined);
		expect((await send(limiter, 100))[99]).toBeLessThan(1_000);

		const place = await limiter.take();
		limiter.settleLimited(place, { limit: 2 }, 7_000);
		const moments = await send(limiter, 4);
		expect(moments[0]).toBeGreaterThan(6_900);
		expect(moments[1]).toBeLessThan(8_000);
		expect(moments[2]).toBeGreaterThan(6_900 + MINUTE);
	});

	test('whoever queues behind others is told at once, or refused at once', async () => {
		restoreTime();
		const limiter = new RateLimiter(1);
		limiter.settle(await limiter.take(), {});
		const canceling = new AbortController();
		const { signal } = canceling;
		const first = limiter.take({ signal });
		const onWait = jest.fn();
		const start = Date.now();

		const second = limiter.take({ signal, onWait });
		const late = limiter.take({ latest: clock.elapsed() + 30_000 });

		await expect(late).rejects.toThrow(TooLateError);
		expect(Date.now() - start).toBeLessThan(500);
		expect(onWait).toHaveBeenCalledTimes(1);
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
						if (end === 'limited') limiter.settleLimited(permit, { limit: 3 }, 5_000);
						else limiter.settle(permit, end === 'answered' ? {} : undefined);
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
				limiter.settle(await limiter.take(), {});
				await clock.sleep(MINUTE);

				const start = clock.elapsed();
				await Promise.all(Array.from({ length: 5 }, async () => await limiter.take()));
				expect(clock.elapsed() - start).toBeLessThan(1_000);
			}),
			{ numRuns: 100 },
		);
	});

	test.each([
		[0, 20],
		[1, 1],
	])('told of a limit of %i it allows %i at once', async (limit, atOnce) => {
		const limiter = new RateLimiter(20);
		limiter.settle(await limiter.take(), { limit, remaining: 0 });

		const moments = await send(limiter, atOnce);

		expect(moments.filter((moment) => moment < 1_000)).toHaveLength(atOnce - 1);
	});

	test('a permit that comes at the moment of the cancellation is not lost', async () => {
		const outcomes = new Set<string>();
		for (let turns = 0; turns < 20; turns++) {
			const limiter = new RateLimiter(1);
			const canceling = new AbortController();
			const taking = limiter.take({ signal: canceling.signal }).then(
				(permit) => {
					limiter.settle(permit, {});
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

describe('What the service says about its limit', () => {
	test.each([
		[{ 'retry-after': '7' }, 7_000],
		[{ 'retry-after': 7 }, 7_000],
		[{ 'retry-after': ' 7 ' }, 7_000],
		[{ 'retry-after': '0' }, undefined],
		[{ 'retry-after': '0', 'x-ratelimit-reset': '9' }, 9_000],
		[{ 'retry-after': '86400' }, 300_000],
		[{ 'x-ratelimit-reset': '999999999' }, 300_000],
		[{ 'x-ratelimit-reset': '3600' }, 300_000],
		// An hour is the most that is meant in seconds.
		[{ 'x-ratelimit-reset': '45000' }, 45_000],
		// From here on it is a moment, and this one is in 2001.
		[{ 'x-ratelimit-reset': '1000000000' }, undefined],
		[{ 'x-ratelimit-reset': '0' }, undefined],
		[{ 'retry-after': '7', 'x-ratelimit-reset': '9' }, 7_000],
		[{ 'retry-after': '7;' }, undefined],
		[{ 'retry-after': ['7'] }, undefined],
		[{ 'retry-after': [new Date().toUTCString()] }, undefined],
		[{ 'x-ratelimit-reset': '9' }, 9_000],
		[{ 'retry-after': 'soon' }, undefined],
		// Not a date of HTTP, though JavaScript would read it as one.
		[{ 'retry-after': '2999-01-01' }, undefined],
		[{}, undefined],
	])('%j asks to wait %p ms', (headers, expected) => {
		expect(retryAfterMs(headers)).toBe(expected);
	});

	test.each([
		['a date', 'retry-after', (at: number) => new Date(at).toUTCString()],
		['a unix time', 'x-ratelimit-reset', (at: number) => String(Math.ceil(at / 1_000))],
		['a unix time in milliseconds', 'x-ratelimit-reset', (at: number) => String(at)],
	])('%s is counted from now', (_name, header, write) => {
		const asked = retryAfterMs({ [header]: write(clock.now() + 30_000) }) ?? 0;
		expect(asked).toBeGreaterThan(25_000);
		expect(asked).toBeLessThanOrEqual(31_000);
	});

	test.each([
		['a date', 'retry-after', new Date(clock.now() - 30_000).toUTCString()],
		['a reset', 'x-ratelimit-reset', String(Math.floor(clock.now() / 1_000) - 5)],
	])('%s that has passed is no wait to go by', (_name, header, value) => {
		expect(retryAfterMs({ [header]: value })).toBeUndefined();
	});

	test('figures are read, and anything else is ignored', () => {
		expect(readRateLimitHeaders({ 'x-ratelimit-limit': '20', 'x-ratelimit-remaining': 3 })).toEqual(
			{ limit: 20, remaining: 3, resetMs: undefined },
		);
		expect(
			readRateLimitHeaders({ 'x-ratelimit-limit': '20;w=60', 'x-ratelimit-remaining': 'about 3' }),
		).toEqual({ limit: undefined, remaining: undefined, resetMs: undefined });
	});
});
