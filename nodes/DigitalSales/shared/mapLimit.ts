/**
 * Runs a task for each entry, at most so many at once as it is told then, and gives the results in order. After a
 * failure no more tasks start, those under way are awaited, and the first failure in order is thrown.
 */
export async function mapLimit<T, R>(
	entries: readonly T[],
	atOnce: number | (() => number),
	task: (entry: T, index: number) => Promise<R>,
): Promise<R[]> {
	const results: R[] = [];
	const failures = new Map<number, unknown>();
	const left = entries.entries();
	const most = (): number => (typeof atOnce === 'number' ? atOnce : atOnce());
	const workers: Array<Promise<void>> = [];
	let working = 0;
	const work = async (): Promise<void> => {
		working++;
		for (const [index, entry] of left) {
			try {
				results[index] = await task(entry, index);
			} catch (reason) {
				failures.set(index, reason);
			}
			if (failures.size > 0 || working > most()) break;
			if (working < most()) workers.push(work());
		}
		working--;
	};
	while (working < Math.min(most(), entries.length)) workers.push(work());
	for (const worker of workers) await worker;
	if (failures.size > 0) throw failures.get(Math.min(...failures.keys()));
	return results;
}
