/** How much a {@link BoundedMap} keeps, and what goes first. */
export interface Bounds<V> {
	/** How many entries it holds at most. */
	most: number;
	/** Whether an entry is over: it is not found any more, and goes with the next one that comes. */
	isOver?: (value: V) => boolean;
	/** Whether an entry goes only when none is left that is not kept. */
	isKept?: (value: V) => boolean;
}

/** A map that cannot grow without end: the oldest entries go first, and setting one makes it the newest. */
export class BoundedMap<V> {
	private readonly entries = new Map<string, V>();

	constructor(private readonly bounds: Bounds<V>) {}

	get size(): number {
		return this.entries.size;
	}

	get(key: string): V | undefined {
		const value = this.entries.get(key);
		return value === undefined || this.isOver(value) ? undefined : value;
	}

	set(key: string, value: V): void {
		this.entries.delete(key);
		this.entries.set(key, value);
		this.forgetOld();
	}

	delete(key: string): void {
		this.entries.delete(key);
	}

	clear(): void {
		this.entries.clear();
	}

	/** Keys and values of what is not over, the oldest first. */
	list(): Array<[string, V]> {
		return [...this.entries].filter(([, value]) => !this.isOver(value));
	}

	private isOver(value: V): boolean {
		return this.bounds.isOver?.(value) === true;
	}

	private forgetOld(): void {
		const { most, isKept } = this.bounds;
		for (const [key, value] of this.entries) {
			const isKeptNow = isKept?.(value) === true;
			if (this.isOver(value)) this.entries.delete(key);
			else if (this.entries.size > most && !isKeptNow) this.entries.delete(key);
			else if (this.entries.size <= most) break;
		}
		for (const key of this.entries.keys()) {
			if (this.entries.size <= most) return;
			this.entries.delete(key);
		}
	}
}
