import { getEventListeners } from 'node:events';
import { CanceledError, clock, wait } from '../../../../nodes/DigitalSales/shared/clock';
import { withoutWaiting } from '../../../support/clocks';

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
