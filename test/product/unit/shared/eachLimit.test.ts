import { eachLimit } from '../../../../nodes/DigitalSales/shared/eachLimit';

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
