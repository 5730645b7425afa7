import { cancelableSleep, clock } from './clock';

/**
 * Repeats a task that fails, after pauses of about these lengths.
 *
 * @throws CanceledError, or the last failure
 */
export async function tryPatiently<T>(
	task: () => Promise<T>,
	pausesMs: readonly number[],
	signal?: AbortSignal,
): Promise<T> {
	for (const pauseMs of pausesMs) {
		try {
			return await task();
		} catch {
			await cancelableSleep(pauseMs * (0.5 + clock.random()), signal);
		}
	}
	return await task();
}
