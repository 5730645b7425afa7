import { randomInt } from 'node:crypto';
import { seededRandom } from '../sandbox/catalog';

const LARGEST_SEED = 2 ** 31;

/** Random choices that follow from a seed. Timing does not follow from it, because it depends on the machine. */
export class Chance {
	private readonly next: () => number;

	constructor(seed: number) {
		this.next = seededRandom(seed);
	}

	/** Uses the seed in CRASH_SEED, or a new seed, which is printed so that a run can be repeated. */
	static ofThisRun(): Chance {
		const given = process.env.CRASH_SEED;
		const seed = given === undefined ? randomInt(LARGEST_SEED) : Number(given);
		process.stdout.write(`CRASH_SEED=${seed}\n`);
		return new Chance(seed);
	}

	/** A random integer; both bounds are included. */
	within(lowest: number, highest: number): number {
		return lowest + Math.floor(this.next() * (highest - lowest + 1));
	}

	/** True with this probability, 0 to 1. */
	is(probability: number): boolean {
		return this.next() < probability;
	}

	oneOf<T>(list: readonly T[]): T {
		return list[this.within(0, list.length - 1)] as T;
	}
}
