/**
 * Runs a task for each entry, at most so many at once, and gives the results in order. When tasks
 * fail no further ones start, those under way are awaited, and the first failure in order is thrown.
 */
export async function mapLimit<T, R>(
	entries: readonly T[],
	atOnce: number,
	task: (entry: T, index: number) => Promise<R>,
): Promise<R[]> {
	const results: R[] = [];
	const failures: Array<{ index: number; reason: unknown }> = [];
	const left = entries.entries();
	const worker = async (): Promise<void> => {
		for (const [index, entry] of left) {
			try {
				results[index] = await task(entry, index);
			} catch (reason) {
				failures.push({ index, reason });
			}
			if (failures.length > 0) return;
		}
	};
	await Promise.all(Array.from({ length: Math.min(atOnce, entries.length) }, worker));
	const [first] = failures.sort((a, b) => a.index - b.index);
	if (first) throw first.reason;
	return results;
}
