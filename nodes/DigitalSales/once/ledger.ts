import { randomUUID } from 'crypto';
import difference from 'lodash/difference';
import intersection from 'lodash/intersection';
import type { IExecuteFunctions } from 'n8n-workflow';
import { clock } from '../shared/clock';
import { exclusively } from '../shared/exclusively';
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
/** How long a process may stall while it enters keys; so long what was won stays marked. */
const LONGEST_STALL_MS = 5_000;
const MOST_TRIES = 10;

/** n8n's database did not take an entry. */
export class LedgerError extends Error {}

/** Keys that were entered under a nonce, before it is known whether they were won. */
export interface Claim {
	keys: readonly string[];
	nonce: string;
	/** Those that had been entered before. */
	seen: ReadonlySet<string>;
}

/** A row of n8n's table: that of the node, and that of its workflow. */
type Row = 'node' | 'workflow';

/**
 * What a node has done, in n8n's table of processed items. It survives a crash, and all processes of
 * n8n share it, but it only tells whether a key was entered before, and a row is read and then written
 * whole: what one process enters, another may overwrite, at the same moment or after it has stalled.
 *
 * So a claim is Fischer's timed mutual exclusion: keys are entered with a nonce, and after a pause the
 * one whose nonce is still there has won. No process can know that a later write overwrites it, or that
 * its own has overwritten one that had won; so the winner marks its keys in a second row, soon enough
 * for all that come after. A process uses one row at a time: if it stalls, it can harm only one.
 */
export class Ledger {
	private readonly name: string;

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
	async enter(keys: readonly string[]): Promise<Set<string>> {
		return await this.alone(async () => await this.record(keys));
	}

