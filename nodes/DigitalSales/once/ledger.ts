import { randomUUID } from 'crypto';
import difference from 'lodash/difference';
import intersection from 'lodash/intersection';
import type { IExecuteFunctions } from 'n8n-workflow';
import { clock } from '../shared/clock';
import { exclusively } from '../shared/exclusively';
import { processWide } from '../shared/processWide';
import { digest } from './execution';

/**
 * How many keys n8n keeps for a node; the oldest drop out. Each entry reads and writes all of them.
 *
 * @internal
 */
export const MOST_ENTRIES = 5_000;
const OPTIONS = {
	node: { mode: 'entries', maxEntries: MOST_ENTRIES },
	// Remove Duplicates may keep its own there.
	workflow: { mode: 'entries' },
} as const;
/**
 * Longer than n8n mostly takes to read a row and write it back, under load too.
 *
 * @internal
 */
export const PAUSE_MS = 200;
/** How long a process may stall while it enters keys; so long after its outcome a claim is looked at. */
const LONGEST_STALL_MS = 5_000;
const MOST_TRIES = 10;

/** n8n's database did not take an entry. */
export class LedgerError extends Error {}

type Keys = readonly string[];

/** Keys that were entered under a nonce, before it is known whether they were won. */
export interface Claim {
	keys: Keys;
	nonce: string;
	/** Those that had been entered before. */
	seen: ReadonlySet<string>;
}

/** A row of n8n's table: that of the node, and that of its workflow. */
type Row = 'node' | 'workflow';

/** What a claim has left in a row, to be looked at until no stalled process can have changed it. */
interface Leftover {
	ledger: Ledger;
	row: Row;
	lasting: Keys;
	over: Keys;
	nonce: string;
	/** What the next look enters: nobody else enters it again. */
	number: string;
	/** When it was last changed: then a process may have begun to stall. */
	changedAt: number;
	looks: number;
}

/** By ledger. */
const leftovers = processWide(new Map<string, Set<Leftover>>());

/**
 * What a node has done, in n8n's table of processed items. It survives a crash, and all processes of
 * n8n share it, but it only tells whether a key was entered before, and a row is read and then written
 * whole: what one process enters, another may overwrite, at the same moment or after it has stalled.
 *
 * So a claim is Fischer's timed mutual exclusion: keys are entered with a nonce, and after a pause the
 * one whose nonce is still there has won. No process can know that a later write overwrites it, or that
 * its own has overwritten one that had won; so the winner marks its keys in a second row, soon enough
 * for all that come after, until it has seen that no stalled write has overwritten them in the first. A
 * process uses one row at a time: if it stalls, it can harm only one.
 */
export class Ledger {
	private readonly name: string;
	/** The nonces of what it has won and not released. */
	private readonly won = new Set<string>();

	private constructor(
		private readonly context: IExecuteFunctions,
		workflowId: string,
	) {
		this.name = `ledger ${workflowId}`;
	}

	/** The ledger of the node; undefined if n8n runs it without a workflow, as its Agents do. */
	static of(context: IExecuteFunctions): Ledger | undefined {
		const { id } = context.getWorkflow();
		return id ? new Ledger(context, id) : undefined;
	}

	/**
	 * Enters keys.
	 *
	 * @returns those that had been entered before
	 * @throws LedgerError if n8n's database does not take them
	 */
	async enter(keys: Keys): Promise<Set<string>> {
		return await this.alone(async () => await this.record(keys));
	}

	/**
	 * Claims keys. If none of them is seen, {@link win} tells whether the claim was won; else the
	 * caller takes back what it does not want to keep.
	 *
	 * @throws LedgerError if n8n's database does not take them
	 */
	async claim(keys: Keys): Promise<Claim> {
		const nonce = digest(randomUUID());
		return await this.alone(async () => {
			const begunAt = clock.elapsed();
			const seen = await this.record([...keys, ...numbersOf(nonce)]);
			if (clock.elapsed() - begunAt <= LONGEST_STALL_MS) return { keys, nonce, seen };
			// The keys stay: they may have overwritten those of another that has won.
			throw new LedgerError('its database took several seconds');
		});
	}

	/**
	 * Waits until it is certain whether a claim was won. Its nonce and its marks stay if it was.
	 *
	 * @param lasting keys that are to be marked: those that may be entered again soon need not be
	 * @returns the keys that another process has; none if it was won
	 * @throws LedgerError if n8n's database does not keep them, or stays too slow
	 */
	async win(claim: Claim, lasting: Keys): Promise<ReadonlySet<string>> {
		const own = ownOf(claim);
		const others = await this.whoHas(claim, lasting).catch(async (error: unknown) => {
			await this.release(own, claim.nonce);
			throw error;
		});
		if (others.size > 0) await this.release(difference(own, [...others]), claim.nonce);
		return others;
	}

