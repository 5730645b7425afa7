import type { IDataObject } from 'n8n-workflow';
import type { Account } from '../api/account';
import { isSameButForCase } from '../domain/hash';
import { BoundedMap } from '../shared/boundedMap';
import { clock } from '../shared/clock';
import { mapLimit } from '../shared/mapLimit';
import { processWide } from '../shared/processWide';
import type { SuspendedWait } from './suspendedWait';

/** A payment as the service returned it. */
interface State {
	isSettled: boolean;
	json: IDataObject;
}

type Payment = SuspendedWait['payments'][number];

/** What a read gave: `failed` if it was sent in vain, `limited` if the rate limit kept it back. */
type ReadResult = State | 'failed' | 'limited';

export const READS_AT_ONCE = 20;
/**
 * A look that reads nothing for so long is dropped: what it has read is too old to go on with. Longer
 * than a 429 closes the rate limit for.
 */
const KEPT_MS = 360_000;
/** No look follows the one at the limit, so it asks again. */
const MOST_FAILURES_AT_LIMIT = 3;
const MOST_LOOKS = 1_000;
const MOST_WAITS = 10_000;
const SOON_MS = 1_000;
/** While the rate limit is closed, a check only costs n8n time. */
const LIMITED_PAUSE_MS = 15_000;

/**
 * One look at the payments of a wait, in as many checks as it takes: a check must be answered in seconds.
 * Only the states of one whole look say that all payments are settled, since one that was paid before
 * may have been charged back. While one payment is open the wait cannot end, so a look is over as soon
 * as it finds one, or cannot read the first. Only the look at the time limit reads all: its states are
 * passed on.
 */
export class Look {
	/** By the index of the item. */
	private readonly states: Map<number, State>;
	/** The payments that it has yet to read; none if it is over. */
	private left: readonly Payment[];
	/** How often each was asked for in vain in this look. */
	private readonly failures = new Map<Payment, number>();
	private progressedAt = clock.elapsed();
	/** Of the last check. */
	private counts = { found: 0, failed: 0, limited: 0 };
	/** Whether a ping will go on with it. */
	isScheduled = false;

	/**
	 * @param payments those to read first come first
	 * @param isFinal whether the time limit is over
	 * @param underWay the look that was under way at the limit: its states serve where a read fails
	 */
	constructor(
		private readonly accountKey: string,
		private readonly payments: readonly Payment[],
		readonly isFinal: boolean,
		underWay?: Look,
	) {
		this.states = new Map(underWay?.states);
		this.left = payments;
	}

	/** Whether nothing more is to be read in this look: what could not be read has had its turn. */
	get isOver(): boolean {
		return this.left.length === 0;
	}

	/** Whether it has read some payments and others not: what it has read gets old while nobody goes on. */
	get isHalfDone(): boolean {
		return !this.isOver && this.states.size > 0;
	}

	/** Whether this look has read all payments, and all of them are settled. */
	get isSettled(): boolean {
		if (!this.isOver || this.hasFailed) return false;
		return this.payments.every(({ index }) => this.states.get(index)?.isSettled);
	}

	/** Whether the last check asked for a payment in vain, or could not ask for any. */
	get hasFailed(): boolean {
		const { found, failed, limited } = this.counts;
		return found === 0 || failed + limited > 0;
	}

	/** When the next check should go on with this look. */
	get pauseMs(): number {
		const { found, limited } = this.counts;
		return found === 0 && limited > 0 ? LIMITED_PAUSE_MS : SOON_MS;
	}

	/** Whether what it has read is too old to go on with. */
	get isOld(): boolean {
		return clock.elapsed() - this.progressedAt > KEPT_MS;
	}

	/** The index of the item that keeps the wait from ending: its payment is open, or could not be read. */
	get blocker(): number | undefined {
		const open = this.payments.find(({ index }) => this.states.get(index)?.isSettled === false);
		const unread = this.payments.find(({ index }) => !this.states.has(index));
		return (open ?? unread)?.index;
	}

	/** Whether it reads from this account. */
	isOf({ key }: Account): boolean {
		return this.accountKey === key;
	}

