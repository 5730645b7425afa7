import { mapLimit } from '../../../../nodes/DigitalSales/shared/mapLimit';

/** Ends after so many turns of the event loop. */
const turns = async (count: number): Promise<void> => {
	for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe('Tasks for many entries', () => {
	test('give their results in order, whichever ends first', async () => {
		const results = await mapLimit([3, 1, 2], 3, async (entry, index) => {
			await turns(entry);
			return `${index}: ${entry}`;
		});

		expect(results).toEqual(['0: 3', '1: 1', '2: 2']);
	});

	test('give nothing for no entries', async () => {
		await expect(mapLimit([], 3, async () => 'result')).resolves.toEqual([]);
	});

	test.each([1, 2, 5])('are under way at most %i at once', async (atOnce) => {
		let underWay = 0;
		let most = 0;
		await mapLimit([1, 2, 3, 4, 5, 6], atOnce, async () => {
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
		const results = await mapLimit(
			Array.from({ length: 60 }, (_, nth) => nth),
			() => allowed,
			async (entry, index) => {
				seen.push(++underWay);
				await turns(1 + (entry % 3));
				if (index === 10) allowed = 6;
				if (index === 30) allowed = 3;
				underWay--;
				return entry;
			},
		);

		expect(results).toEqual([...Array(60).keys()]);
		expect(Math.max(...seen.slice(0, 10))).toBe(2);
		expect(Math.max(...seen.slice(10, 40))).toBe(6);
		expect(Math.max(...seen.slice(40))).toBe(3);
	});

	test('fail with the first in order, once those under way have ended, and start no more', async () => {
		const ended: number[] = [];
		const running = mapLimit([3, 5, 1, 1, 1], 3, async (entry, index) => {
			await turns(entry);
			ended.push(index);
			if (index !== 1) throw new Error(`entry ${index}`);
		});

		await expect(running).rejects.toThrow('entry 0');
		expect(ended).toEqual([2, 0, 1]);
	});
});
