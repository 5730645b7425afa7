import sortBy from 'lodash/sortBy';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { Transaction } from '../api/schemas/transaction';
import { isBehind, isSettled, isTooLateToPay, isWaiting } from '../domain/paymentStatus';
import type { Notice } from '../notice/parse';
import type { ReadBack } from '../notice/verify';
import { waitOutput } from '../output/transaction';
import { BoundedMap, processWide } from '../shared/processWide';
import { clock } from '../shared/clock';
import { eachLimit } from '../shared/eachLimit';
import type { SuspendedWait } from './storedWait';

type Payment = SuspendedWait['payments'][number];

/** A payment as it was last read. */
interface State {
	/** When it was last looked at, on `clock.elapsed()`. */
	at: number;
	isSettled: boolean;
	/** Undefined if it could not be read yet. */
	json?: IDataObject;
}

/**
 * How a check ended: the execution can go on, a payment is open, there was no time for all, or one could
 * not be read.
 */
export type CheckResult = 'done' | 'open' | 'unfinished' | 'unread';

const CHECKED_AT_ONCE = 20;
/** Longer than one check, so that n8n does not end the wait during it. */
const LAST_CHECK_MS = 30_000;
const MOST_WAITS = 10_000;
/** After a check, so that a flood of notices costs few. */
const BETWEEN_CHECKS_MS = 3_000;

/**
 * What this process knows of a wait. Every check reads the noticed payments, then the open ones, the oldest
 * look first, until one is still open; when none is, or after the time limit, the execution goes on.
 */
export class KnownWait {
	/** By the index of the item. What was read as settled stays so, if the service cannot be read later. */
	private readonly states = new Map<number, State>();
	/** What notices say of items whose payment could not be read since. */
	private readonly noticed = new Map<number, { status?: string }>();
	/** When a payment was last found open: what was settled by then is read once more, as it may have been charged back. */
	private openAt = -Infinity;
	/** The time limit, on `clock.elapsed()`. */
	limitAt: number;
	/** Has a ping come by a moment; undefined if this process does not ping for the wait. */
	pingBy?: (moment: number) => void;
	/** While the execution goes on: whether n8n has stored that. */
	goingOn?: Promise<boolean>;
	private checking?: Promise<CheckResult>;
	/** Whether the last check found all settled that it had time for: the next reads many at once. */
	private isHalfDone = false;
	private pausedUntil = 0;

	constructor(private readonly wait: SuspendedWait) {
		this.limitAt = clock.elapsed() + wait.deadline - clock.now();
	}

	/** Whether the time limit is over, by the time of day or by the time that has passed: a clock may be set. */
	isLimitOver(): boolean {
		const now = clock.elapsed();
		if (clock.now() >= this.wait.deadline) this.limitAt = Math.min(this.limitAt, now);
		return now >= this.limitAt;
	}

	/** The last moment to go on with what is known, before n8n ends the wait with the items as they were suspended. */
	get goesOnAt(): number {
		const { deadline, endsAt } = this.wait;
		return this.limitAt + endsAt - deadline - LAST_CHECK_MS;
	}

	mustGoOn(): boolean {
		if (!this.isLimitOver()) return false;
		return clock.elapsed() >= this.goesOnAt || clock.now() + LAST_CHECK_MS >= this.wait.endsAt;
	}

	/** Whether n8n must have ended the wait. */
	isOver(): boolean {
		return clock.elapsed() > this.goesOnAt + LAST_CHECK_MS;
	}

	/** Enters a notice; false if it is about no payment of this wait. */
	notice({ hash, status }: Notice): boolean {
		const payments = this.wait.payments.filter((one) => one.hash === hash);
		for (const { index } of payments) this.noticed.set(index, { status });
		return payments.length > 0;
	}

	/** Whether a payment was noticed and could not be read since. */
	get isNoticed(): boolean {
		return this.noticed.size > 0;
	}

