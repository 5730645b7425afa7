import { getEventListeners } from 'node:events';
import { CanceledError, clock, wait } from '../../../../nodes/DigitalSales/shared/clock';
import { eachLimit, ReadsAtOnce } from '../../../../nodes/DigitalSales/shared/eachLimit';
import { withoutWaiting } from '../../../support/clocks';

/** Ends after so many turns of the event loop. */
const turns = async (count: number): Promise<void> => {
	for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe('Tasks for many entries', () => {
	test.each([1, 2, 5])('are under way at most %i at once', async (atOnce) => {
		let underWay = 0;
		let most = 0;
		await eachLimit([1, 2, 3, 4, 5, 6], atOnce, async () => {
			most = Math.max(most, ++underWay);
			await turns(2);
			underWay--;
		});

		expect(most).toBe(atOnce);
	});

	test('are under way at as many at once as it is told then, each once', async () => {
		let allowed = 2;
		let underWay = 0;
		const seen: number[] = [];
		const ended: number[] = [];
		await eachLimit(
			[...Array(60).keys()],
			() => allowed,
			async (entry) => {
				seen.push(++underWay);
				await turns(1 + (entry % 3));
				if (entry === 10) allowed = 6;
				if (entry === 30) allowed = 3;
				underWay--;
				ended.push(entry);
			},
		);

		expect(ended.sort((a, b) => a - b)).toEqual([...Array(60).keys()]);
		expect(Math.max(...seen.slice(0, 10))).toBe(2);
		expect(Math.max(...seen.slice(10, 40))).toBe(6);
		expect(Math.max(...seen.slice(40))).toBe(3);
	});

	test('fail with the first that fails, once those under way have ended, and start no more', async () => {
		const ended: number[] = [];
		const running = eachLimit([3, 5, 1, 7, 8], 3, async (entry) => {
			await turns(entry);
			ended.push(entry);
			if (entry !== 5) throw new Error(`entry ${entry}`);
		});

		await expect(running).rejects.toThrow('entry 1');
		expect(ended).toEqual([1, 3, 5]);
	});
});

/** Enters one round: as many reads as are under way at once. */
const round = (reads: ReadsAtOnce, ms: (nth: number) => number): number => {
	const count = reads.now;
	for (let nth = 0; nth < count; nth++) reads.enter(ms(nth));
	return reads.now;
};

describe('Reads at once', () => {
	test('grow from 32 to 96 while they take no longer', () => {
		const reads = new ReadsAtOnce();

		const counts = Array.from({ length: 6 }, () => round(reads, () => 50));

		expect([32, ...counts]).toEqual([32, 48, 64, 80, 96, 96, 96]);
	});

	test.each<[string, (nth: number) => number]>([
		['all take twice as long', () => 100],
		['one is sent again', (nth) => (nth === 7 ? 300 : 50)],
		['one fails', (nth) => (nth === 7 ? Infinity : 50)],
		['all fail', () => Infinity],
	])('halve if %s, are never fewer than 32, and grow again', (_what, ms) => {
		const reads = new ReadsAtOnce();
		for (let nth = 0; nth < 4; nth++) round(reads, () => 50);

		const counts = Array.from({ length: 3 }, () => round(reads, ms));

		expect(counts).toEqual([48, 32, 32]);
		expect(round(reads, () => 50)).toBe(48);
	});

	test('hardly grow for a service that answers 32 at a time', () => {
		const reads = new ReadsAtOnce();

		const counts = Array.from({ length: 40 }, () => {
			const ms = (50 * reads.now) / 32;
			return round(reads, () => ms);
		});

		expect(Math.max(...counts)).toBe(64);
	});

	test.each([
		[300, 10, 48],
		[10, 300, 32],
	])(
		'after %i ms until they are sent and %i ms at the service are %i',
		async (own, service, now) => {
			let elapsed = 0;
			jest.spyOn(clock, 'elapsed').mockImplementation(() => elapsed);
			const turn = jest.spyOn(clock, 'sleep').mockResolvedValue();
			const reads = new ReadsAtOnce();
			for (let nth = 0; nth < 32; nth++) reads.enter(10);
			for (let nth = 0; nth < 48; nth++) reads.enter(10);
			for (let nth = 0; nth < 64; nth++) reads.enter(100);

			const ends = Array.from({ length: 32 }, () => reads.begin());
			elapsed += own;
			await turn.mock.results[0]?.value;
			elapsed += service;
			for (const end of ends) end(true);
			jest.restoreAllMocks();

			expect(reads.now).toBe(now);
		},
	);
});

describe('Waiting', () => {
	afterEach(() => jest.restoreAllMocks());

	test.each([
		[0, []],
		[400, [400]],
		[2_500, [1_000, 1_000, 500]],
	])('%i ms takes as long, in slices of a second', async (milliseconds, expected) => {
		const slices: number[] = [];
		let now = 0;
		jest.spyOn(clock, 'elapsed').mockImplementation(() => now);
		jest.spyOn(clock, 'sleep').mockImplementation(async (slice) => {
			slices.push(slice);
			now += slice;
		});

		await wait(milliseconds);

		expect(slices).toEqual(expected);
	});

	test('ends at once when the execution is cancelled', async () => {
		jest.spyOn(clock, 'sleep').mockReturnValue(new Promise(() => undefined));
		const execution = new AbortController();

		const waiting = wait(60_000, execution.signal);
		execution.abort();

		await expect(waiting).rejects.toThrow(CanceledError);
	});

	test('spans do not follow the time of day, which somebody may set', () => {
		const before = [clock.elapsed(), clock.now()] as const;
		jest.spyOn(Date, 'now').mockReturnValue(before[1] - 600_000);

		expect(clock.now() - before[1]).toBe(-600_000);
		expect(clock.elapsed()).toBeGreaterThanOrEqual(before[0]);
	});

	test('does not begin where the execution was cancelled before', async () => {
		const sleep = jest.spyOn(clock, 'sleep');

		await expect(wait(60_000, AbortSignal.abort())).rejects.toThrow(CanceledError);
		expect(sleep).not.toHaveBeenCalled();
	});

	test('leaves nothing at the signal of an execution, however often it waits', async () => {
		const restoreTime = withoutWaiting(clock);
		const { signal } = new AbortController();

		for (let time = 0; time < 3; time++) await wait(5_000, signal);

		restoreTime();
		expect(getEventListeners(signal, 'abort')).toEqual([]);
	});
});
