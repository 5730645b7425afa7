/** How much a {@link BoundedMap} keeps, and what goes first. */
export interface Bounds<V> {
	most: number;
	/** Whether an entry has expired: it is no longer found, and goes when another is set. */
	isOver?: (value: V) => boolean;
	/** Whether an entry goes last: only when no other entry is left to go. */
	isKept?: (value: V) => boolean;
}

/**
 * To look for the oldest entry, V8 passes all that were deleted before it. So a full map lets go of a
 * hundredth at once, not of one with each new entry.
 */
const LET_GO_AT_ONCE = 0.01;

/** A map of bounded size: the oldest entries go first, and setting one makes it the newest. */
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
		this.evict();
	}

	delete(key: string): void {
		this.entries.delete(key);
	}

	clear(): void {
		this.entries.clear();
	}

	/** The entries that have not expired, the oldest first. */
	list(): Array<[string, V]> {
		return [...this.entries].filter(([, value]) => !this.isOver(value));
	}

	private isOver(value: V): boolean {
		return this.bounds.isOver?.(value) === true;
	}

	private evict(): void {
		const { most, isOver, isKept } = this.bounds;
		const isFull = this.entries.size > most;
		if (!isFull && !isOver) return;
		const left = isFull ? most - Math.floor(most * LET_GO_AT_ONCE) : most;
		for (const [key, value] of this.entries) {
			const isTooMany = this.entries.size > left;
			if (this.isOver(value) || (isTooMany && isKept?.(value) !== true)) this.entries.delete(key);
			else if (!isTooMany) return;
		}
		for (const key of this.entries.keys()) {
			if (this.entries.size <= most) return;
			this.entries.delete(key);
		}
	}
}
