/** The part of the package's clock that decides how long waiting takes. */
export interface ReplaceableClock {
	now: () => number;
	elapsed: () => number;
	sleep: (milliseconds: number) => Promise<void>;
}

/**
 * Makes waiting take no time: a sleep moves the clock on instead. Gives the function that restores
 * real time, which also says how many milliseconds were slept.
 */
export function withoutWaiting(clock: ReplaceableClock): () => number {
	const { now, elapsed, sleep } = clock;
	let slept = 0;
	clock.now = () => now() + slept;
	clock.elapsed = () => elapsed() + slept;
	clock.sleep = async (milliseconds) => {
		slept += milliseconds;
		await new Promise((resolve) => setImmediate(resolve));
	};
	return () => {
		clock.now = now;
		clock.elapsed = elapsed;
		clock.sleep = sleep;
		return slept;
	};
}
