import { sleep } from 'n8n-workflow';

/**
 * All time that the package reads and all waiting that it does goes through here, so that tests can
 * run hours in seconds. Milliseconds throughout.
 */
export const clock = {
	/** The time of day, for moments that are shown, stored or agreed on with others. */
	now: (): number => Date.now(),
	/** For spans: unlike the time of day, it never jumps when somebody sets the clock. */
	elapsed: (): number => Math.floor(performance.now()),
	sleep: async (milliseconds: number): Promise<void> => await sleep(milliseconds),
	random: (): number => Math.random(),
};

/** Thrown by {@link wait} when the execution was cancelled meanwhile. */
export class CanceledError extends Error {
	constructor() {
		super('The execution was cancelled');
	}
}

const LONGEST_SLEEP_MS = 1_000;

/**
 * Waits, and stops waiting at once when the execution is cancelled.
 * The sleep is cut in slices so that a cancelled execution leaves no long timer behind.
 *
 * @throws CanceledError
 */
export async function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
	const end = clock.elapsed() + milliseconds;
	for (;;) {
		if (signal?.aborted) throw new CanceledError();
		const left = end - clock.elapsed();
		if (left <= 0) return;
		const slice = clock.sleep(Math.min(left, LONGEST_SLEEP_MS));
		await (signal ? untilAborted(slice, signal) : slice);
	}
}

async function untilAborted(slice: Promise<void>, signal: AbortSignal): Promise<void> {
	await new Promise<void>((resolve) => {
		const done = (): void => {
			signal.removeEventListener('abort', done);
			resolve();
		};
		signal.addEventListener('abort', done);
		void slice.then(done);
	});
}
