import { processedItems } from './engine';

type Enter = (typeof processedItems)['checkProcessedAndRecord'];

/** Calls `around` instead of each insert, with the insert and its number from 1, until mocks are restored. */
export function aroundInserts(
	around: (enter: () => ReturnType<Enter>, nth: number) => ReturnType<Enter>,
): jest.SpyInstance {
	const enter = processedItems.checkProcessedAndRecord.bind(processedItems);
	let nth = 0;
	return jest
		.spyOn(processedItems, 'checkProcessedAndRecord')
		.mockImplementation(async (...args) => await around(async () => await enter(...args), ++nth));
}

/** Makes these inserts into n8n's table fail, counted from 1. */
export function failInserts(...nths: number[]): void {
	aroundInserts(async (enter, nth) => {
		if (nths.includes(nth)) throw new Error('SQLITE_BUSY');
		return await enter();
	});
}

/** A random duration of a read or write in milliseconds: usually 2 to 8, once in a hundred 20 to 80. */
export const latencyOf = (random: () => number): number =>
	random() < 0.99 ? 2 + 6 * random() : 20 + 60 * random();

/** Like `latencyOf`, but one in fifty takes up to two seconds. */
export const stallingLatencyOf = (random: () => number): number =>
	random() < 0.98 ? latencyOf(random) : 2_000 * random();
