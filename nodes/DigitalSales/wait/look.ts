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
/** How long a state is known after its look; a look that reads nothing for so long is dropped. */
const KEPT_MS = 120_000;
const MOST_WAITS = 1_000;
const SOON_MS = 1_000;
/** While the rate limit is closed, a check only costs n8n time. */
const LIMITED_PAUSE_MS = 15_000;

/**
 * Looks at all payments of a wait, one look after the other. A look reads each payment once, in as many
 * checks as it takes: each must be answered in seconds. Only the states of one whole look say that all
 * payments are settled, since one that was paid before may have been charged back.
 */
export class Look {
	/** By the index of the item. */
	private readonly known = new Map<number, State & { readAt: number }>();
	/** The payments that the present look has yet to read; none if it is over. */
	private left: Payment[] = [];
	private beganAt = 0;
	private progressedAt = clock.elapsed();
	private isFinal = false;
	/** Of the last check. */
	private counts = { found: 0, failed: 0, limited: 0 };
	/** Whether a ping will go on with it. */
	isScheduled = false;

	constructor(
		private readonly accountKey: string,
		private readonly payments: readonly Payment[],
	) {}

	/** Whether nothing more is to be read in this look: what could not be read has had its turn. */
	get isOver(): boolean {
		return this.left.length === 0;
	}

	/** Whether it has read some payments and others not: what it has read gets old while nobody goes on. */
	get isHalfDone(): boolean {
		return !this.isOver && this.left.length < this.payments.length;
	}

	/** Whether this look has read all payments, and all of them are settled. */
	get isSettled(): boolean {
		if (!this.isOver || this.hasFailed) return false;
		return this.payments.every(({ index }) => this.known.get(index)?.isSettled);
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

	/** Whether what it knows is too old to go on with. */
	get isOld(): boolean {
		return clock.elapsed() - this.progressedAt > KEPT_MS;
	}

	/** Whether it was read from this account. */
	isOf({ key }: Account): boolean {
		return this.accountKey === key;
	}

	/**
	 * Goes on with the look, or begins a new one after it was over.
	 *
	 * @param noticed the hash of a payment that has just changed: it is read first, even if it was read before
	 * @param isFinal whether the time limit is over; a look that began before says nothing about it
	 */
	begin(noticed: string | undefined, isFinal: boolean): void {
		if (this.isOver || this.isFinal !== isFinal) {
			this.beganAt = clock.elapsed();
			this.progressedAt = this.beganAt;
			this.isFinal = isFinal;
			this.left = this.inOrder();
		}
		const first = this.payments.filter(
			({ hash }) => noticed !== undefined && isSameButForCase(hash, noticed),
		);
		this.left = [...new Set([...first, ...this.left])];
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
		await mapLimit(this.left, READS_AT_ONCE, async (payment) => {
			const result = clock.elapsed() > beginBy ? 'late' : await readOne(payment);
			if (result === 'failed') {
				failed.push(payment);
			} else if (result === 'late' || result === 'limited') {
				unread.push(payment);
				if (result === 'limited') counts.limited++;
			} else {
				this.known.set(payment.index, { ...result, readAt: clock.elapsed() });
				this.progressedAt = clock.elapsed();
				counts.found++;
			}
		});
		this.counts = { ...counts, failed: failed.length };
		// Those that fail go last. If nothing but failures is left, the next look may do better.
		const isHopeless = unread.length === 0 && counts.found === 0;
		this.left = isHopeless ? [] : [...unread, ...failed];
	}

	/** The last known state; undefined if it was read neither in this look nor in the last two minutes. */
	lastKnown(index: number): IDataObject | undefined {
		const state = this.known.get(index);
		const since = Math.min(this.beganAt, clock.elapsed() - KEPT_MS);
		return state && state.readAt >= since ? state.json : undefined;
	}

	/** Those not known as settled go first, and among them those read the longest time ago. */
	private inOrder(): Payment[] {
		const of = ({ index }: Payment) => this.known.get(index) ?? { isSettled: false, readAt: -1 };
		return [...this.payments].sort((one, other) => {
			const bySettled = Number(of(one).isSettled) - Number(of(other).isSettled);
			return bySettled || of(one).readAt - of(other).readAt;
		});
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
export function lookAt({ id, payments }: SuspendedWait, account: Account): Look {
	const known = looks.get(id);
	const look = known?.isOf(account) ? known : new Look(account.key, payments);
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