	/** Checks, or joins the check under way; that of a notice begins after a pause. */
	async inTurn(isNotice: boolean, check: () => Promise<CheckResult>): Promise<CheckResult> {
		if (this.checking) return await this.checking;
		const pauseMs = isNotice ? this.pausedUntil - clock.elapsed() : 0;
		this.checking = (pauseMs > 0 ? clock.sleep(pauseMs).then(check) : check()).finally(() => {
			this.checking = undefined;
			this.pausedUntil = clock.elapsed() + BETWEEN_CHECKS_MS;
		});
		return await this.checking;
	}

	/**
	 * Reads payments until one is open or cannot be read, since then the wait cannot end; after the time
	 * limit all.
	 *
	 * @param read takes its turn after a 429 if it yields
	 * @param beginBy when it is too late to begin another read, on `clock.elapsed()`
	 */
	async check(
		read: (hash: string, yields: boolean) => Promise<ReadBack>,
		beginBy: number,
	): Promise<CheckResult> {
		const isAfterLimit = this.isLimitOver();
		const found = new Set<CheckResult>();
		const readNext = async (payment: Payment): Promise<void> => {
			const at = clock.elapsed();
			const { index, hash } = payment;
			const isNeeded = isAfterLimit || found.size === 0 || this.noticed.has(index);
			if (!isNeeded || at > beginBy) return;
			const notice = this.noticed.get(index);
			const result = await read(hash, !notice && !isAfterLimit);
			if (result.outcome === 'found') {
				const { payment_status: status } = result.transaction;
				const { isSettled } = this.enter(payment, result.transaction, at);
				// Another that has come meanwhile may say more.
				const later = this.noticed.get(index);
				if (!isBehind(status, notice?.status)) {
					if (!isSettled && !isAfterLimit) found.add('open');
					const isSame = later?.status === status || !isTooLateToPay(later?.status);
					if (later === notice || (isSettled && isSame)) this.noticed.delete(index);
					return;
				}
			}
			found.add('unread');
			// Next time it is taken as it is read, unless another notice claims more.
			if (notice) notice.status = undefined;
			const known = this.states.get(index);
			// The next check begins with another one.
			if (at < this.limitAt && !known?.isSettled)
				this.states.set(index, { isSettled: false, ...known, at });
		};
		const due = this.due(isAfterLimit);
		const isAlone = !isAfterLimit && !this.isHalfDone;
		const alone = due.splice(0, isAlone ? this.noticed.size + 1 : 0);
		await eachLimit(alone, 1, readNext);
		await eachLimit(due, CHECKED_AT_ONCE, readNext);
		if (this.due(isAfterLimit).length === 0) return 'done';
		this.isHalfDone = found.size === 0;
		if (this.isHalfDone) return 'unfinished';
		if (found.has('open') && !this.isNoticed) return 'open';
		return 'unread';
	}

	/** The suspended items in their present state; as they were if their payment could not be read. */
	itemsOf(suspended: IDataObject[]): INodeExecutionData[] {
		if (suspended.length !== this.wait.count) throw new Error('Suspended items are missing');
		return suspended.map((json, index) => ({ json: this.states.get(index)?.json ?? json }));
	}

	/** What a check has to read, in its order. */
	private due(isAfterLimit: boolean): Payment[] {
		const due = this.wait.payments.filter(({ index }) => {
			const state = this.states.get(index);
			if (!state || this.noticed.has(index)) return true;
			return isAfterLimit ? state.at < this.limitAt : !state.isSettled || state.at <= this.openAt;
		});
		return sortBy(due, [
			({ index }) => !this.noticed.has(index),
			({ index }) => this.states.get(index)?.isSettled === true,
			({ index }) => this.states.get(index)?.at ?? -Infinity,
		]);
	}

	private enter({ index, ...choice }: Payment, transaction: Transaction, at: number): State {
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
		return state;
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