	/**
	 * Reads what is left, until it is too late to begin another read.
	 *
	 * @param noticed the hash of a payment that has just changed: what was read of it before is no longer true
	 * @param beginBy on `clock.elapsed()`
	 */
	async read(
		readOne: (payment: Payment) => Promise<ReadResult>,
		{ noticed, beginBy }: { noticed?: string; beginBy: number },
	): Promise<void> {
		// No later look can do better.
		if (this.isFinal) this.progressedAt = clock.elapsed();
		const left = this.leftAfter(noticed);
		const unread: Payment[] = [];
		const failed: Payment[] = [];
		const counts = { found: 0, limited: 0 };
		let goesOn = true;
		const readNext = async (payment: Payment): Promise<void> => {
			const isLate = !goesOn || clock.elapsed() > beginBy;
			const result = isLate ? 'late' : await readOne(payment);
			if (result === 'failed') {
				failed.push(payment);
				this.failures.set(payment, (this.failures.get(payment) ?? 0) + 1);
			} else if (result === 'late' || result === 'limited') {
				unread.push(payment);
				if (result === 'limited') counts.limited++;
			} else {
				this.states.set(payment.index, result);
				this.progressedAt = clock.elapsed();
				counts.found++;
				if (!this.isFinal && !result.isSettled) goesOn = false;
			}
		};
		const isStart = !this.isFinal && this.states.size === 0;
		if (isStart) {
			await mapLimit(left.splice(0, 1), 1, readNext);
			goesOn &&= counts.found > 0;
		}
		await mapLimit(left, READS_AT_ONCE, readNext);
		this.counts = { ...counts, failed: failed.length };
		// Those that fail go last. If nothing but failures is left, the next look may do better.
		this.left = [...unread, ...failed];
		const isInVain = counts.found === 0 && counts.limited === 0 && failed.length > 0;
		const isHopeless =
			isInVain && (isStart || this.left.every((payment) => this.isGivenUp(payment)));
		const isOpen = counts.found > 0 && !goesOn;
		if (isOpen || isHopeless) this.left = [];
	}

	private isGivenUp(payment: Payment): boolean {
		return (this.failures.get(payment) ?? 0) >= (this.isFinal ? MOST_FAILURES_AT_LIMIT : 1);
	}

	/** What was read of an item in this look or the one before the limit; undefined if nothing was. */
	stateOf(index: number): IDataObject | undefined {
		return this.states.get(index)?.json;
	}

	/** What is left, after a payment that was read before and has changed since: its state is forgotten. */
	private leftAfter(noticed: string | undefined): Payment[] {
		if (noticed === undefined) return [...this.left];
		const again = this.payments.filter(
			({ index, hash }) => isSameButForCase(hash, noticed) && this.states.delete(index),
		);
		return [...new Set([...again, ...this.left])];
	}
}

/**
 * The looks under way, by the id of the wait.
 *
 * @internal
 */
export const looks = processWide(
	new BoundedMap<Look>({ most: MOST_LOOKS, isOver: (look) => look.isOld }),
);

/**
 * The index of the item that kept the wait from ending in the last look, by the id of the wait.
 *
 * @internal
 */
export const blockers = processWide(new BoundedMap<number>({ most: MOST_WAITS }));

/**
 * The look under way at the payments of a wait, else a new one.
 *
 * @param isFinal whether the time limit is over; a look that began before does not end the wait
 */
export function lookAt(wait: SuspendedWait, account: Account, isFinal: boolean): Look {
	const known = looks.get(wait.id);
	const underWay = known?.isOf(account) ? known : undefined;
	const look =
		underWay?.isFinal === isFinal
			? underWay
			: new Look(account.key, inOrder(wait), isFinal, underWay);
	looks.set(wait.id, look);
	return look;
}

/** What kept the wait from ending comes first: while it still does, nothing else need be read. */
function inOrder({ id, payments }: SuspendedWait): Payment[] {
	const blocker = blockers.get(id);
	const [first, others] = [
		payments.filter(({ index }) => index === blocker),
		payments.filter(({ index }) => index !== blocker),
	];
	return [...first, ...others];
}

/** Remembers what the next look has to know of this one. */
export function endCheck({ id }: SuspendedWait, look: Look): void {
	if (!look.isOver) return;
	looks.delete(id);
	if (look.blocker !== undefined) blockers.set(id, look.blocker);
}

/** Forgets what was read for a wait that ends. */
export function forgetLook({ id }: SuspendedWait): void {
	looks.delete(id);
	blockers.delete(id);
}

/** Whether a look is still the one at the payments of this wait. */
export function isLooking({ id }: SuspendedWait, look: Look): boolean {
	return looks.get(id) === look;
}
