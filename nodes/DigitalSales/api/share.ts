import { clock } from '../shared/clock';

const MINUTE_MS = 60_000;
/** What is left of a share after a 429, and after one more if nothing has succeeded in between. */
const LEFT_AFTER_429 = 0.93;
const LEFT_AFTER_ANOTHER = 0.5;
/** A single 429 may be an accident: from here it leaves the whole limit. */
const LARGEST = 1 / LEFT_AFTER_429;
const SMALLEST = 0.01;
/** Added to the square root of the share, so small shares grow relatively faster and all converge. */
const GROWTH_PER_MINUTE = 0.011;
/** Where others use the limit, a 429 comes every few minutes. After so many without, a share grows fast. */
const SHARED_FOR_MINUTES = 10;
const FAST_GROWTH_PER_MINUTE = 0.1;
/** 429s this close together carry no new information. */
const SAME_NEWS_MS = 20_000;

/**
 * The share of a limit that a process uses, where nobody says how many others use it: a 429 reduces
 * it, and it grows with time. Processes that all do so come to equal shares, as connections of TCP do.
 */
export class Share {
	/** What a 429 reduced it to last; undefined before the first. */
	private reduced?: { to: number; at: number };
	/** Whether a request has succeeded since the last 429. */
	private hasSucceeded = true;

	/** The whole limit is 1; somewhat more while no 429 has come for long. */
	now(): number {
		if (!this.reduced) return LARGEST;
		const { to, at } = this.reduced;
		const minutes = (clock.elapsed() - at) / MINUTE_MS;
		const gained =
			minutes * GROWTH_PER_MINUTE +
			Math.max(0, minutes - SHARED_FOR_MINUTES) * FAST_GROWTH_PER_MINUTE;
		return Math.min(LARGEST, (Math.sqrt(to) + gained) ** 2);
	}

	/** Enters a 429 of a request that was sent at a moment. */
	reduce(sentAt: number): void {
		if (sentAt < (this.reduced?.at ?? -Infinity) + SAME_NEWS_MS) return;
		const left = this.hasSucceeded ? LEFT_AFTER_429 : LEFT_AFTER_ANOTHER;
		this.reduced = { to: Math.max(SMALLEST, this.now() * left), at: clock.elapsed() };
		this.hasSucceeded = false;
	}

	/** Enters an answer other than a 429. */
	succeed(): void {
		this.hasSucceeded = true;
	}
}
