import { clock } from './clock';
import { processState } from './processState';

/** A promise that other code settles. */
export function deferred<T = void>() {
	let resolve: (value: T) => void = () => undefined;
	let reject: (error: Error) => void = () => undefined;
	const promise = new Promise<T>((settle, fail) => {
		resolve = settle;
		reject = fail;
	});

	return { promise, resolve, reject };
}

export type Deferred<T> = ReturnType<typeof deferred<T>>;

export class CanceledError extends Error {
	constructor() {
		super('The execution was canceled');
	}
}

/** @throws CanceledError as soon as the signal is aborted */
export async function unlessCanceled<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
	const canceled = deferred<never>();
	const cancel = (): void => canceled.reject(new CanceledError());
	signal?.addEventListener('abort', cancel);
	if (signal?.aborted) cancel();

	return await Promise.race([promise, canceled.promise]).finally(() =>
		signal?.removeEventListener('abort', cancel),
	);
}

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
			await unlessCanceled(clock.sleep(pauseMs * (0.5 + clock.random())), signal);
		}
	}
	return await task();
}

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

/** @internal */
export const lockQueues = processState(new Map<string, Promise<void>>());

/**
 * Locks the keys once all earlier tasks of this process have released them.
 *
 * @returns a function that unlocks the keys
 * @throws CanceledError
 */
export async function lockKeys(keys: readonly string[], signal?: AbortSignal): Promise<() => void> {
	const released = deferred();
	// All at once, to avoid a deadlock.
	const before = Promise.all(keys.map((key) => lockQueues.get(key)));
	// If this task is canceled, later tasks still wait for `before`.
	const last = before.then(async () => await released.promise);

	for (const key of keys) lockQueues.set(key, last);
	void last.then(() => {
		for (const key of keys) if (lockQueues.get(key) === last) lockQueues.delete(key);
	});

	await unlessCanceled(before, signal).catch((error: unknown) => {
		released.resolve();
		throw error;
	});
	return released.resolve;
}
