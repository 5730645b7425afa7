/**
 * Runs a task for each entry, at most so many at once, and gives the results in order. After a
 * failure no more tasks start, those under way are awaited, and the first failure in order is thrown.
 */
export async function mapLimit<T, R>(
	entries: readonly T[],
	atOnce: number,
	task: (entry: T, index: number) => Promise<R>,
): Promise<R[]> {
	const results: R[] = [];
	const failures = new Map<number, unknown>();
	const left = entries.entries();
	const worker = async (): Promise<void> => {
		for (const [index, entry] of left) {
			try {
				results[index] = await task(entry, index);
			} catch (reason) {
				failures.set(index, reason);
			}
			if (failures.size > 0) return;
		}
	};
	await Promise.all(Array.from({ length: Math.min(atOnce, entries.length) }, worker));
	if (failures.size > 0) throw failures.get(Math.min(...failures.keys()));
	return results;
}
