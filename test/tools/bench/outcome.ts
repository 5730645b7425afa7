/** What several rounds gave: the middle, and the ends. */
export interface Sample {
	median: number;
	least: number;
	most: number;
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
	};
}

/** What is promised of a row. */
export interface Goal {
	/** Of what: ours divided by the peer's, by the floor, or ours itself. */
	of: 'ratio' | 'floor' | 'ours';
	bound: 'atMost' | 'atLeast';
	value: number;
}

export interface Outcome {
	what: string;
	unit: string;
	ours: Sample;
	/** What a user would pick instead; none if there is nothing to compare with. */
	peer?: { name: string; figures: Sample };
	/** What n8n itself takes, with a node in the place of ours that does nothing. */
	floor?: Sample;
	goal: Goal;
}

export function ratioOf({ ours, peer }: Outcome): number | undefined {
	return peer && ours.median / peer.figures.median;
}

/** Ours divided by what n8n itself takes. */
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
