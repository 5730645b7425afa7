import { clock } from '../../nodes/DigitalSales/shared/clock';
import { seededRandom } from '../sandbox/catalog';

/** The part of the package's clock that decides how long waiting takes. */
export interface ReplaceableClock {
	now: () => number;
	elapsed: () => number;
	sleep: (milliseconds: number) => Promise<void>;
}

/**
 * Makes waiting take no time: a sleep moves the clock on instead. Gives the function that restores
 * real time, which also says how many milliseconds were slept.
 */
export function withoutWaiting(clock: ReplaceableClock): () => number {
	const { now, elapsed, sleep } = clock;
	let slept = 0;
	clock.now = () => now() + slept;
	clock.elapsed = () => elapsed() + slept;
	clock.sleep = async (milliseconds) => {
		slept += milliseconds;
		await new Promise((resolve) => setImmediate(resolve));
	};
	return () => {
		clock.now = now;
		clock.elapsed = elapsed;
		clock.sleep = sleep;
		return slept;
	};
}

/** Lets all go on that waits for nothing but promises; a turn of the event loop would take longer. */
const settle = async (): Promise<void> => await new Promise((resolve) => process.nextTick(resolve));

/** Given to each signal, since to make one takes longer than all else that a signal does. */
const LATE = new DOMException('The operation was aborted due to timeout', 'TimeoutError');

/**
 * Time that jumps from one event to the next, so that hours take seconds and a seed gives the same
 * run each time. It takes the place of the package's clock, its randomness included.
 */
export class VirtualTime {
	readonly random: () => number;
	private now = 0;
	/** What is due, by moment; moments in order, the next one last. */
	private readonly due = new Map<number, Array<() => void>>();
	private readonly moments: number[] = [];

	constructor(seed: number) {
		this.random = seededRandom(seed);
	}

	/** Runs a scenario in this time until a moment; whatever is still waiting then is left. */
	async run(untilMs: number, start: () => void): Promise<void> {
		const { timeout } = AbortSignal;
		const original = { ...clock };
		Object.assign(clock, {
			now: () => this.now,
			elapsed: () => this.now,
			sleep: this.sleep,
			random: this.random,
		});
		AbortSignal.timeout = (milliseconds) => {
			const late = new AbortController();
			this.at(milliseconds, () => late.abort(LATE));
			return late.signal;
		};
		try {
			start();
			await settle();
			for (let next = this.moments.pop(); next !== undefined; next = this.moments.pop()) {
				if (next > untilMs) return;
				this.now = next;
				const events = this.due.get(next) ?? [];
				this.due.delete(next);
				for (const event of events) event();
				await settle();
			}
		} finally {
			AbortSignal.timeout = timeout;
			Object.assign(clock, original);
		}
	}

	elapsed = (): number => this.now;

	sleep = async (milliseconds: number): Promise<void> =>
		await new Promise((resolve) => this.at(milliseconds, resolve));

	private at(milliseconds: number, event: () => void): void {
		// As a timer does: never at once.
		const moment = this.now + Math.max(1, Math.ceil(milliseconds));
		const events = this.due.get(moment);
		if (events) return void events.push(event);
		this.due.set(moment, [event]);
		const earlier = this.moments.findIndex((other) => other < moment);
		this.moments.splice(earlier < 0 ? this.moments.length : earlier, 0, moment);
	}
}
