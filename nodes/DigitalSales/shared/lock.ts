import { unlessCanceled } from './clock';
import { deferred } from './deferred';
import { processState } from './processState';

/** @internal */
export const lockQueues = processState(new Map<string, Promise<void>>());

/**
 * Locks the keys once all earlier tasks of this process have released them.
 *
 * @returns a function that unlocks the keys
 * @throws CanceledError
 */
export async function lockKeys(keys: readonly string[], signal?: AbortSignal): Promise<() => void> {
	const own = new Set(keys);
	const released = deferred();
	// All at once, to avoid a deadlock.
	const before = Promise.all([...own].map((key) => lockQueues.get(key))).then(() => undefined);
	const last = before.then(async () => await released.promise);

	for (const key of own) lockQueues.set(key, last);
	// If this task is canceled, later tasks still wait for `before`.
	void last.then(() => {
		for (const key of own) if (lockQueues.get(key) === last) lockQueues.delete(key);
	});

	await unlessCanceled(before, signal).catch((error: unknown) => {
		released.resolve();
		throw error;
	});
	return released.resolve;
}
