import { CanceledError, clock } from './clock';

/** What a {@link Turnstile} asks its owner. */
export interface Gate<T> {
	/** How long the next caller has to wait at least: Infinity is until the owner calls {@link Turnstile.letOneIn}. */
	delayMs: () => number;
	/** Called when the first in line has waited long enough; calls {@link Turnstile.letOneIn}. */
	wake: () => void;
	/** Lets one caller in; called only if there is no delay. */
	admit: () => T;
}

/** How a caller waits. */
export interface Patience {
	/** When it is too late to begin, on `clock.elapsed()`. */
	latest?: number;
	/** Cancels waiting at once. */
	signal?: AbortSignal;
	/** Where it goes if it was let in before: before all who were not, or before all but the first of them. */
	returnsTo?: 'first' | 'second';
	/** Called before a wait with how long it takes at least. */
	onWait?: (delayMs: number) => void;
}

/** Thrown by {@link Turnstile.enter} when a caller cannot be let in in time. */
export class TooLateError extends Error {
	constructor() {
		super('The turn did not come in time');
	}
}

interface Waiting<T> extends Patience {
	latest: number;
	resolve: (admitted: T) => void;
	reject: (error: Error) => void;
}

const LONGEST_SLEEP_MS = 1_000;

/** A line of callers, let in one by one in the order in which they came; who is back goes first. */
export class Turnstile<T> {
	private line: Array<Waiting<T>> = [];
	/** When the first in line may ask again. */
	private alarmAt = Infinity;
	private isTicking = false;

	constructor(private readonly gate: Gate<T>) {}

	/** How many callers wait. */
	get length(): number {
		return this.line.length;
	}

	/**
	 * Waits to be let in.
	 *
	 * @throws CanceledError when the signal is aborted
	 * @throws TooLateError as soon as it is certain that the caller cannot be let in in time
	 */
	async enter({ latest = Infinity, signal, returnsTo, onWait }: Patience = {}): Promise<T> {
		if (signal?.aborted) throw new CanceledError();
		const delayMs = this.gate.delayMs();
		if (this.isTooLate(latest, delayMs)) throw new TooLateError();
		if (delayMs === 0 && this.line.length === 0) return this.gate.admit();
		// Queued callers are told nothing before they are first, so report now.
		if (delayMs > 0) onWait?.(delayMs);
		const admitted = this.wait({ latest, signal, returnsTo, onWait });
		if (this.line.length === 1) this.setAlarm(delayMs);
		return await admitted;
	}

	/** Rejects who is too late, and lets the first in, if that need not wait. Whether one was let in. */
	letOneIn(): boolean {
		const delayMs = this.gate.delayMs();
		const tooLate = this.line.filter(({ latest }) => this.isTooLate(latest, delayMs));
		this.line = this.line.filter((one) => !tooLate.includes(one));
		for (const { reject } of tooLate) reject(new TooLateError());
		const [first] = this.line;
		if (!first) return false;
		if (delayMs > 0) {
			first.onWait?.(delayMs);
			this.setAlarm(delayMs);
			return false;
		}
		this.line.shift();
		first.resolve(this.gate.admit());
		return true;
	}

	private async wait(patience: Patience & { latest: number }): Promise<T> {
		const { latest, signal } = patience;
		const leftMs = Math.max(0, Math.ceil(latest - clock.elapsed()));
		const late = leftMs === Infinity ? undefined : AbortSignal.timeout(leftMs);
		let leave: () => void = () => undefined;
		try {
			return await new Promise<T>((resolve, reject) => {
				const waiting = { ...patience, resolve, reject };
				leave = () => {
					// At once, so that it is not let in after it has left.
					this.line = this.line.filter((one) => one !== waiting);
					reject(signal?.aborted ? new CanceledError() : new TooLateError());
				};
				const firstNew = this.line.findIndex((other) => !other.returnsTo);
				const least = patience.returnsTo === 'second' ? firstNew + 1 : 0;
				const place = this.line.findIndex(
					(other, nth) => patience.returnsTo && !other.returnsTo && nth >= least,
				);
				this.line.splice(place < 0 ? this.line.length : place, 0, waiting);
				signal?.addEventListener('abort', leave);
				late?.addEventListener('abort', leave);
			});
		} finally {
			signal?.removeEventListener('abort', leave);
			late?.removeEventListener('abort', leave);
		}
	}

	private setAlarm(delayMs: number): void {
		this.alarmAt = clock.elapsed() + delayMs;
		if (!this.isTicking) void this.tick();
	}

	/** Sleeps in slices, so that a line that all have left leaves no long timer behind. */
	private async tick(): Promise<void> {
		this.isTicking = true;
		while (this.line.length > 0 && this.alarmAt < Infinity) {
			const left = this.alarmAt - clock.elapsed();
			if (left > 0) await clock.sleep(Math.min(left, LONGEST_SLEEP_MS));
			else this.gate.wake();
		}
		this.isTicking = false;
	}

	private isTooLate(latest: number, delayMs: number): boolean {
		return clock.elapsed() + (delayMs === Infinity ? 0 : delayMs) > latest;
	}
}
