/** Whether a goal is met, and what was measured as a line of text. */
export interface Row {
	isMet: boolean;
	text: string;
}

/** What we take, what takes a user who has not got the node (peer), and n8n with a node that does nothing (floor). */
type Measured = [ours: number, peer?: number, floor?: number];

/** @param atMost bounds the ratio to the floor or else the peer. Without both it bounds what we take */
export function row(what: string, measured: Measured, atMost: number, unit = 'ms'): Row {
	const [ours, peer, floor] = measured;
	const isMet = ours <= atMost * (floor ?? peer ?? 1);
	const ratios = Object.entries({ peer, floor }).flatMap(([name, other]) =>
		other === undefined ? [] : `; ${(ours / other).toFixed(2)} × ${name} (${number(other)})`,
	);
	const taken = `${what}: ${number(ours)} ${unit}${ratios.join('')}`;
	return { isMet, text: `${isMet ? 'met   ' : 'MISSED'}  ${taken}; goal at most ${atMost}` };
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
export async function inTurn<T>(
	sides: ReadonlyArray<() => Promise<T>>,
	rounds: number,
): Promise<T[][]> {
	const results: T[][] = sides.map(() => []);
	for (let round = 0; round <= rounds; round++) {
		const order = [...sides.entries()];
		if (round % 2 !== 0) order.reverse();
		for (const [place, side] of order) {
			const result = await side();
			if (round > 0) results[place]?.push(result);
		}
	}
	return results;
}
