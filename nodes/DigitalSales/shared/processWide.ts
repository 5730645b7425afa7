import { clock } from './clock';

interface Clearable {
	clear(): void;
}

const all: Clearable[] = [];

/**
 * Declares state that both nodes and all executions of a process share, next to the code that uses
 * it. It must be bounded: by a {@link BoundedMap}, the number of accounts, or what is in progress.
 */
export function processWide<T extends Clearable>(state: T): T {
	all.push(state);
	return state;
}

/**
 * Forgets all of it, as a restart of n8n does.
 *
 * @internal
 */
export function clearProcessWide(): void {
	for (const state of all) state.clear();
}

/** How much a {@link BoundedMap} keeps, and what goes first. */
export interface Bounds<V> {
	most: number;
	/** Whether an entry has expired: it is no longer found, and goes when another is set. */
	isOver?: (value: V) => boolean;
	/** Whether an entry goes last: only when no other entry is left to go. */
	isKept?: (value: V) => boolean;
}

interface Entry<V> {
	key: string;
	value: V;
	older?: Entry<V>;
	newer?: Entry<V>;
}

/**
 * A map of bounded size: the oldest entries go first, and setting one makes it the newest.
 *
 * The entries are linked in their order. A Map has an order, too; but to find its first entry, V8
 * passes all that were deleted before it, which took longer than reading a large catalog.
 */
export class BoundedMap<V> {
	private readonly entries = new Map<string, Entry<V>>();
	private oldest?: Entry<V>;
	private newest?: Entry<V>;

	constructor(private readonly bounds: Bounds<V>) {}

	get size(): number {
		return this.entries.size;
	}

	get(key: string): V | undefined {
		const entry = this.entries.get(key);
		return entry === undefined || this.isOver(entry) ? undefined : entry.value;
	}

	set(key: string, value: V): void {
		this.delete(key);
		const entry: Entry<V> = { key, value, older: this.newest };
		if (this.newest) this.newest.newer = entry;
		else this.oldest = entry;
		this.newest = entry;
		this.entries.set(key, entry);
		this.evict();
	}

	delete(key: string): void {
		const entry = this.entries.get(key);
		if (!entry) return;
		const { older, newer } = entry;
		if (older) older.newer = newer;
		else this.oldest = newer;
		if (newer) newer.older = older;
		else this.newest = older;
		this.entries.delete(key);
	}

	clear(): void {
		this.entries.clear();
		this.oldest = undefined;
		this.newest = undefined;
	}

	/** The entries that have not expired, the oldest first. */
	list(): Array<[string, V]> {
		const found: Array<[string, V]> = [];
		for (let entry = this.oldest; entry; entry = entry.newer) {
			if (!this.isOver(entry)) found.push([entry.key, entry.value]);
		}
		return found;
	}

	private isOver({ value }: Entry<V>): boolean {
		return this.bounds.isOver?.(value) === true;
	}

	private evict(): void {
		const { most, isKept } = this.bounds;
		for (let entry = this.oldest; entry; entry = entry.newer) {
			const isTooMany = this.size > most;
			if (this.isOver(entry) || (isTooMany && isKept?.(entry.value) !== true)) {
				this.delete(entry.key);
			} else if (!isTooMany) return;
		}
		while (this.size > most && this.oldest) this.delete(this.oldest.key);
	}
}

interface Result<V> {
	promise: Promise<V>;
	until: number;
}

/**
 * Keeps the results of tasks for a moment, by key, from the start of each task on. Callers share one
 * task, also while it is under way. Failures are not kept.
 */
export class PromiseCache<V> {
	private readonly entries: BoundedMap<Result<V>>;

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
