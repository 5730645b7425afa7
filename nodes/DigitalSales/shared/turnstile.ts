import { CanceledError, clock } from './clock';

/** What a {@link Turnstile} asks its owner. */
export interface Gate<T> {
	/**
	 * How long a caller has to wait for its turn at least, in milliseconds: 0 is not at all, Infinity
	 * is until {@link Turnstile.advance}.
	 */
	delayMs: () => number;
	/** Whether callers are turned away instead, those in line included. */
	isClosed?: () => boolean;
	/** Lets one caller in; called only when there is no delay. */
	admit: () => T;
}

/** How a caller waits. */
export interface Patience {
	/** When it is too late to begin, on `clock.elapsed()`. */
	latest?: number;
	/** Cancels waiting at once. */
	signal?: AbortSignal;
	/** Told before a wait how long it will be at least. */
	onWait?: (delayMs: number) => void;
}

/** Thrown by {@link Turnstile.enter} when a turn does not come in time. */
export class TooLateError extends Error {
	constructor() {
		super('The turn did not come in time');
	}
}

interface Waiting<T> extends Patience {
	latest: number;
	letIn: (admitted: T) => void;
	turnAway: () => void;
}

const LONGEST_SLEEP_MS = 1_000;

/** A line of callers who wait for their turn; they are let in one by one, in the order in which they came. */
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
	 * Waits for a turn.
	 *
	 * @throws CanceledError when the signal is aborted while it waits
	 * @throws TooLateError when the turn does not come in time, as soon as that is certain
	 */
	async enter({ latest = Infinity, signal, onWait }: Patience = {}): Promise<T> {
		if (signal?.aborted) throw new CanceledError();
		const delayMs = this.gate.delayMs();
		if (this.isTooLate(latest, delayMs)) throw new TooLateError();
		if (delayMs === 0 && this.line.length === 0) return this.gate.admit();
		// Queued callers hear nothing before they are the first, so report now.
		if (delayMs > 0) onWait?.(delayMs);
		const turn = this.wait({ latest, signal, onWait });
		if (this.line.length === 1) this.setAlarm(delayMs);
		return await turn;
	}

	/** Lets in and turns away whom it can. To be called when something was given back. */
	advance(): void {
		for (;;) {
			const delayMs = this.gate.delayMs();
			const tooLate = this.line.filter(({ latest }) => this.isTooLate(latest, delayMs));
			this.line = this.line.filter((one) => !tooLate.includes(one));
			for (const one of tooLate) one.turnAway();
			const [first] = this.line;
			if (!first) return;
			if (delayMs > 0) {
				first.onWait?.(delayMs);
				this.setAlarm(delayMs);
				return;
			}
			this.line.shift();
			first.letIn(this.gate.admit());
		}
	}

	private async wait(patience: Patience & { latest: number }): Promise<T> {
		const { latest, signal } = patience;
		const late =
			latest === Infinity
				? undefined
				: AbortSignal.timeout(Math.max(0, Math.ceil(latest - clock.elapsed())));
		let leave: () => void = () => undefined;
		try {
			return await new Promise<T>((resolve, reject) => {
				const waiting: Waiting<T> = {
					...patience,
					letIn: resolve,
					turnAway: () => reject(new TooLateError()),
				};
				leave = () => {
					// At once, lest it be let in after it has left.
					this.line = this.line.filter((one) => one !== waiting);
					reject(signal?.aborted ? new CanceledError() : new TooLateError());
				};
				this.line.push(waiting);
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

	/** Sleeps in slices, so that a line that is left by all leaves no long timer behind. */
	private async tick(): Promise<void> {
		this.isTicking = true;
		while (this.line.length > 0 && this.alarmAt < Infinity) {
			const left = this.alarmAt - clock.elapsed();
			if (left > 0) await clock.sleep(Math.min(left, LONGEST_SLEEP_MS));
			else this.advance();
		}
		this.isTicking = false;
	}

	/** Whether a caller who is let in after the delay would begin too late. */
	private isTooLate(latest: number, delayMs: number): boolean {
		if (this.gate.isClosed?.()) return true;
		return clock.elapsed() + (delayMs === Infinity ? 0 : delayMs) > latest;
	}
}
