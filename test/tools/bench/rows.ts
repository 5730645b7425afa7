/** One measured thing, beside what a user would use instead (peer) and n8n with a node that does nothing (floor). */
export interface Row {
	what: string;
	unit: 'ms' | 'a second' | 'requests' | 'executions';
	ours: number;
	peer?: number;
	floor?: number;
	goal: Goal;
}

/** Bounds ours, or its ratio to the peer or the floor. */
export type Goal = { of?: 'peer' | 'floor' } & ({ atMost: number } | { atLeast: number });

export function isMet({ ours, goal, ...others }: Row): boolean {
	const divisor = goal.of === undefined ? 1 : others[goal.of];
	if (divisor === undefined) throw new Error(`There is no ${goal.of} to compare with.`);
	const value = ours / divisor;
	return 'atMost' in goal ? value <= goal.atMost : value >= goal.atLeast;
}

/** A row as a line of text. */
export function lineOf(row: Row): string {
	const { what, unit, ours, peer, floor, goal } = row;
	const beside = (name: string, other?: number): string =>
		other === undefined ? '' : `; ${(ours / other).toFixed(2)} × ${name} (${number(other)})`;
	const bound = 'atMost' in goal ? `at most ${goal.atMost}` : `at least ${goal.atLeast}`;
	const of = goal.of === undefined ? '' : ` × ${goal.of}`;
	return `${isMet(row) ? 'met   ' : 'MISSED'}  ${what}: ${number(ours)} ${unit}${beside('peer', peer)}${beside('floor', floor)}; goal ${bound}${of}`;
}

const number = (value: number): string =>
	value.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 1 : 0 });

export function median(values: readonly number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	const at = (place: number): number => sorted[place] ?? NaN;
	const middle = (sorted.length - 1) / 2;
	return (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2;
}

/**
 * Runs the sides in turn, so that other work of the machine affects all of them, and returns what each round of each
 * side returned. The first round only warms up; every second round has the reverse order.
 */
export async function inTurn<S, T>(
	sides: readonly S[],
	rounds: number,
	run: (side: S) => Promise<T>,
): Promise<T[][]> {
	const results: T[][] = sides.map(() => []);
	for (let round = 0; round <= rounds; round++) {
		const order = [...sides.entries()];
		if (round % 2 !== 0) order.reverse();
		for (const [place, side] of order) {
			const result = await run(side);
			if (round > 0) results[place]?.push(result);
		}
	}
	return results;
}
