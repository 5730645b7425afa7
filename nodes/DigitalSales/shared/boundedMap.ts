/** How much a {@link BoundedMap} keeps, and what goes first. */
export interface Bounds<V> {
	most: number;
	/** Whether an entry has expired: it is no longer found, and goes when another is set. */
	isOver?: (value: V) => boolean;
	/** Whether an entry goes last: only when no other entry is left to go. */
	isKept?: (value: V) => boolean;
}

/** A map of bounded size: the oldest entries go first, and setting one makes it the newest. */
export class BoundedMap<V> {
	private readonly entries = new Map<string, V>();
	/**
	 * Where the oldest entry is. A new iterator for each entry would pass all that were deleted before
	 * it: with the prices of a large catalog that took longer than reading them.
	 */
	private oldest = this.entries.keys();

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
		this.oldest = this.entries.keys();
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
		if (!isOver && !isKept) {
			const oldest = this.entries.size > most && this.oldest.next();
			if (oldest && !oldest.done) this.entries.delete(oldest.value);
			return;
		}
		for (const [key, value] of this.entries) {
			const isTooMany = this.entries.size > most;
			if (this.isOver(value) || (isTooMany && isKept?.(value) !== true)) this.entries.delete(key);
			else if (!isTooMany) return;
		}
		for (const key of this.entries.keys()) {
			if (this.entries.size <= most) return;
			this.entries.delete(key);
		}
	}
}
