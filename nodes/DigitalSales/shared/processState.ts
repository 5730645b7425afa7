import { clock } from './clock';

interface Clearable {
	clear(): void;
}

const allStates: Clearable[] = [];

/** All executions of a process share the state, which must be bounded. */
export function processState<T extends Clearable>(state: T): T {
	allStates.push(state);
	return state;
}

/** @internal Acts as a restart of n8n. */
export function clearProcessState(): void {
	for (const state of allStates) state.clear();
}

interface Bounds<V> {
	most: number;
	isExpired?: (value: V) => boolean;
	isKept?: (value: V) => boolean;
}

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
		this.evictOldest();
	}

	delete(key: string): void {
		this.entries.delete(key);
	}

	clear(): void {
		this.entries.clear();
	}

	listEntries(): Array<[string, V]> {
		return [...this.entries].filter(([, value]) => !this.isExpired(value));
	}

	private isExpired(value: V): boolean {
		return this.bounds.isExpired?.(value) === true;
	}

	private evictOldest(): void {
		const { most, isExpired, isKept } = this.bounds;
		for (const [key, value] of isExpired ? this.entries : []) {
			if (!isExpired?.(value)) break;
			this.entries.delete(key);
		}
		if (this.size <= most) return;
		// V8 passes all deleted entries to find the first entry, so a large map evicts a tenth at once.
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

/** Caches the results of tasks, but no failures. Concurrent callers share a task. */
export class PromiseCache<V> {
	private readonly entries: BoundedMap<{ promise: Promise<V>; until: number }>;

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
