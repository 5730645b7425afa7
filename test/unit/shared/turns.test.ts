import { getEventListeners } from 'node:events';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import {
	CanceledError,
	cancelableSleep,
	eachLimit,
} from '../../../nodes/DigitalSales/shared/tasks';

/** Ends after so many turns of the event loop. */
const turns = async (count: number): Promise<void> => {
	for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe('Tasks for many entries', () => {
	test.each([1, 5, 9])('run at most %i at once, each once', async (atOnce) => {
		let underWay = 0;
		let most = 0;
		const ended: number[] = [];
		await eachLimit([1, 2, 3, 4, 5, 6], atOnce, async (entry) => {
			most = Math.max(most, ++underWay);
			await turns(1 + (entry % 3));
			underWay--;
			ended.push(entry);
		});

		expect(most).toBe(Math.min(6, atOnce));
		expect(ended.sort()).toEqual([1, 2, 3, 4, 5, 6]);
	});

	test('fail with the first failure when the running tasks have ended, and start no more', async () => {
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

describe('Waiting', () => {
	afterEach(() => jest.restoreAllMocks());

	test.each([
		[0, []],
		[400, [400]],
		[2_500, [1_000, 1_000, 500]],
	])(
		'takes %i ms, in slices of a second, and leaves no listener at the signal',
		async (milliseconds, expected) => {
			const slices: number[] = [];
			let now = 0;
			jest.spyOn(clock, 'elapsed').mockImplementation(() => now);
			jest.spyOn(clock, 'sleep').mockImplementation(async (slice) => {
				slices.push(slice);
				now += slice;
			});

			const { signal } = new AbortController();
			await cancelableSleep(milliseconds, signal);

			expect(slices).toEqual(expected);
			expect(getEventListeners(signal, 'abort')).toEqual([]);
		},
	);

	test('ends at once when the execution is canceled, and does not start after that', async () => {
		const sleep = jest.spyOn(clock, 'sleep').mockReturnValue(new Promise(() => undefined));
		const execution = new AbortController();

		const waiting = cancelableSleep(60_000, execution.signal);
		execution.abort();

		await expect(waiting).rejects.toThrow(CanceledError);
		await expect(cancelableSleep(60_000, execution.signal)).rejects.toThrow(CanceledError);
		expect(sleep).toHaveBeenCalledTimes(1);
	});

	test('durations ignore changes of the time of day', () => {
		const before = [clock.elapsed(), clock.now()] as const;
		jest.spyOn(Date, 'now').mockReturnValue(before[1] - 600_000);

		expect(clock.now() - before[1]).toBe(-600_000);
		expect(clock.elapsed()).toBeGreaterThanOrEqual(before[0]);
	});
});
