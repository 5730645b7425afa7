import { clock } from './clock';

/**
 * Runs a task for each entry, at most so many at once as it is told then. After a failure no more tasks
 * start; it is thrown once those under way have ended.
 */
export async function eachLimit<T>(
	entries: readonly T[],
	atOnce: number | (() => number),
	task: (entry: T) => Promise<void>,
): Promise<void> {
	const failures: unknown[] = [];
	const left = entries.values();
	const most = (): number => (typeof atOnce === 'number' ? atOnce : atOnce());
	const workers: Array<Promise<void>> = [];
	let working = 0;
	const work = async (): Promise<void> => {
		working++;
		for (const entry of left) {
			await task(entry).catch((reason: unknown) => failures.push(reason));
			if (failures.length > 0 || working > most()) break;
			if (working < most()) workers.push(work());
		}
		working--;
	};
	while (working < Math.min(most(), entries.length)) workers.push(work());
	for (const worker of workers) await worker;
	if (failures.length > 0) throw failures[0];
}

const FEWEST = 32;
const MOST = 96;
const STEP = 16;
const SLOWER = 1.5;
/** One that takes so much longer than the quick ones was sent again. */
const MUCH_SLOWER = 4;

/**
 * How many reads may be under way at once: more while the service answers as fast as before, else
 * half as many. Judged again once as many reads have ended.
 */
export class ReadsAtOnce {
	now = FEWEST;
	private took: number[] = [];
	private fastest = Infinity;

	/** Times a read that begins now; call what it gives when the read ends. */
	begin(): (isDone: boolean) => void {
		let began = clock.elapsed();
		// Nothing is sent before the next turn of the event loop: until then it is our time, not the service's.
		void clock.sleep(0).then(() => (began = clock.elapsed()));
		return (isDone) => this.enter(isDone ? clock.elapsed() - began : Infinity);
	}

	/** @param ms how long a read took; Infinity if it failed */
	enter(ms: number): void {
		this.took.push(ms);
		if (this.took.length < this.now) return;
		const took = this.took.splice(0).sort((a, b) => a - b);
		const [quick = 0, slowest = 0] = [took[took.length >> 3], took.at(-1)];
		this.fastest = Math.min(this.fastest, quick);
		const isEven = slowest < Infinity && slowest <= quick * MUCH_SLOWER;
		const isAsFast = isEven && quick <= this.fastest * SLOWER;
		this.now = isAsFast ? Math.min(MOST, this.now + STEP) : Math.max(FEWEST, this.now >> 1);
	}
}
