import { clock } from './clock';

const MINUTE_MS = 60_000;
const MOST_AT_ONCE = 20;
const MOST_IN_LINE = 256;
/** Ten times what a busy shop sells, and still no load for a service. */
const MOST_A_MINUTE = 6_000;
/** Real notices are of real transactions; only one that comes before its transaction is unknown. */
const MOST_UNKNOWN_A_MINUTE = 30;

/**
 * Bounds the reads that strangers can cause: the address of a trigger is open to anybody, and each
 * notice costs a request of the account. All triggers of an account share one of these in a process.
 * Reads that find a transaction are work and hardly bounded; those that find nothing are few.
 */
export class ReadBounds {
	private underWay = 0;
	private readonly line: Array<(admitted: boolean) => void> = [];
	private readonly all = new LastMinute();
	private readonly unknown = new LastMinute();

	/**
	 * Asks for a read, and waits in a short line where too many are under way. An admitted read must
	 * be followed by one {@link leave}.
	 *
	 * @returns whether the read is admitted
	 */
	async enter(): Promise<boolean> {
		if (this.isSpent() || this.line.length >= MOST_IN_LINE) return false;
		if (this.hasRoom()) return this.admit();
		return await new Promise((resolve) => this.line.push(resolve));
	}

	/** Ends an admitted read. */
	leave({ foundNothing }: { foundNothing: boolean }): void {
		this.underWay--;
		if (foundNothing) this.unknown.add();
		while (this.line.length > 0 && (this.isSpent() || this.hasRoom())) {
			const next = this.line.shift();
			next?.(this.isSpent() ? false : this.admit());
		}
	}

	private admit(): true {
		this.underWay++;
		this.all.add();
		return true;
	}

	private isSpent(): boolean {
		return this.all.count() >= MOST_A_MINUTE || this.unknown.count() >= MOST_UNKNOWN_A_MINUTE;
	}

	/** Each read under way may turn out to find nothing, so it takes its place among those. */
	private hasRoom(): boolean {
		return this.underWay < Math.min(MOST_AT_ONCE, MOST_UNKNOWN_A_MINUTE - this.unknown.count());
	}
}

class LastMinute {
	private times: number[] = [];

	add(): void {
		this.times.push(clock.now());
	}

	count(): number {
		const start = clock.now() - MINUTE_MS;
		const firstInside = this.times.findIndex((at) => at > start);
		if (firstInside !== 0) this.times = firstInside < 0 ? [] : this.times.slice(firstInside);
		return this.times.length;
	}
}
