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

/** Forgets the oldest entries. */
export class BoundedMap<V> {
	/** From the oldest to the newest. */
	private readonly entries = new Map<string, Entry<V>>();

	constructor(private readonly bounds: Bounds) {}

	/** Without the entries that are over. */
	get size(): number {
		this.evict();
		return this.entries.size;
	}

	get(key: string): V | undefined {
		const entry = this.entries.get(key);
		return entry && !isOver(entry) ? entry.value : undefined;
	}

	set(key: string, value: V): void {
		this.entries.delete(key);
		this.entries.set(key, { value, until: clock.elapsed() + (this.bounds.keptMs ?? Infinity) });
		this.evict();
	}

	delete(key: string): void {
		this.entries.delete(key);
	}

	clear(): void {
		this.entries.clear();
	}

	/** Does not copy a large map. */
	some(isMatch: (value: V) => boolean): boolean {
		for (const entry of this.entries.values()) {
			if (!isOver(entry) && isMatch(entry.value)) return true;
		}
		return false;
	}

	private evict(): void {
		for (const [key, entry] of this.entries) {
			if (this.entries.size <= this.bounds.most && !isOver(entry)) return;
			this.entries.delete(key);
		}
	}
}

function isOver({ until }: Entry<unknown>): boolean {
	return until <= clock.elapsed();
}
