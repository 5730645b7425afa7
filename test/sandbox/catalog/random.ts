const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** A repeatable source of numbers in [0, 1) (mulberry32). */
export function seededRandom(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
	};
}

/** One entry of a list that is not empty. */
export function pick<T>(random: () => number, list: readonly T[]): T {
	const entry = list[Math.floor(random() * list.length)];
	if (entry === undefined) throw new Error('pick from an empty list');
	return entry;
}

/**
 * A hash of a-z0-9 that is not in `taken`. The first character is a letter, because readers of
 * notifications take an all-digit identifier for a numeric id.
 */
export function freshHash(random: () => number, length: number, taken: Set<string>): string {
	for (;;) {
		let hash = ALPHABET.charAt(Math.floor(random() * 26));
		while (hash.length < length) hash += ALPHABET.charAt(Math.floor(random() * 36));
		if (!taken.has(hash)) {
			taken.add(hash);
			return hash;
		}
	}
}
