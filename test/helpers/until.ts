import { setTimeout as pause } from 'node:timers/promises';

/** Repeats a check until it returns something. */
export async function until<T>(
	what: string,
	look: () => Promise<T | undefined | false> | T | undefined | false,
	{ withinMs = 30_000, everyMs = 50 } = {},
): Promise<T> {
	const deadline = Date.now() + withinMs;
	for (;;) {
		const seen = await look();
		if (seen !== undefined && seen !== false) return seen;
		if (Date.now() > deadline) throw new Error(`It did not happen in time: ${what}`);
		await pause(everyMs);
	}
}
