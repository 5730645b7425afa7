import { readings, readSince } from '../../../nodes/DigitalSales/api/readBack';
import { parseTransaction } from '../../../nodes/DigitalSales/api/schemas/transaction';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { clearProcessState } from '../../../nodes/DigitalSales/shared/processState';
import { useTimeLapse } from '../../helpers/timeLapse';

describe('Reads of a transaction', () => {
	useTimeLapse();
	let count: number;
	const read = async () => {
		const nth = ++count;
		await clock.sleep(500);
		return parseTransaction({ hash: `read ${nth}` });
	};
	const since = async (key: string, earliest: number, start = read) =>
		(await readSince(key, earliest, start))?.hash;

	beforeEach(() => {
		clearProcessState();
		count = 0;
	});

	test('a running read is shared, and so is one that started late enough', async () => {
		const calledAt = clock.elapsed();
		const both = [since('key', calledAt), since('key', calledAt)];

		expect(await Promise.all(both)).toEqual(['read 1', 'read 1']);
		expect(await since('key', calledAt)).toBe('read 1');
		expect(readings.get('key')?.shown?.hash).toBe('read 1');
		expect(await since('another', calledAt)).toBe('read 2');
	});

	test('an older read is repeated, three seconds after it', async () => {
		const calledAt = clock.elapsed();
		await since('key', calledAt);
		const later = [1, 2].map((ms) => since('key', calledAt + ms));

		expect(await Promise.all(later)).toEqual(['read 2', 'read 2']);
		expect(clock.elapsed() - calledAt).toBe(3_500);
	});

	test('a read that fails leaves the read before, and the next caller reads at once', async () => {
		await since('key', clock.elapsed());
		await clock.sleep(3_000);
		const failing = async () => await Promise.reject<undefined>(new Error('down'));

		await expect(since('key', clock.elapsed(), failing)).rejects.toThrow('down');
		expect(readings.get('key')?.shown?.hash).toBe('read 1');
		expect(await since('key', clock.elapsed())).toBe('read 2');
	});

	test('ten thousand are kept', async () => {
		const none = async () => await Promise.resolve(undefined);
		for (let nth = 0; nth <= 10_000; nth++) await since(`${nth}`, 0, none);

		expect([readings.get('0'), readings.get('10000')]).toEqual([
			undefined,
			expect.objectContaining({ shown: undefined }),
		]);
	});
});
