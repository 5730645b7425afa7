import { unlessCanceled } from './clock';
import { processWide } from './processWide';

/**
 * The last task in line for each key.
 *
 * @internal
 */
export const queues = processWide(new Map<string, Promise<void>>());

/**
 * Runs a task while no other task of this process holds any of the keys; the others queue up.
 *
 * @throws CanceledError when the execution is cancelled while it queues
 */
export async function exclusively<T>(
	keys: readonly string[],
	task: () => Promise<T>,
	signal?: AbortSignal,
): Promise<T> {
	// Always in the same order, or two tasks could each hold a key that the other one waits for.
	const [first, ...others] = [...new Set(keys)].sort();
	if (first === undefined) return await task();
	return await holding(first, async () => await exclusively(others, task, signal), signal);
}

async function holding<T>(key: string, task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
	const before = queues.get(key) ?? Promise.resolve();
	let release: () => void = () => undefined;
	const done = new Promise<void>((resolve) => (release = resolve));
	const last = before.then(async () => await done);
	queues.set(key, last);
	try {
		await unlessCanceled(before, signal);
		return await task();
	} finally {
		release();
		// Tasks before a cancelled one are still running, so the queue ends only with them.
		void last.then(() => {
			if (queues.get(key) === last) queues.delete(key);
		});
	}
}
