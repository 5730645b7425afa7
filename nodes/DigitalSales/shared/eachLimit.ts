/** Reads of the service. */
export const READS_AT_ONCE = 64;

/** After a failure no task starts, and the failure is thrown when the running tasks have ended. */
export async function eachLimit<T>(
	entries: readonly T[],
	atOnce: number,
	task: (entry: T) => Promise<void>,
): Promise<void> {
	const failures: unknown[] = [];
	const left = entries.values();
	const runTasks = async (): Promise<void> => {
		for (const entry of left) {
			await task(entry).catch((reason: unknown) => failures.push(reason));
			if (failures.length > 0) break;
		}
	};
	await Promise.all(Array.from({ length: Math.min(atOnce, entries.length) }, runTasks));
	if (failures.length > 0) throw failures[0];
}
