import { clock } from '../shared/clock';

const MINUTE_MS = 60_000;
/** What is left of a share after a 429. */
const LEFT_AFTER_429 = 0.93;
/** A single 429 may be an accident: from here it leaves the whole limit. */
const LARGEST = 1 / LEFT_AFTER_429;
const SMALLEST = 0.01;
/** Added to the square root of the share, so small shares grow relatively faster and all converge. */
const GROWTH_PER_MINUTE = 0.011;
/** 429s this close together carry no new information. */
const SAME_NEWS_MS = 20_000;

/**
 * The share of a limit that a process uses, where nobody says how many others use it: a 429 reduces
 * it, and it grows with time. Processes that all do so come to equal shares, as connections of TCP do.
 */
export class Share {
	/** What a 429 reduced it to last; undefined before the first. */
	private reduced?: { to: number; at: number };

	/** The whole limit is 1; somewhat more while no 429 has come for long. */
	now(): number {
		if (!this.reduced) return LARGEST;
		const { to, at } = this.reduced;
		const minutes = (clock.elapsed() - at) / MINUTE_MS;
		return Math.min(LARGEST, (Math.sqrt(to) + minutes * GROWTH_PER_MINUTE) ** 2);
	}

	/** Enters a 429 of a request that was sent at a moment. */
	reduce(sentAt: number): void {
		if (sentAt < (this.reduced?.at ?? -Infinity) + SAME_NEWS_MS) return;
		this.reduced = { to: Math.max(SMALLEST, this.now() * LEFT_AFTER_429), at: clock.elapsed() };
	}
}
