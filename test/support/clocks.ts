import { clock } from '../../nodes/DigitalSales/shared/clock';

/**
 * Makes waiting take no time: a sleep moves the clock on instead. Gives the function that restores
 * real time, which also says how many milliseconds were slept.
 */
export function withoutWaiting(replaced: typeof clock): () => number {
	const { now, elapsed, sleep } = replaced;
	let slept = 0;
	replaced.now = () => now() + slept;
	replaced.elapsed = () => elapsed() + slept;
	replaced.sleep = async (milliseconds) => {
		slept += milliseconds;
		await new Promise((resolve) => setImmediate(resolve));
	};
	return () => {
		Object.assign(replaced, { now, elapsed, sleep });
		return slept;
	};
}

