import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { SharedReads } from '../../../nodes/DigitalSales/shared/sharedReads';
import { useTimeLapse } from '../../helpers/timeLapse';

describe('Shared reads', () => {
	useTimeLapse();
	let reads: SharedReads<number>;
	let count: number;
	const read = async (): Promise<number> => {
		const nth = ++count;
		await clock.sleep(500);
		return nth;
	};

	beforeEach(() => {
		reads = new SharedReads(3_000);
		count = 0;
	});

	test('a running read is shared, and so is one that started late enough', async () => {
		const calledAt = clock.elapsed();
		const both = [reads.since('key', calledAt, read), reads.since('key', calledAt, read)];

		expect(await Promise.all(both)).toEqual([1, 1]);
		expect([await reads.since('key', calledAt, read), reads.latest('key')]).toEqual([1, 1]);
		expect(await reads.since('another', calledAt, read)).toBe(2);
	});

	test('an older read is repeated, three seconds after it', async () => {
		const calledAt = clock.elapsed();
		await reads.since('key', calledAt, read);
		const later = [1, 2].map((ms) => reads.since('key', calledAt + ms, read));

		expect(await Promise.all(later)).toEqual([2, 2]);
		expect(clock.elapsed() - calledAt).toBe(3_500);
	});

	test('a read that fails leaves the read before, and the next caller reads at once', async () => {
		await reads.since('key', clock.elapsed(), read);
		await clock.sleep(3_000);
		const failing = async () => await Promise.reject<number>(new Error('down'));

		await expect(reads.since('key', clock.elapsed(), failing)).rejects.toThrow('down');
		expect(reads.latest('key')).toBe(1);
		expect(await reads.since('key', clock.elapsed(), read)).toBe(2);
	});

	test('ten thousand are kept', async () => {
		const none = async () => await Promise.resolve(0);
		for (let nth = 0; nth <= 10_000; nth++) await reads.since(`${nth}`, 0, none);

		expect([reads.latest('0'), reads.latest('10000')]).toEqual([undefined, 0]);
	});
});
