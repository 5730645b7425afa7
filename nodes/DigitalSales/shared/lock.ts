import { unlessCanceled } from './clock';
import { processState } from './processState';

/** @internal The last task in the queue of each key. */
export const lockQueues = processState(new Map<string, Promise<void>>());

/**
 * Locks keys as soon as no other task of this process has locked any of them.
 *
 * @returns a function that unlocks the keys
 * @throws CanceledError if the execution is canceled while it waits
 */
export async function lockKeys(keys: readonly string[], signal?: AbortSignal): Promise<() => void> {
	const own = new Set(keys);
	// Join all queues at once, to avoid a deadlock.
	const before = Promise.all([...own].map((key) => lockQueues.get(key))).then(() => undefined);
	let release: () => void = () => undefined;
	const done = new Promise<void>((resolve) => (release = resolve));
	const last = before.then(async () => await done);
	for (const key of own) lockQueues.set(key, last);
	// `last` also waits for the tasks before this one, so that no task overtakes them if this one is canceled.
	void last.then(() => {
		for (const key of own) if (lockQueues.get(key) === last) lockQueues.delete(key);
	});
	await unlessCanceled(before, signal).catch((error: unknown) => {
		release();
		throw error;
	});
	return release;
}
