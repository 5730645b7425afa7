import { clock } from './clock';

interface Clearable {
	clear(): void;
}

const allStates: Clearable[] = [];

/** Declares state that all executions of a process share. It must be bounded, for example by a {@link BoundedMap}. */
export function processState<T extends Clearable>(state: T): T {
	allStates.push(state);
	return state;
}

/** @internal Forgets all state, as a restart of n8n does. */
export function clearProcessState(): void {
	for (const state of allStates) state.clear();
}

export interface Bounds<V> {
	most: number;
	isExpired?: (value: V) => boolean;
	/** Entries that are evicted last. */
	isKept?: (value: V) => boolean;
}

/** Setting an entry makes it the newest; the oldest are evicted first. */
export class BoundedMap<V> {
	private readonly entries = new Map<string, V>();

	constructor(private readonly bounds: Bounds<V>) {}

	get size(): number {
		return this.entries.size;
	}

	get(key: string): V | undefined {
		const value = this.entries.get(key);
		return value === undefined || this.isExpired(value) ? undefined : value;
	}

	set(key: string, value: V): void {
		this.entries.delete(key);
		this.entries.set(key, value);
		this.evict();
	}

	delete(key: string): void {
		this.entries.delete(key);
	}

	clear(): void {
		this.entries.clear();
	}

	list(): Array<[string, V]> {
		return [...this.entries].filter(([, value]) => !this.isExpired(value));
	}

	private isExpired(value: V): boolean {
		return this.bounds.isExpired?.(value) === true;
	}

	private evict(): void {
		const { most, isExpired, isKept } = this.bounds;
		for (const [key, value] of isExpired ? this.entries : []) {
			if (!isExpired?.(value)) break;
			this.entries.delete(key);
		}
		if (this.size <= most) return;
		// V8 skips over all deleted entries to find the first live one, so evict a tenth of thousands at once.
		const left = isKept || most < 10_000 ? most : most * 0.9;
		for (const [key, value] of this.entries) {
			if (this.size <= left) return;
			if (isKept?.(value) !== true) this.entries.delete(key);
		}
		for (const key of this.entries.keys()) {
			if (this.size <= most) return;
			this.entries.delete(key);
		}
	}
}

interface CachedResult<V> {
	promise: Promise<V>;
	until: number;
}

/** Caches the results of tasks for a time. Failures are not cached; concurrent callers share a task. */
export class PromiseCache<V> {
	private readonly entries: BoundedMap<CachedResult<V>>;

	constructor(private readonly bounds: { most: number; keptMs: number }) {
		const { most } = bounds;
		this.entries = new BoundedMap({ most, isExpired: ({ until }) => until <= clock.elapsed() });
	}

	get size(): number {
		return this.entries.size;
	}

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

	clear(): void {
		this.entries.clear();
	}
}
