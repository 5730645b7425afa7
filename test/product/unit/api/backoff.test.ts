import {
	backoffMs,
	DEFAULT_RETRY_LIMITS,
	mayRetry,
	rateLimitWaitMs,
} from '../../../../nodes/DigitalSales/api/client';

describe('How often and how long', () => {
	test.each([
		[1, 500],
		[2, 1_000],
		[3, 2_000],
		[6, 16_000],
		[7, 30_000],
		[50, 30_000],
	])('after failure %i up to %i ms pass', (failures, cap) => {
		expect([0, 0.5, 1].map((random) => backoffMs(failures, random))).toEqual([0, cap / 2, cap]);
	});

	test.each([
		[1, 5_000],
		[2, 10_000],
		[3, 20_000],
		[50, 20_000],
	])('a 429 number %i is waited out at least half of %i ms', (nth, cap) => {
		expect([0, 0.5, 1].map((random) => rateLimitWaitMs(nth, random))).toEqual([
			cap / 2,
			(cap * 3) / 4,
			cap,
		]);
	});

	test('five times within five minutes unless somebody wants it otherwise', () => {
		expect(DEFAULT_RETRY_LIMITS).toEqual({ maxTries: 5, maxTotalMs: 300_000 });
	});

	test.each([
		[{ failedTries: 2, elapsedMs: 400, delayMs: 600 }, true],
		[{ failedTries: 3, elapsedMs: 0, delayMs: 0 }, false],
		[{ failedTries: 0, elapsedMs: 401, delayMs: 600 }, false],
		[{ failedTries: 0, elapsedMs: 1_001, delayMs: 0 }, false],
		[{ failedTries: 0, elapsedMs: 0, delayMs: 1_000 }, true],
	])('three tries within a second allow another after %j: %p', (used, expected) => {
		expect(mayRetry({ maxTries: 3, maxTotalMs: 1_000 }, used)).toBe(expected);
	});
});
