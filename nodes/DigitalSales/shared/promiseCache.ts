import { BoundedMap } from './processWide';
import { clock } from './clock';

interface Entry<V> {
	promise: Promise<V>;
	until: number;
}

/**
 * Keeps the results of tasks for a moment, by key, from the start of each task on. Callers share one
 * task, also while it is under way. Failures are not kept.
 */
export class PromiseCache<V> {
	private readonly entries: BoundedMap<Entry<V>>;

	constructor(private readonly bounds: { most: number; keptMs: number }) {
		const { most } = bounds;
		this.entries = new BoundedMap({ most, isOver: ({ until }) => until <= clock.elapsed() });
	}

	get size(): number {
		return this.entries.size;
	}

	/** The result that is kept under a key, else that of the task. */
	async get(key: string, task: () => Promise<V>): Promise<V> {
		const kept = this.entries.get(key);
		if (kept) return await kept.promise;
		const entry = { promise: task(), until: clock.elapsed() + this.bounds.keptMs };
		this.entries.set(key, entry);
		entry.promise.catch(() => {
			if (this.entries.get(key) === entry) this.entries.delete(key);
		});
		return await entry.promise;
	}

	/** Forgets the results under keys with this prefix. */
	forget(prefix: string): void {
		for (const [key] of this.entries.list()) {
			if (key.startsWith(prefix)) this.entries.delete(key);
		}
	}

	clear(): void {
		this.entries.clear();
	}
}
