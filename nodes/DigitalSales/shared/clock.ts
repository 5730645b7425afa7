import { sleep } from 'n8n-workflow';

/** In milliseconds. Tests replace it. */
export const clock = {
	now: (): number => Date.now(),
	/** Does not jump when somebody sets the clock. */
	elapsed: (): number => Math.floor(performance.now()),
	sleep: async (milliseconds: number): Promise<void> => await sleep(milliseconds),
	random: (): number => Math.random(),
};

export class CanceledError extends Error {
	constructor() {
		super('The execution was canceled');
	}
}

const LONGEST_SLEEP_MS = 1_000;

/**
 * Sleeps in slices, so that a canceled execution leaves no long timer.
 *
 * @throws CanceledError
 */
export async function cancelableSleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
	const end = clock.elapsed() + milliseconds;
	for (;;) {
		if (signal?.aborted) throw new CanceledError();
		const left = end - clock.elapsed();
		if (left <= 0) return;
		await unlessCanceled(clock.sleep(Math.min(left, LONGEST_SLEEP_MS)), signal);
	}
}

/**
 * @param promise must not reject
 * @throws CanceledError
 */
export async function unlessCanceled(promise: Promise<void>, signal?: AbortSignal): Promise<void> {
	if (!signal) return await promise;
	let cancel: () => void = () => undefined;
	const canceled = new Promise<void>((resolve) => (cancel = resolve));
	signal.addEventListener('abort', cancel);
	if (!signal.aborted) await Promise.race([promise, canceled]);
	signal.removeEventListener('abort', cancel);
	if (signal.aborted) throw new CanceledError();
}
