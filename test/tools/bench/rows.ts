/** One measured thing, beside what a user would use instead (peer) and n8n with a node that does nothing (floor). */
export interface Row {
	what: string;
	unit: 'ms' | 'requests';
	ours: number;
	peer?: number;
	floor?: number;
	/** Bounds ours, or its ratio to the peer or the floor. */
	atMost: number;
	of?: 'peer' | 'floor';
}

export function isMet({ ours, of, atMost, ...others }: Row): boolean {
	return ours <= atMost * (of === undefined ? 1 : (others[of] ?? NaN));
}

/** A row as a line of text. */
export function lineOf(row: Row): string {
	const { what, unit, ours, peer, floor, atMost, of = '' } = row;
	const beside = (name: string, other?: number): string =>
		other === undefined ? '' : `; ${(ours / other).toFixed(2)} × ${name} (${number(other)})`;
	const outcome = isMet(row) ? 'met   ' : 'MISSED';
	return `${outcome}  ${what}: ${number(ours)} ${unit}${beside('peer', peer)}${beside('floor', floor)}; goal at most ${atMost} ${of}`;
}

const number = (value: number): string =>
	value.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 1 : 0 });

export function median(values: readonly number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = (sorted.length - 1) / 2;
	return ((sorted[Math.floor(middle)] ?? NaN) + (sorted[Math.ceil(middle)] ?? NaN)) / 2;
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
