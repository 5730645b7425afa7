import { clock } from './clock';

const MINUTE_MS = 60_000;
const MOST_AT_ONCE = 20;
const MOST_IN_LINE = 256;
/** Ten times what a busy shop sells, and still no load for a service. */
const MOST_A_MINUTE = 6_000;
/** Real notices are of real transactions; only one that comes before its transaction is unknown. */
const MOST_UNKNOWN_A_MINUTE = 30;

interface Asking {
	isKnown: boolean;
	admit: (admitted: boolean) => void;
}

/**
 * Bounds the reads that strangers can cause: the address of a trigger is open to anybody, and each
 * notice costs a request of the account. All triggers of an account share one of these in a process.
 * Reads that find a transaction are work and hardly bounded; those that find nothing are few. While
 * strangers use those up, transactions that are known to exist are read all the same.
 */
export class ReadBounds {
	private underWay = 0;
	private strangersUnderWay = 0;
	private line: Asking[] = [];
	private readonly all = new LastMinute();
	private readonly unknown = new LastMinute();

	/**
	 * Asks for a read, and waits in a short line where too many are under way. An admitted read must
	 * be followed by one {@link leave}.
	 *
	 * @param isKnown whether the transaction is known to exist
	 * @returns whether the read is admitted
	 */
	async enter(isKnown: boolean): Promise<boolean> {
		if (this.isSpent(isKnown) || this.line.length >= MOST_IN_LINE) return false;
		if (this.hasRoom(isKnown)) return this.start(isKnown);
		return await new Promise((resolve) => this.line.push({ isKnown, admit: resolve }));
	}

	/** Ends an admitted read. */
	leave(isKnown: boolean, foundNothing: boolean): void {
		this.underWay--;
		if (!isKnown) this.strangersUnderWay--;
		if (foundNothing) this.unknown.add();
		const asking = this.line;
		this.line = [];
		for (const one of asking) {
			if (this.isSpent(one.isKnown)) one.admit(false);
			else if (this.hasRoom(one.isKnown)) one.admit(this.start(one.isKnown));
			else this.line.push(one);
		}
	}

	private start(isKnown: boolean): true {
		this.underWay++;
		if (!isKnown) this.strangersUnderWay++;
		this.all.add();
		return true;
	}

	private isSpent(isKnown: boolean): boolean {
		if (this.all.count() >= MOST_A_MINUTE) return true;
		return !isKnown && this.unknown.count() >= MOST_UNKNOWN_A_MINUTE;
	}

	/** Each stranger under way may turn out to find nothing, so it takes its place among those. */
	private hasRoom(isKnown: boolean): boolean {
		if (this.underWay >= MOST_AT_ONCE) return false;
		return isKnown || this.strangersUnderWay < MOST_UNKNOWN_A_MINUTE - this.unknown.count();
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
