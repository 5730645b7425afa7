import { unlessCanceled } from './clock';
import { processState } from './processState';

/**
 * The last task in line for each key.
 *
 * @internal
 */
export const lockQueues = processState(new Map<string, Promise<void>>());

/**
 * Holds keys, once no other task of this process holds any of them.
 *
 * @returns what lets go of them
 * @throws CanceledError when the execution is canceled while it queues
 */
export async function lockKeys(keys: readonly string[], signal?: AbortSignal): Promise<() => void> {
	const own = new Set(keys);
	// In all lines at once, or two tasks could each stand before the other in one of them.
	const before = Promise.all([...own].map((key) => lockQueues.get(key))).then(() => undefined);
	let release: () => void = () => undefined;
	const done = new Promise<void>((resolve) => (release = resolve));
	const last = before.then(async () => await done);
	for (const key of own) lockQueues.set(key, last);
	// Tasks before a canceled one are still running, so the queues end only with them.
	void last.then(() => {
		for (const key of own) if (lockQueues.get(key) === last) lockQueues.delete(key);
	});
	await unlessCanceled(before, signal).catch((error: unknown) => {
		release();
		throw error;
	});
	return release;
}