	private async whoHas(claim: Claim, lasting: Keys): Promise<ReadonlySet<string>> {
		for (let tries = 0; tries < MOST_TRIES; tries++) {
			await clock.sleep(Math.ceil(PAUSE_MS * (1 + tries * clock.random())));
			const others = await this.alone(async () => await this.mark(claim, lasting));
			if (others) return others;
		}
		throw new LedgerError('n8n did not store the entry in time');
	}

	/**
	 * Marks lasting keys, if the nonce is still there.
	 *
	 * @returns the keys that another process has; undefined if that is not certain yet
	 */
	private async mark(claim: Claim, lasting: Keys): Promise<ReadonlySet<string> | undefined> {
		const begunAt = clock.elapsed();
		const numbers = numbersOf(claim.nonce);
		const own = ownOf(claim);
		const seen = await this.record([...claim.keys, ...numbers]);
		if (!seen.has(claim.nonce)) {
			const others = own.filter((key) => seen.has(key));
			// A third process has overwritten all of them: they have just been entered again.
			return others.length > 0 ? new Set(others) : undefined;
		}
		const marks = [...intersection(own, lasting), ...numbers];
		// Remove Duplicates may keep something else there, which takes no marks.
		const marked = await this.record(marks, 'workflow').catch(() => new Set<string>());
		if (!marked.has(claim.nonce) && marked.size > 0) return marked;
		// Later than that, another may have looked for the marks already.
		if (clock.elapsed() - begunAt > PAUSE_MS) return undefined;
		void this.keepMarked(marks, claim.nonce);
		return new Set();
	}

	/** Enters marks again that another process has overwritten at the same moment, before anybody can miss them. */
	private async keepMarked(marks: Keys, nonce: string): Promise<void> {
		this.won.add(nonce);
		let isKept = false;
		while (!isKept) {
			await clock.sleepAside(PAUSE_MS / 2);
			await this.alone(async () => {
				if (!this.won.has(nonce)) return void (isKept = true);
				const seen = await this.record(marks, 'workflow').catch(() => undefined);
				isKept = !seen || marks.every((mark) => seen.has(mark));
			});
		}
	}

	/**
	 * Claims a key.
	 *
	 * @returns tells whether it was won, then it lasts; undefined if it had been entered before
	 * @throws LedgerError
	 */
	async claimKey(key: string): Promise<(() => Promise<boolean>) | undefined> {
		const claim = await this.claim([key]);
		const { seen, nonce } = claim;
		if (seen.size > 0) return void (await this.strike(numbersOf(nonce)));
		return async () => {
			const isWon = (await this.win(claim, [key])).size === 0;
			if (isWon) this.lookLater('node', [key], [], nonce);
			return isWon;
		};
	}

	/**
	 * Claims a key, and waits until it is certain whether that was won.
	 *
	 * @throws LedgerError
	 */
	async wins(key: string): Promise<boolean> {
		return (await (await this.claimKey(key))?.()) === true;
	}

	/** Takes back what a claim has entered that is not marked. Never throws. */
	async takeBack(claim: Claim): Promise<void> {
		await this.takeOut(ownOf(claim), claim.nonce);
	}

	/** Removes keys that were won, and their marks. Never throws. */
	async release(keys: Keys, nonce: string): Promise<void> {
		this.won.delete(nonce);
		await this.takeOut(keys, nonce);
		await this.takeOut(keys, nonce, 'workflow');
	}

	/** Removes keys. Never throws: a key left behind can only cause a refusal. */
	async strike(keys: Keys, row: Row = 'node'): Promise<void> {
		await this.alone(async () => await this.remove(keys, row));
	}

	/** Removes what is over of the keys that were won, if anything; the others last. Never throws. */
	async settle(lasting: Keys, over: Keys, nonce: string): Promise<void> {
		const [, late] = numbersOf(nonce);
		if (over.length > 0) await this.strike([...over, nonce, late]);
		else await this.enter(lasting).catch(() => undefined);
		this.lookLater('node', lasting, over, nonce);
	}

	private async takeOut(keys: Keys, nonce: string, row: Row = 'node'): Promise<void> {
		const over = [...keys, ...numbersOf(nonce)];
		await this.strike(over, row);
		this.lookLater(row, [], over, nonce);
	}

	private lookLater(row: Row, lasting: Keys, over: Keys, nonce: string): void {
		const [, late] = numbersOf(nonce);
		const number = over.length > 0 ? nonce : late;
		const changedAt = clock.elapsed();
		const leftover = { ledger: this, row, lasting, over, nonce, number, changedAt, looks: 0 };
		const others = leftovers.get(this.name);
		others?.add(leftover);
		if (!others) void this.lookUntilDone(new Set([leftover]));
	}

