import { getEventListeners } from 'node:events';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { CanceledError, eachLimit, unlessCanceled } from '../../../nodes/DigitalSales/shared/tasks';

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

	test('leaves no listener at the signal', async () => {
		const { signal } = new AbortController();

		expect(await unlessCanceled(Promise.resolve(1), signal)).toBe(1);
		expect(getEventListeners(signal, 'abort')).toEqual([]);
	});

	test('ends at once when the execution is canceled, or was canceled before', async () => {
		const never = new Promise<void>(() => undefined);
		const execution = new AbortController();

		const waiting = unlessCanceled(never, execution.signal);
		execution.abort();

		await expect(waiting).rejects.toThrow(CanceledError);
		await expect(unlessCanceled(never, execution.signal)).rejects.toThrow(CanceledError);
	});

	test('durations ignore changes of the time of day', () => {
		const before = [clock.elapsed(), clock.now()] as const;
		jest.spyOn(Date, 'now').mockReturnValue(before[1] - 600_000);

		expect(clock.now() - before[1]).toBe(-600_000);
		expect(clock.elapsed()).toBeGreaterThanOrEqual(before[0]);
	});
});
