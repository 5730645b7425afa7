import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { PromiseCache } from '../../../../nodes/DigitalSales/shared/processWide';

describe('What is kept for a moment', () => {
	let cache: PromiseCache<number>;
	let now: number;
	let tasks: number;

	beforeEach(() => {
		now = 1_000;
		tasks = 0;
		jest.spyOn(clock, 'elapsed').mockImplementation(() => now);
		cache = new PromiseCache({ most: 2, keptMs: 100 });
	});
	afterEach(() => jest.restoreAllMocks());

	const get = async (key: string): Promise<number> => await cache.get(key, async () => ++tasks);

	test('is shared by all who ask for it, also while it is under way', async () => {
		expect(await Promise.all([get('a'), get('a'), get('b')])).toEqual([1, 1, 2]);
		expect(await get('a')).toBe(1);
	});

	test('is asked for again when its time is over', async () => {
		await get('a');
		now += 99;
		expect(await get('a')).toBe(1);
		now += 1;
		expect(await get('a')).toBe(2);
	});

	test('is no failure, and a late failure forgets nothing newer', async () => {
		let fail: (error: Error) => void = () => undefined;
		const failing = cache.get('a', async () => await new Promise((_, reject) => (fail = reject)));
		cache.forget('a');
		expect(await get('a')).toBe(1);

		fail(new Error('No'));
		await expect(failing).rejects.toThrow('No');

		expect(await get('a')).toBe(1);
		await expect(
			cache.get('b', async () => await Promise.reject(new Error('No'))),
		).rejects.toThrow();
		expect(await get('b')).toBe(2);
	});

	test('is the newest, and can be forgotten by the beginning of its key', async () => {
		for (const key of ['x 1', 'y 1', 'y 2']) await get(key);
		expect(cache.size).toBe(2);
		expect([await get('y 1'), await get('y 2')]).toEqual([2, 3]);

		cache.forget('y 1');

		expect([await get('y 2'), await get('y 1')]).toEqual([3, 4]);
	});
});
