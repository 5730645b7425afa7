import { randomInt } from 'node:crypto';

const LARGEST_SEED = 2 ** 31;

/** Choices that follow from a seed. When things happen does not: the machine has a say in that. */
export class Chance {
	private state: number;

	constructor(readonly seed: number) {
		this.state = seed;
	}

	/** The seed of CRASH_SEED, or a new one; printed, so that a drill can be made again. */
	static ofThisRun(): Chance {
		const given = process.env.CRASH_SEED;
		const seed = given === undefined ? randomInt(LARGEST_SEED) : Number(given);
		process.stdout.write(`CRASH_SEED=${seed}\n`);
		return new Chance(seed);
	}

	/** An integer, both ends included. */
	within(lowest: number, highest: number): number {
		return lowest + Math.floor(this.next() * (highest - lowest + 1));
	}

	/** True so often, 0 to 1. */
	is(probability: number): boolean {
		return this.next() < probability;
	}

	shuffled<T>(list: readonly T[]): T[] {
		return list
			.map((value) => ({ value, rank: this.next() }))
			.sort((a, b) => a.rank - b.rank)
			.map(({ value }) => value);
	}

	// Mulberry32: short, and good enough for a drill.
	private next(): number {
		this.state = (this.state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	}
}

/** How often each outcome came, for a line of the figures. */
export function tally(outcomes: readonly string[]): string {
	const kinds = [...new Set(outcomes)].sort();
	return kinds.map((kind) => `${outcomes.filter((one) => one === kind).length} ${kind}`).join(', ');
}

/** Does `work` for each of the list, so many at a time. */
export async function eachOf<T>(
	list: readonly T[],
	atOnce: number,
	work: (value: T) => Promise<void>,
): Promise<void> {
	const left = [...list];
	const worker = async (): Promise<void> => {
		for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next);
	};
	await Promise.all(Array.from({ length: atOnce }, worker));
}