	/**
	 * Claims keys. If none of them is seen, {@link win} tells whether the claim was won; else the
	 * caller takes back what it does not want to keep.
	 *
	 * @param nonce of this claim alone
	 * @throws LedgerError if n8n's database does not take them
	 */
	async claim(keys: readonly string[], nonce: string = digest(randomUUID())): Promise<Claim> {
		return await this.alone(async () => {
			const begunAt = clock.elapsed();
			const seen = await this.record([...keys, nonce]);
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
	async win(claim: Claim, lasting: readonly string[]): Promise<ReadonlySet<string>> {
		const own = ownOf(claim);
		const { nonce } = claim;
		const marked = intersection(own, lasting);
		const others = await this.whoHas(own, nonce, marked).catch(async (error: unknown) => {
			await this.release(own, nonce);
			throw error;
		});
		if (others.size > 0) await this.release(difference(own, [...others]), nonce);
		return others;
	}

	private async whoHas(
		keys: readonly string[],
		nonce: string,
		lasting: readonly string[],
	): Promise<ReadonlySet<string>> {
		for (let tries = 0; tries < MOST_TRIES; tries++) {
			await clock.sleep(Math.ceil(PAUSE_MS * (1 + tries * clock.random())));
			const others = await this.alone(async () => await this.mark(keys, nonce, lasting));
			if (others) return others;
		}
		throw new LedgerError('n8n did not store the entry in time');
	}

	/**
	 * Marks lasting keys, if the nonce is still there.
	 *
	 * @returns the keys that another process has; undefined if that is not certain yet
	 */
	private async mark(
		keys: readonly string[],
		nonce: string,
		lasting: readonly string[],
	): Promise<ReadonlySet<string> | undefined> {
		const begunAt = clock.elapsed();
		const seen = await this.record([...keys, nonce]);
		if (!seen.has(nonce)) {
			const others = keys.filter((key) => seen.has(key));
			// A third process has overwritten all of them: they have just been entered again.
			return others.length > 0 ? new Set(others) : undefined;
		}
		const marked = await this.record(this.marks([...lasting, nonce]), 'workflow');
		const isMarked = (key: string): boolean => marked.has(this.markOf(key));
		if (!isMarked(nonce) && marked.size > 0) return new Set(lasting.filter(isMarked));
		// Later than that, another may have looked for the marks already.
		return clock.elapsed() - begunAt > PAUSE_MS ? undefined : new Set();
	}

	/**
	 * Claims keys, and waits until it is certain whether that was won.
	 *
	 * @throws LedgerError
	 */
	async wins(keys: readonly string[]): Promise<boolean> {
		const claim = await this.claim(keys);
		const { seen, nonce } = claim;
		if (seen.size === 0 && (await this.win(claim, keys)).size > 0) return false;
		await this.strike([nonce]);
		if (seen.size === 0) void this.unmarkLater([...keys, nonce]);
		return seen.size === 0;
	}

	/** Takes back what a claim has entered that was not won. Never throws. */
	async takeBack(claim: Claim): Promise<void> {
		await this.strike([...ownOf(claim), claim.nonce]);
		void this.confirm(ownOf(claim), claim.nonce);
	}

	/** Removes keys that were won, with their marks and the nonce of the claim. Never throws. */
	async release(keys: readonly string[], nonce: string): Promise<void> {
		await this.settle([], keys, nonce);
	}

	/** Removes keys. Never throws: a key left behind can only cause a refusal. */
	async strike(keys: readonly string[]): Promise<void> {
		await this.alone(async () => await this.remove(keys));
	}

	/**
	 * Enters again what must last, since another process may have overwritten it, and removes what is
	 * over, and the nonce and the marks of the claim. Never throws.
	 */
	async settle(lasting: readonly string[], over: readonly string[], nonce: string): Promise<void> {
		const isKept = lasting.length > 0;
		await this.alone(async () => {
			await this.remove([...over, nonce]);
			if (isKept) await this.record(lasting).catch(() => undefined);
			else await this.remove(this.marks([...over, nonce]), 'workflow');
		});
		if (isKept) void this.unmarkLater([...lasting, nonce]);
		if (over.length > 0) void this.confirm(over, nonce);
	}

	/** Removes marks once no process can stall any more that began before. Never throws. */
	private async unmarkLater(keys: readonly string[]): Promise<void> {
		await clock.sleep(LONGEST_STALL_MS);
		await this.alone(async () => await this.remove(this.marks(keys), 'workflow'));
	}

	/**
	 * Looks, after a pause, whether another process has brought back what was removed, by a write that it
	 * had begun before: then the nonce is back, too, and nobody else can have won the keys meanwhile.
	 */
	private async confirm(keys: readonly string[], nonce: string): Promise<void> {
		const begunAt = clock.elapsed();
		await clock.sleep(PAUSE_MS);
		const isBack = await this.enter([nonce]).then(
			(seen) => seen.has(nonce),
			() => false,
		);
		// Later, somebody may have made by a code what the keys stand for.
		const isSoon = clock.elapsed() - begunAt < 3 * PAUSE_MS;
		if (isBack && isSoon) await this.takeBack({ keys, nonce, seen: new Set() });
		else await this.strike([nonce]);
	}

	private async record(keys: readonly string[], row: Row = 'node'): Promise<Set<string>> {
		const { helpers } = this.context;
		const enter = async () => await helpers.checkProcessedAndRecord([...keys], row, OPTIONS[row]);
		// If two processes insert a missing row at the same moment, one of them fails and tries again.
		const { processed } = await enter()
			.catch(enter)
			.catch((error: unknown) => {
				throw new LedgerError(error instanceof Error ? error.message : String(error));
			});
		return new Set(processed.map(String));
	}

	/** Tried again at once, but never later: by then another process may have made what they stand for. */
	private async remove(keys: readonly string[], row: Row = 'node'): Promise<void> {
		const { helpers, logger } = this.context;
		const remove = async () => await helpers.removeProcessed([...keys], row, OPTIONS[row]);
		await remove()
			.catch(remove)
			.catch(() => logger.warn("n8n's table of processed items could not be written to."));
	}

	/** The row of the workflow belongs to its other nodes, too. */
	private markOf(key: string): string {
		return digest('mark', this.context.getNode().id, key);
	}

	private marks(keys: readonly string[]): string[] {
		return keys.map((key) => this.markOf(key));
	}

	private async alone<T>(task: () => Promise<T>): Promise<T> {
		return await exclusively([this.name], task);
	}
}

/** The keys that nobody had entered before. */
export function ownOf({ keys, seen }: Claim): string[] {
	return keys.filter((key) => !seen.has(key));
}