	/** Those that are due at once: each look at a row costs as much as a claim. */
	private async lookUntilDone(all: Set<Leftover>): Promise<void> {
		leftovers.set(this.name, all);
		while (leftovers.get(this.name) === all) {
			await clock.sleepAside(PAUSE_MS);
			const due = [...all].filter(isDue);
			for (const row of ['node', 'workflow'] as const) {
				const some = due.filter((leftover) => leftover.row === row);
				// By the newest: the first would keep its execution in memory.
				const done = await some.at(-1)?.ledger.look(row, some);
				for (const leftover of done ?? []) all.delete(leftover);
			}
			if (all.size === 0) leftovers.delete(this.name);
		}
	}

	/**
	 * Looks soon, and once no process can stall any more that began before, whether one has brought back
	 * what is over: then the number of that look is back, too; or has overwritten what lasts: then the
	 * guard is gone, too, and all of it is entered again. Never throws.
	 *
	 * @returns those that need no other look
	 */
	private async look(row: Row, due: Leftover[]): Promise<Leftover[]> {
		const done: Leftover[] = [];
		await this.alone(async () => {
			const entered = due.flatMap((one) => [...lastingOf(one), one.number]);
			const seen = await this.record(entered, row).catch(() => new Set());
			const gone: string[] = [];
			for (const one of due) {
				const { over, nonce, number } = one;
				const [, late, guard] = numbersOf(nonce);
				const isBack = over.length > 0 && seen.has(number);
				const isChanged = isBack || !lastingOf(one).every((key) => seen.has(key));
				const isDone = number === late && !isChanged;
				if (isChanged) one.changedAt = clock.elapsed();
				if (!isBack) one.number = late;
				if (isDone || ++one.looks === MOST_TRIES) done.push(one);
				gone.push(nonce, late, ...(isBack ? over : []), ...(isDone ? [guard] : []));
			}
			await this.remove(gone, row);
		});
		const marks = done.flatMap(({ lasting, nonce }) =>
			lasting.length > 0 ? [...lasting, ...numbersOf(nonce)] : [],
		);
		if (marks.length > 0) await this.strike(marks, 'workflow');
		return done;
	}

	/** @returns those that had been entered before */
	private async record(keys: Keys, row: Row = 'node'): Promise<Set<string>> {
		const { helpers } = this.context;
		const names = this.namesOf(keys, row);
		const enter = async () => await helpers.checkProcessedAndRecord(names, row, OPTIONS[row]);
		// If two processes insert a missing row at the same moment, one of them fails and tries again.
		const { processed } = await enter()
			.catch(enter)
			.catch((error: unknown) => {
				throw new LedgerError(error instanceof Error ? error.message : String(error));
			});
		const seen = new Set(processed.map(String));
		return new Set(keys.filter((_key, nth) => seen.has(names[nth] ?? '')));
	}

	/** Tried again at once, but never later: by then another process may have made what they stand for. */
	private async remove(keys: Keys, row: Row = 'node'): Promise<void> {
		const { helpers, logger } = this.context;
		const names = this.namesOf(keys, row);
		const remove = async () => await helpers.removeProcessed(names, row, OPTIONS[row]);
		await remove()
			.catch(remove)
			.catch(() => logger.warn("n8n's table of processed items could not be written to."));
	}

	/** The row of the workflow belongs to its other nodes, too. */
	private namesOf(keys: Keys, row: Row): string[] {
		const { id } = this.context.getNode();
		return keys.map((key) => (row === 'node' ? key : digest('mark', id, key)));
	}

	private async alone<T>(task: () => Promise<T>): Promise<T> {
		return await exclusively([this.name], task);
	}
}

/** What a claim enters beside its keys: for the first look at it, for a later one, and to tell what lasts. */
function numbersOf(nonce: string): [nonce: string, late: string, guard: string] {
	return [nonce, digest('late', nonce), digest('guard', nonce)];
}

function isDue({ number, nonce, changedAt }: Leftover): boolean {
	return clock.elapsed() - changedAt >= (number === nonce ? PAUSE_MS : LONGEST_STALL_MS);
}

/** What lasts of a claim, and the guard, which tells whether it was overwritten. */
function lastingOf({ lasting, nonce }: Leftover): string[] {
	const [, , guard] = numbersOf(nonce);
	return lasting.length > 0 ? [...lasting, guard] : [];
}

/** The keys that nobody had entered before. */
export function ownOf({ keys, seen }: Claim): string[] {
	return keys.filter((key) => !seen.has(key));
}
