/** The median, minimum and maximum of several rounds. */
export interface Sample {
	median: number;
	least: number;
	most: number;
}

/** Summarizes the values of the rounds, of which there must be at least one. */
export function sampleOf(values: readonly number[]): Sample {
	const sorted = [...values].sort((a, b) => a - b);
	const at = (place: number): number => sorted[place] ?? NaN;
	const middle = (sorted.length - 1) / 2;
	return {
		median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
		least: at(0),
		most: at(sorted.length - 1),
	};
}

/** The promise of a row. */
export interface Goal {
	/** What is bounded: ours divided by the peer's, ours divided by the floor, or ours. */
	of: 'ratio' | 'floor' | 'ours';
	bound: 'atMost' | 'atLeast';
	value: number;
}

export interface Outcome {
	what: string;
	unit: string;
	ours: Sample;
	/** What a user would use instead, if there is such a thing. */
	peer?: { name: string; figures: Sample };
	/** The cost of n8n itself, with a node that does nothing in place of ours. */
	floor?: Sample;
	goal: Goal;
}

export function ratioOf({ ours, peer }: Outcome): number | undefined {
	return peer && ours.median / peer.figures.median;
}

/** Ours divided by the cost of n8n itself. */
export function floorRatioOf({ ours, floor }: Outcome): number | undefined {
	return floor && ours.median / floor.median;
}

export function isMet(outcome: Outcome): boolean {
	const { goal, ours } = outcome;
	const values = { ours: ours.median, ratio: ratioOf(outcome), floor: floorRatioOf(outcome) };
	const value = values[goal.of];
	if (value === undefined) throw new Error(`"${outcome.what}" has nothing to be compared with.`);
	return goal.bound === 'atMost' ? value <= goal.value : value >= goal.value;
}
