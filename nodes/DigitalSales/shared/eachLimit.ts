export const READS_AT_ONCE = 64;

/** After a failure, no further task starts. Throws the first failure once the running tasks have ended. */
export async function eachLimit<T>(
	entries: readonly T[],
	atOnce: number,
	task: (entry: T) => Promise<void>,
): Promise<void> {
	const failures: unknown[] = [];
	const remaining = entries.values();

	const runTasks = async (): Promise<void> => {
		for (const entry of remaining) {
			await task(entry).catch((reason: unknown) => failures.push(reason));
			if (failures.length > 0) break;
		}
	};

	await Promise.all(Array.from({ length: Math.min(atOnce, entries.length) }, runTasks));
	if (failures.length > 0) throw failures[0];
}
