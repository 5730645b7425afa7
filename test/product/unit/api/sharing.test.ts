import { simulate } from '../../../tools/simulation/simulate';

/** The goal is 0.9 over several seeds (`npm run simulate`); the luck of a single one is worth so much. */
const LEAST = 0.88;

// Seconds on an idle machine.
jest.setTimeout(60_000);

describe('Workers that share nothing but an account of 20 requests a minute', () => {
	test.each([
		[1, 'right'],
		[2, 'right'],
		[5, 'none'],
		[10, 'right'],
		[20, 'none'],
		[50, 'right'],
	] as const)('finish what the limit allows: %i workers, headers: %s', async (workers, headers) => {
		const scenario = { workers, headers, window: 'sliding', minutes: 120, seed: 1 } as const;

		expect((await simulate(scenario)).finished).toBeGreaterThanOrEqual(LEAST);
	});

	test('also in minutes that begin for all at once, with headers that promise too much', async () => {
		const window = 'fixed';
		const scenario = { workers: 3, headers: 'tooMuchLeft', window, minutes: 120, seed: 1 } as const;

		expect((await simulate(scenario)).finished).toBeGreaterThanOrEqual(LEAST);
	});

	test.each([
		[3, 'right', 10],
		[10, 'none', 30],
	] as const)('keep none waiting: %i workers, headers: %s', async (workers, headers, minutes) => {
		const scenario = { workers, headers, window: 'sliding', minutes: 120, seed: 1 } as const;

		const { longestMinutes, failedListings } = await simulate(scenario);

		expect(longestMinutes).toBeLessThan(minutes);
		expect(failedListings).toBeLessThanOrEqual(2);
	});

	test('one alone is never refused', async () => {
		const alone = { workers: 1, window: 'sliding', headers: 'none', minutes: 60, seed: 1 } as const;

		const { finished, refused } = await simulate(alone);

		expect(refused).toBe(0);
		expect(finished).toBeGreaterThanOrEqual(0.98);
	});
});
