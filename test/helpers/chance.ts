import { randomInt } from 'node:crypto';
import { seededRandom } from '../sandbox/catalog';

const LARGEST_SEED = 2 ** 31;

/** Choices that follow from a seed. When things happen does not: the machine has a say in that. */
export class Chance {
	private readonly next: () => number;

	constructor(readonly seed: number) {
		this.next = seededRandom(seed);
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
}

/** How often each outcome came, for a line of the figures. */
export function tally(outcomes: readonly string[]): string {
	const kinds = [...new Set(outcomes)].sort();
	return kinds.map((kind) => `${outcomes.filter((one) => one === kind).length} ${kind}`).join(', ');
}
