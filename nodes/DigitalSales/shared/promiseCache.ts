import { BoundedMap } from './boundedMap';
import { clock } from './clock';

interface Entry<V> {
	promise: Promise<V>;
	until: number;
}

/**
 * Keeps what tasks gave for a moment, by key. Callers that come meanwhile share one task, also while
 * it is under way. A failure is not kept: the next caller may have better luck.
 */
export class PromiseCache<V> {
	private readonly entries: BoundedMap<Entry<V>>;
	private readonly keptMs: number;

	/**
	 * @param most how many entries it holds at most
	 * @param keptMs how long an entry is kept, from the start of its task on
	 */
	constructor({ most, keptMs }: { most: number; keptMs: number }) {
		this.keptMs = keptMs;
		this.entries = new BoundedMap({ most, isOver: ({ until }) => until <= clock.elapsed() });
	}

	get size(): number {
		return this.entries.size;
	}

	/** What is kept under a key, else what the task gives. */
	async get(key: string, task: () => Promise<V>): Promise<V> {
		const kept = this.entries.get(key);
		if (kept) return await kept.promise;
		const entry = { promise: task(), until: clock.elapsed() + this.keptMs };
		this.entries.set(key, entry);
		entry.promise.catch(() => {
			if (this.entries.get(key) === entry) this.entries.delete(key);
		});
		return await entry.promise;
	}

	/** What is kept under the keys that begin like this, the oldest first. */
	list(prefix: string): Array<Promise<V>> {
		return this.beginningLike(prefix).map(([, { promise }]) => promise);
	}

	/** Forgets what is kept under the keys that begin like this. */
	forget(prefix: string): void {
		for (const [key] of this.beginningLike(prefix)) this.entries.delete(key);
	}

	clear(): void {
		this.entries.clear();
	}

	private beginningLike(prefix: string): Array<[string, Entry<V>]> {
		return this.entries.list().filter(([key]) => key.startsWith(prefix));
	}
}
