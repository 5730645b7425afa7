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
/** A look that reads nothing for so long is dropped: what it has read is too old to go on with. */
const KEPT_MS = 120_000;
const MOST_WAITS = 1_000;
const SOON_MS = 1_000;
/** While the rate limit is closed, a check only costs n8n time. */
const LIMITED_PAUSE_MS = 15_000;

/**
 * Looks at the payments of a wait, one look after the other, each in as many checks as it takes: a check
 * must be answered in seconds. Only the states of one whole look say that all payments are settled,
 * since one that was paid before may have been charged back. So a look is over as soon as it finds a
 * payment open, except the last one, whose states are passed on.
 */
export class Look {
	/** What the look under way has read, by the index of the item. */
	private readonly states = new Map<number, State>();
	/** The payments that it has yet to read; none if it is over. */
	private left: Payment[] = [];
	/** The item whose payment was found open last. */
	private openIndex: number | undefined;
	private isFinal = false;
	private progressedAt = clock.elapsed();
	/** Of the last check. */
	private counts = { found: 0, failed: 0, limited: 0 };
	/** Whether this look has read all payments, and all of them are settled. */
	isSettled = false;
	/** Whether a ping will go on with it. */
	isScheduled = false;

	constructor(private readonly accountKey: string) {}

	/** Whether nothing more is to be read in this look: what could not be read has had its turn. */
	get isOver(): boolean {
		return this.left.length === 0;
	}

	/** Whether it has read some payments and others not: what it has read gets old while nobody goes on. */
	get isHalfDone(): boolean {
		return !this.isOver && this.states.size > 0;
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
		return !this.isOver && clock.elapsed() - this.progressedAt > KEPT_MS;
	}

	/** Whether it was read from this account. */
	isOf({ key }: Account): boolean {
		return this.accountKey === key;
	}

	/**
	 * Goes on with the look, or begins a new one after it was over, with the payment that was open last.
	 *
	 * @param noticed the hash of a payment that has just changed: it is read again if it was read before
	 * @param isFinal whether the time limit is over; a look that began before says nothing about it
	 */
	begin(payments: readonly Payment[], noticed: string | undefined, isFinal: boolean): void {
		if (this.isOver || this.isFinal !== isFinal) {
			this.progressedAt = clock.elapsed();
			this.isFinal = isFinal;
			const isOpen = ({ index }: Payment) => index === this.openIndex;
			this.left = [...new Set([...payments.filter(isOpen), ...payments])];
		}
		const again = payments.filter(
			({ index, hash }) =>
				noticed !== undefined && isSameButForCase(hash, noticed) && this.states.has(index),
		);
		this.left = [...new Set([...again, ...this.left])];
	}

	/**
	 * Reads what is left, until it is too late to begin another read.
	 *
	 * @param beginBy on `clock.elapsed()`
	 */
	async read(readOne: (payment: Payment) => Promise<ReadResult>, beginBy: number): Promise<void> {
		const unread: Payment[] = [];
		const failed: Payment[] = [];
		const counts = { found: 0, limited: 0 };
		let isDecided = false;
		const readNext = async (payment: Payment): Promise<void> => {
			const isLate = isDecided || clock.elapsed() > beginBy;
			const result = isLate ? 'late' : await readOne(payment);
			if (result === 'failed') {
				failed.push(payment);
			} else if (result === 'late' || result === 'limited') {
				unread.push(payment);
				if (result === 'limited') counts.limited++;
			} else {
				this.states.set(payment.index, result);
				this.progressedAt = clock.elapsed();
				counts.found++;
				if (result.isSettled) return;
				this.openIndex = payment.index;
				isDecided = !this.isFinal;
			}
		};
		// One payment that is open, and was before, saves reading the others.
		const alone = this.isFinal || this.states.size > 0 ? 0 : 1;
		for (const part of [this.left.slice(0, alone), this.left.slice(alone)]) {
			await mapLimit(part, READS_AT_ONCE, readNext);
		}
		this.counts = { ...counts, failed: failed.length };
		// Those that fail go last. If nothing but failures is left, the next look may do better.
		const isHopeless = unread.length === 0 && counts.found === 0;
		this.left = isDecided || isHopeless ? [] : [...unread, ...failed];
		this.isSettled =
			this.isOver && !this.hasFailed && [...this.states.values()].every((state) => state.isSettled);
		if (this.isOver && !this.isFinal && !this.isSettled) this.states.clear();
	}

	/** What the look has read of an item; undefined if it could not. */
	stateOf(index: number): IDataObject | undefined {
		return this.states.get(index)?.json;
	}
}

/** By the id of the wait. */
const looks = processWide(
	new BoundedMap<Look>({
		most: MOST_WAITS,
		isOver: (look) => look.isOld,
		isKept: (look) => !look.isOver,
	}),
);

/** The look at the payments of a wait; a new one if what is known was read from another account. */
export function lookAt({ id }: SuspendedWait, account: Account): Look {
	const known = looks.get(id);
	const look = known?.isOf(account) ? known : new Look(account.key);
	looks.set(id, look);
	return look;
}

/** Forgets what was read for a wait that ends. */
export function forgetLook({ id }: SuspendedWait): void {
	looks.delete(id);
}

/** Whether a look is still the one at the payments of this wait. */
export function isLooking({ id }: SuspendedWait, look: Look): boolean {
	return looks.get(id) === look;
}
