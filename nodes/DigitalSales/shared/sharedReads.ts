import { clock } from './clock';
import { BoundedMap } from './processState';

interface Reading<T> {
	/** On `clock.elapsed()`. */
	startedAt: number;
	result: Promise<T>;
	/** What this read showed or, until it ends and if it fails, the one before. */
	shown?: T;
}

/** Reads of a resource, by key. Callers share a running read, and reads of a key keep a distance. */
export class SharedReads<T> {
	private readonly readings = new BoundedMap<Reading<T>>({ most: 10_000, keptMs: 3_600_000 });

	constructor(private readonly distanceMs: number) {}

	/** What the latest read showed that has not failed, within the hour. */
	latest(key: string): T | undefined {
		return this.readings.get(key)?.shown;
	}

	/** Returns what a read shows that starts at `earliest` or later, on `clock.elapsed()`. */
	async since(key: string, earliest: number, read: () => Promise<T>): Promise<T> {
		for (;;) {
			const last = this.readings.get(key);
			if (last && last.startedAt >= earliest) return await last.result;

			const now = clock.elapsed();
			const dueAt = Math.max(now, earliest, (last?.startedAt ?? -Infinity) + this.distanceMs);
			if (dueAt === now) return await this.start(key, read);
			await clock.sleep(dueAt - now);
		}
	}

	clear(): void {
		this.readings.clear();
	}

	private async start(key: string, read: () => Promise<T>): Promise<T> {
		const startedAt = clock.elapsed();
		const reading: Reading<T> = { startedAt, result: read(), shown: this.latest(key) };
		this.readings.set(key, reading);

		reading.shown = await reading.result.catch((error: unknown) => {
			// The next caller reads at once.
			reading.startedAt = -Infinity;
			throw error;
		});
		return reading.shown;
	}
}
