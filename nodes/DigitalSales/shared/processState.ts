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

interface Bounds {
	most: number;
	/** Forever by default. */
	keptMs?: number;
}

interface Entry<V> {
	value: V;
	until: number;
}

export class BoundedMap<V> {
	private readonly entries = new Map<string, Entry<V>>();

	constructor(private readonly bounds: Bounds) {}

	/** Without the entries that are over. */
	get size(): number {
		this.evictOver();
		return this.entries.size;
	}

	get(key: string): V | undefined {
		const entry = this.entries.get(key);
		return entry && !isOver(entry) ? entry.value : undefined;
	}

	set(key: string, value: V): void {
		this.entries.delete(key);
		this.entries.set(key, { value, until: clock.elapsed() + (this.bounds.keptMs ?? Infinity) });
		this.evictOldest();
	}

	delete(key: string): void {
		this.entries.delete(key);
	}

	clear(): void {
		this.entries.clear();
	}

	/** Does not copy a large map. */
	some(isMatch: (value: V) => boolean): boolean {
		for (const { value } of this.entries.values()) if (isMatch(value)) return true;
		return false;
	}

	private evictOver(): void {
		for (const [key, entry] of this.entries) {
			if (!isOver(entry)) return;
			this.entries.delete(key);
		}
	}

	private evictOldest(): void {
		const { most, keptMs } = this.bounds;
		if (keptMs !== undefined) this.evictOver();
		if (this.entries.size <= most) return;

		// V8 passes all deleted entries to find the first entry, so a tenth goes at once.
		const left = most - Math.floor(most / 10);
		for (const key of this.entries.keys()) {
			if (this.entries.size <= left) return;
			this.entries.delete(key);
		}
	}
}

function isOver({ until }: Entry<unknown>): boolean {
	return until <= clock.elapsed();
}
