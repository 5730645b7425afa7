/** What several rounds gave: the middle, and the ends. */
export interface Sample {
	median: number;
	least: number;
	most: number;
	rounds: number;
}

/** Sums up the values of the rounds; there has to be one. */
export function sampleOf(values: readonly number[]): Sample {
	const sorted = [...values].sort((a, b) => a - b);
	const at = (place: number): number => sorted[place] ?? NaN;
	const middle = (sorted.length - 1) / 2;
	return {
		median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
		least: at(0),
		most: at(sorted.length - 1),
		rounds: sorted.length,
	};
}
