import { randomUUID } from 'crypto';
import difference from 'lodash/difference';
import intersection from 'lodash/intersection';
import type { IExecuteFunctions } from 'n8n-workflow';
import { clock } from '../shared/clock';
import { digest } from './execution';
import { LONGEST_STALL_MS, lookLater, numbersOf } from './lateLook';
import { type Keys, LedgerError, type Row, ROWS, Table } from './table';

/**
 * Longer than n8n mostly takes to read a row and write it back, under load too.
 *
 * @internal
 */
export const PAUSE_MS = 200;
const MOST_TRIES = 10;
/** By then the looks have found the marks of one that has failed; those of one that has won are left for longer. */
const FOUND_MS = 1_500;

/** Keys that were entered under a nonce, before it is known whether they were won. */
export interface Claim {
	keys: Keys;
	nonce: string;
	/** Those that had been entered before. */
	seen: ReadonlySet<string>;
}

/**
 * What a node has done, in n8n's {@link Table}. What one process enters there, another may overwrite, at
 * the same moment or after it has stalled.
 *
 * So a claim is Fischer's timed mutual exclusion: keys are entered with a nonce, and after a pause the
 * one whose nonce is still there has won. It then marks its keys in a second row in the same way: a
 * process that stalls writes to one row at a time, so it cannot overwrite both. The marks stay until no
 * stalled process can have changed the first row unseen.
 */
export class Ledger {
	private constructor(private readonly table: Table) {}

	/** The ledger of the node; undefined if n8n runs it without a workflow, as its Agents do. */
	static of(context: IExecuteFunctions): Ledger | undefined {
		const table = Table.of(context);
		return table && new Ledger(table);
	}

	/**
	 * Enters keys. If none of them is seen, {@link lostTo} tells whether the claim was won; else the caller
	 * takes back what it does not want to keep.
	 *
	 * @throws LedgerError if n8n's database does not take them
	 */
	async claim(keys: Keys): Promise<Claim> {
		const nonce = digest(randomUUID());
		const { seen, tookMs } = await this.table.enter([...keys, ...numbers(nonce)], 'node');
		assertNew(nonce, seen);
		if (tookMs <= LONGEST_STALL_MS) return { keys, nonce, seen };
		// The keys stay: they may have overwritten those of another that has won.
		throw new LedgerError('its database took several seconds');
	}

	/**
	 * Waits until it is certain whether a claim was won. Then it is to be settled or released.
	 *
	 * @param lasting keys that are to be marked: those that may be entered again soon need not be
	 * @returns the keys that another process has; none if it was won
	 * @throws LedgerError if n8n's database does not keep them, or stays too slow
	 */
	async lostTo(claim: Claim, lasting: Keys): Promise<ReadonlySet<string>> {
		const own = ownOf(claim);
		const others = await this.whoHas(claim, lasting).catch(async (error: unknown) => {
			await this.release(own, claim.nonce);
			throw error;
		});
		if (others.size > 0) await this.release(difference(own, [...others]), claim.nonce);
		return others;
	}

	/**
	 * Claims keys that last. Whether none had been entered before, and they were won.
	 *
	 * @param marked those of them that no process may win besides, even if one stalls
	 */
	async wins(claim: Claim, marked = claim.keys): Promise<boolean> {
		const { keys, nonce, seen } = claim;
		if (seen.size > 0) await this.takeBack(claim);
		const isWon = seen.size === 0 && (await this.lostTo(claim, marked)).size === 0;
		if (isWon) this.lookLater('node', keys, [], nonce, marked);
		return isWon;
	}

	/**
	 * Enters what lasts of the keys that were won, or removes what is over of them.
	 *
	 * @throws LedgerError if n8n's database does not take what lasts; it is tried again later
	 */
	async settle(lasting: Keys, over: Keys, nonce: string): Promise<void> {
		const { first, late } = numbersOf(nonce);
		try {
			if (over.length === 0) await this.table.enter(lasting, 'node');
			else await this.table.strike([...over, first, late], 'node');
		} finally {
			this.lookLater('node', lasting, over, nonce);
		}
	}

	/** Removes keys that were won, and their marks. Never throws. */
	async release(keys: Keys, nonce: string): Promise<void> {
		const over = [...keys, ...numbers(nonce)];
		for (const row of ROWS) {
			await this.table.strike(over, row);
			this.lookLater(row, [], over, nonce);
		}
	}

	/** Takes back what a claim has entered that was not won, unless another has overwritten it. Never throws. */
	async takeBack(claim: Claim): Promise<void> {
		const { nonce } = claim;
		const own = ownOf(claim);
		const { table } = this;
		let over = numbers(nonce);
		await table.alone(async () => {
			const seen =
				own.length === 0
					? new Set<string>()
					: await table.record([nonce], 'node').catch(() => undefined);
			if (!seen || seen.has(nonce)) over = [...own, ...over];
			// Else its number stays, and tells the look to come whether it was overwritten.
			if (seen) await table.remove(over, 'node');
		});
		this.lookLater('node', [], over, nonce);
	}

	private async whoHas(claim: Claim, lasting: Keys): Promise<ReadonlySet<string>> {
		const { keys, nonce } = claim;
		const own = ownOf(claim);
		const others = await this.whoHasAfterPause('node', nonce, keys, own);
		if (others.size > 0) return others;
		const marks = intersection(own, lasting);
		if (marks.length === 0) return others;
		const entered = [...marks, ...numbers(nonce)];
		// Remove Duplicates may keep something else there, which takes no marks.
		const marked = await this.table.enter(entered, 'workflow').catch(() => undefined);
		if (!marked) return others;
		assertNew(nonce, marked.seen);
		if (marked.seen.size > 0) {
			await clock.sleep(FOUND_MS);
			const { seen } = await this.table.enter(entered, 'workflow');
			// The others are those that this claim entered before the pause.
			const still = intersection([...marked.seen], [...seen]);
			if (still.length > 0) return new Set(still);
		}
		return await this.whoHasAfterPause('workflow', nonce, marks);
	}

	/** @param own those that nobody had entered before */
	private async whoHasAfterPause(
		row: Row,
		nonce: string,
		keys: Keys,
		own = keys,
	): Promise<ReadonlySet<string>> {
		for (let tries = 0; tries < MOST_TRIES; tries++) {
			const pauseMs = Math.ceil(PAUSE_MS * (1 + tries * clock.random()));
			await clock.sleep(pauseMs);
			const { seen, tookMs } = await this.table.enter([...keys, ...numbers(nonce)], row);
			const isThere = seen.has(nonce);
			const others = isThere ? [] : own.filter((key) => seen.has(key));
			// A third process may have overwritten all of them: they have just been entered again.
			if (others.length > 0 || (isThere && tookMs <= pauseMs)) return new Set(others);
		}
		throw new LedgerError('n8n did not store the entry in time');
	}

	private lookLater(row: Row, lasting: Keys, over: Keys, nonce: string, marked = lasting): void {
		const marks = marked.length > 0 ? [...marked, ...numbers(nonce)] : [];
		lookLater({ table: this.table, row, lasting, over, marks, nonce });
	}
}

/** What was entered at the first try, although it seemed to fail, looks like another's at the second. */
function assertNew(nonce: string, seen: ReadonlySet<string>): void {
	if (seen.has(nonce)) throw new LedgerError('the answer of its database was lost');
}

function numbers(nonce: string): string[] {
	return Object.values(numbersOf(nonce));
}

/** The keys that nobody had entered before. */
export function ownOf({ keys, seen }: Pick<Claim, 'keys' | 'seen'>): string[] {
	return keys.filter((key) => !seen.has(key));
}
