import { CanceledError } from './clock';
import { processWide } from './processWide';

/**
 * Who waits for whom, by what only one may hold at a time.
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
	// Always in the same order, or two tasks could each hold what the other one wants.
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
		// Who was cancelled leaves those before it at work, so the queue is not over yet.
		void last.then(() => {
			if (queues.get(key) === last) queues.delete(key);
		});
	}
}

async function unlessCanceled(turn: Promise<void>, signal?: AbortSignal): Promise<void> {
	if (!signal) return await turn;
	let cancel: () => void = () => undefined;
	const canceled = new Promise<void>((resolve) => (cancel = resolve));
	signal.addEventListener('abort', cancel);
	if (!signal.aborted) await Promise.race([turn, canceled]);
	signal.removeEventListener('abort', cancel);
	if (signal.aborted) throw new CanceledError();
}
