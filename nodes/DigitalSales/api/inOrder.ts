/**
 * Runs a task for each index, at most so many at once, and gives the results in order. When tasks
 * fail no further ones start, those under way are awaited, and the first failure in order is thrown.
 */
export async function inOrder<T>(
	count: number,
	atOnce: number,
	task: (index: number) => Promise<T>,
): Promise<T[]> {
	const results: T[] = [];
	const failures: Array<{ index: number; reason: unknown }> = [];
	let next = 0;
	const worker = async (): Promise<void> => {
		while (next < count && failures.length === 0) {
			const index = next++;
			try {
				results[index] = await task(index);
			} catch (reason) {
				failures.push({ index, reason });
			}
		}
	};
	await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker));
	const [first] = failures.sort((a, b) => a.index - b.index);
	if (first) throw first.reason;
	return results;
}
