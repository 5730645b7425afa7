/** Milliseconds of one read or write: mostly 2 to 8, one in a hundred 20 to 80. */
export const latencyOf = (random: () => number): number =>
	random() < 0.99 ? 2 + 6 * random() : 20 + 60 * random();

/** The same numbers for the same seed. */
export function randomOf(seed: number): () => number {
	let state = seed;
	return () => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
		return (state >>> 0) / 2 ** 32;
	};
}
