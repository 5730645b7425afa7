import * as fc from 'fast-check';
import { CanceledError, clock } from '../../../nodes/DigitalSales/api/clock';
import { readLimitHeaders, retryAfterMs } from '../../../nodes/DigitalSales/api/limitHeaders';
import { RateLimiter } from '../../../nodes/DigitalSales/api/rateLimiter';
import { withoutWaiting } from '../../support/virtualTime';

const MINUTE = 60_000;

describe('The budget of an account', () => {
	let restoreTime: () => number;

	beforeEach(() => {
		restoreTime = withoutWaiting(clock);
	});
	afterEach(() => {
		restoreTime();
	});

	/** Sends requests one after the other and gives the moment of each, from the first on. */
	async function send(limiter: RateLimiter, count: number): Promise<number[]> {
		const start = clock.now();
		const moments: number[] = [];
		for (let sent = 0; sent < count; sent++) {
			await limiter.take();
			moments.push(clock.now() - start);
			limiter.settle({}, clock.now());
		}
		return moments;
	}

	test('lets a burst up to the limit through at once, then waits for the window', async () => {
		const moments = await send(new RateLimiter({ requests: 20, perMs: MINUTE }), 45);

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
					const limiter = new RateLimiter({ requests, perMs: MINUTE });
					const moments: number[] = [];
					for (const pause of pauses) {
						await clock.sleep(pause);
						await limiter.take();
						moments.push(clock.now());
						limiter.settle({}, clock.now());
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

	test('requests under way count', async () => {
		const limiter = new RateLimiter({ requests: 2, perMs: MINUTE });
		await limiter.take();
		await limiter.take();

		expect(limiter.delayMs()).toBe(Infinity);
		const third = limiter.take();
		limiter.settle({}, clock.now());
		await third;
		expect(limiter.delayMs()).toBe(Infinity);
	});

	test('serves those who wait in the order in which they came', async () => {
		const limiter = new RateLimiter({ requests: 1, perMs: MINUTE });
		const served: string[] = [];
		const execution = async (name: string): Promise<void> => {
			for (let page = 0; page < 3; page++) {
				await limiter.take();
				served.push(name);
				limiter.settle({}, clock.now());
			}
		};
		await Promise.all(['a', 'b', 'c', 'd'].map(execution));

		for (let round = 0; round < 12; round += 4) {
			expect([...served.slice(round, round + 4)].sort()).toEqual(['a', 'b', 'c', 'd']);
		}
	});

	test('follows the service where others spend from the same account', async () => {
		const limiter = new RateLimiter({ requests: 20, perMs: MINUTE });
		await limiter.take();
		limiter.settle({ limit: 20, remaining: 3 }, clock.now());

		const moments = await send(limiter, 4);
		expect(moments[2]).toBeLessThan(1_000);
		expect(moments[3]).toBeGreaterThan(MINUTE - 1_000);
	});

	test('what has left the window while an answer was on its way was not spent by others', async () => {
		const limiter = new RateLimiter({ requests: 20, perMs: MINUTE });
		for (let sent = 1; sent <= 20; sent++) {
			await limiter.take();
			limiter.settle({ limit: 20, remaining: 20 - sent }, clock.now());
			await clock.sleep(100);
		}
		await limiter.take();
		const sentAt = clock.now();
		await clock.sleep(1_000);
		// The service counted when it came, with 19 of the first 20 still in its window.
		limiter.settle({ limit: 20, remaining: 0 }, sentAt);

		const moments = await send(limiter, 15);
		expect(moments[14]).toBeLessThan(1_000);
	});

	test('takes a lower limit over from the service, and no higher one', async () => {
		const lower = new RateLimiter({ requests: 20, perMs: MINUTE });
		await lower.take();
		lower.settle({ limit: 5, remaining: 4 }, clock.now());
		expect((await send(lower, 5))[4]).toBeGreaterThan(MINUTE - 1_000);

		const higher = new RateLimiter({ requests: 2, perMs: MINUTE });
		await higher.take();
		higher.settle({ limit: 600, remaining: 599 }, clock.now());
		expect((await send(higher, 2))[1]).toBeGreaterThan(MINUTE - 1_000);
	});

	test('paces nothing without a known limit, until a 429 teaches one', async () => {
		const limiter = new RateLimiter(undefined);
		expect((await send(limiter, 100))[99]).toBeLessThan(1_000);

		await limiter.take();
		limiter.settleLimited({ limit: 2 }, 7_000);
		const moments = await send(limiter, 4);
		expect(moments[0]).toBeGreaterThanOrEqual(7_000);
		expect(moments[1]).toBeLessThan(8_000);
		expect(moments[2]).toBeGreaterThanOrEqual(7_000 + MINUTE);
	});

	test('after a 429 one request goes first, and the others follow when it has passed', async () => {
		const limiter = new RateLimiter(undefined);
		await limiter.take();
		limiter.settleLimited({}, 5_000);
		await limiter.take();
		expect(limiter.delayMs()).toBe(Infinity);
		limiter.settle({}, clock.now());
		expect(limiter.delayMs()).toBe(0);
	});

	test('a cancelled execution stops waiting at once and takes nothing', async () => {
		const limiter = new RateLimiter({ requests: 1, perMs: MINUTE });
		await limiter.take();
		limiter.settle({}, clock.now());
		restoreTime();
		const canceling = new AbortController();
		const first = limiter.take(canceling.signal);
		const second = limiter.take(canceling.signal);
		const started = Date.now();
		canceling.abort();

		await expect(first).rejects.toThrow(CanceledError);
		await expect(second).rejects.toThrow(CanceledError);
		expect(Date.now() - started).toBeLessThan(500);
		restoreTime = withoutWaiting(clock);
		await clock.sleep(MINUTE);
		await limiter.take();
	});
});

describe('What the service says about its limit', () => {
	test.each([
		[{ 'retry-after': '7' }, 7_000],
		[{ 'retry-after': '0' }, 0],
		[{ 'retry-after': '86400' }, 300_000],
		[{ 'x-ratelimit-reset': '9' }, 9_000],
		[{ 'retry-after': 'soon' }, undefined],
		[{ 'retry-after': '-5' }, undefined],
		[{ 'retry-after': '', 'x-ratelimit-reset': '' }, undefined],
		[{}, undefined],
	])('%j asks to wait %p ms', (headers, expected) => {
		expect(retryAfterMs(headers)).toBe(expected);
	});

	test.each([
		['a date', 'retry-after', (at: number) => new Date(at).toUTCString()],
		['a unix time', 'x-ratelimit-reset', (at: number) => String(Math.ceil(at / 1_000))],
	])('%s is counted from now', (_name, header, write) => {
		const asked = retryAfterMs({ [header]: write(clock.now() + 30_000) }) ?? 0;
		expect(asked).toBeGreaterThan(25_000);
		expect(asked).toBeLessThanOrEqual(31_000);
	});

	test('a date that has passed asks for nothing', () => {
		expect(retryAfterMs({ 'retry-after': new Date(clock.now() - 30_000).toUTCString() })).toBe(0);
	});

	test('figures are read, and anything else is ignored', () => {
		expect(readLimitHeaders({ 'x-ratelimit-limit': '20', 'x-ratelimit-remaining': 3 })).toEqual({
			limit: 20,
			remaining: 3,
		});
		expect(readLimitHeaders({ 'x-ratelimit-limit': 'many' })).toEqual({
			limit: undefined,
			remaining: undefined,
		});
	});
});
