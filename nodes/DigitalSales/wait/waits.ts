import sortBy from 'lodash/sortBy';
import type { IDataObject } from 'n8n-workflow';
import type { Transaction } from '../api/schemas/transaction';
import { isSettled, isWaiting } from '../domain/paymentStatus';
import { waitOutput } from '../output/transaction';
import { BoundedMap, processWide } from '../shared/processWide';
import { clock } from '../shared/clock';
import { mapLimit } from '../shared/mapLimit';
import type { SuspendedWait } from './suspendedWait';

type Payment = SuspendedWait['payments'][number];

/** A payment as it was last read. */
interface State {
	/** When it was last looked at, on `clock.elapsed()`. */
	at: number;
	isSettled: boolean;
	/** Undefined if it could not be read yet. */
	json?: IDataObject;
}

/** A read that failed, or that the rate limit kept back. */
type Unread = 'failed' | 'limited';

/**
 * How a check ended: the execution can go on, a payment is open, there was no time for all, the rate
 * limit kept a read back, or one failed.
 */
export type CheckResult = 'done' | 'open' | 'unfinished' | Unread;

const READS_AT_ONCE = 20;
/** Of the rate limit, what re-checks leave to others, and what the look at the time limit leaves to notices. */
const LEFT_BY_RECHECKS = 0.5;
const LEFT_AT_LIMIT = 0.25;
/** Longer than one check, so that n8n does not end the wait during it. */
const LAST_CHECK_MS = 30_000;
const MOST_WAITS = 10_000;

/**
 * What this process knows of a wait. Every check reads open payments, the oldest look first, as many as
 * fit; when none is open, or the time limit is over, the execution goes on.
 */
export class KnownWait {
	/** By the index of the item. What was read as settled stays so, if the service cannot be read later. */
	private readonly states = new Map<number, State>();
	/** Items whose payment was noticed and could not be read since. */
	private readonly noticed = new Set<number>();
	/** When a payment was last found open: what was settled by then is read once more, as it may have been charged back. */
	private openAt = -Infinity;
	/** The time limit, on `clock.elapsed()`. */
	limitAt: number;
	/** Has a ping come by a moment; undefined if this process does not ping for the wait. */
	pingBy?: (moment: number) => void;

	constructor(private readonly wait: SuspendedWait) {
		this.limitAt = clock.elapsed() + wait.deadline - clock.now();
	}

	/** Whether the time limit is over, by the time of day or by the time that has passed: a clock may be set. */
	isLast(): boolean {
		const now = clock.elapsed();
		if (clock.now() >= this.wait.deadline) this.limitAt = Math.min(this.limitAt, now);
		return now >= this.limitAt;
	}

	/** The last moment to go on with what is known, before n8n ends the wait with the items as they were suspended. */
	get lastAt(): number {
		const { deadline, endsAt } = this.wait;
		return this.limitAt + endsAt - deadline - LAST_CHECK_MS;
	}

	isTimeUp(): boolean {
		if (!this.isLast()) return false;
		return clock.elapsed() >= this.lastAt || clock.now() + LAST_CHECK_MS >= this.wait.endsAt;
	}

	/** Whether n8n must have ended the wait. */
	isOver(): boolean {
		return clock.elapsed() > this.lastAt + LAST_CHECK_MS;
	}

	/** Enters a notice about payments. */
	notice(payments: readonly Payment[]): void {
		for (const { index } of payments) this.noticed.add(index);
	}

	/** Whether a payment was noticed and could not be read since. */
	get isNoticed(): boolean {
		return this.noticed.size > 0;
	}

	/**
	 * Reads payments until one is found open, since then the wait cannot end; after the time limit all.
	 *
	 * @param leaves the part of the rate limit that a read leaves to others
	 * @param beginBy when it is too late to begin another read, on `clock.elapsed()`
	 */
	async check(
		read: (payment: Payment, leaves: number) => Promise<Transaction | Unread>,
		beginBy: number,
	): Promise<CheckResult> {
		const isLast = this.isLast();
		const unread = new Set<Unread>();
		let [isFound, isOpen] = [false, false];
		const readNext = async (payment: Payment): Promise<void> => {
			const at = clock.elapsed();
			if ((isOpen && !isLast) || at > beginBy) return;
			const { index } = payment;
			const isNoticed = this.noticed.delete(index);
			const leaves = isLast ? LEFT_AT_LIMIT : LEFT_BY_RECHECKS;
			const result = await read(payment, isNoticed ? 0 : leaves);
			if (typeof result !== 'string') {
				isFound = true;
				if (!this.enter(payment, result, at)) isOpen = true;
				return;
			}
			unread.add(result);
			if (isNoticed) this.noticed.add(index);
			const known = this.states.get(index);
			// The next check begins with another one.
			if (!isLast && !known?.isSettled) this.states.set(index, { isSettled: false, ...known, at });
		};
		const due = this.due(isLast);
		const before = due.length;
		const isStart = !isLast && before === this.wait.payments.length;
		const alone = due.splice(0, isStart ? this.noticed.size + 1 : 0);
		await mapLimit(alone, 1, readNext);
		if (isFound || !isStart) await mapLimit(due, READS_AT_ONCE, readNext);
		const left = this.due(isLast).length;
		if (left === 0) return 'done';
		if (isOpen && !isLast && !this.isNoticed) return 'open';
		if (left < before || unread.size === 0) return 'unfinished';
		// What was noticed is asked for again soon.
		return unread.has('limited') && !this.isNoticed ? 'limited' : 'failed';
	}

	/** An item in its present state; as it was suspended if its payment could not be read. */
	itemOf(index: number, suspended: IDataObject): IDataObject {
		return this.states.get(index)?.json ?? suspended;
	}

	/** What a check has to read, in its order. */
	private due(isLast: boolean): Payment[] {
		const due = this.wait.payments.filter(({ index }) => {
			const state = this.states.get(index);
			if (!state || this.noticed.has(index)) return true;
			return isLast ? state.at < this.limitAt : !state.isSettled || state.at <= this.openAt;
		});
		return sortBy(due, [
			({ index }) => !this.noticed.has(index),
			({ index }) => this.states.get(index)?.isSettled === true,
			({ index }) => this.states.get(index)?.at ?? -Infinity,
		]);
	}

	/** Enters what was read of a payment; whether it is settled. */
	private enter({ index, ...choice }: Payment, transaction: Transaction, at: number): boolean {
		const known = this.states.get(index);
		// A replica may lag behind.
		const isOld = known?.isSettled === true && isWaiting(transaction.payment_status);
		const state = isOld
			? { ...known, at }
			: {
					at,
					isSettled: isSettled(transaction.payment_status),
					json: waitOutput(transaction, choice),
				};
		this.states.set(index, state);
		if (!state.isSettled) this.openAt = at;
		return state.isSettled;
	}
}

/**
 * The waits that this process pings for or has checked, by their id.
 *
 * @internal
 */
export const waits = processWide(
	new BoundedMap<KnownWait>({
		most: MOST_WAITS,
		isOver: (known) => known.isOver(),
		isKept: ({ pingBy }) => pingBy !== undefined,
	}),
);

/** What this process knows of a wait, from now on at least. */
export function knownWait(wait: SuspendedWait): KnownWait {
	const known = waits.get(wait.id) ?? new KnownWait(wait);
	waits.set(wait.id, known);
	return known;
}
