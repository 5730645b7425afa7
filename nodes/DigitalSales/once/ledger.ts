import { randomUUID } from 'crypto';
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
const OPTIONS = { mode: 'entries', maxEntries: MOST_ENTRIES } as const;
/**
 * Longer than n8n takes to read the keys of a node and write them back, under load too: a charge waits
 * longer than a sale, since one that is made twice does more harm.
 *
 * @internal
 */
export const PAUSE_MS = 500;
export const SHORT_PAUSE_MS = 200;
const MOST_TRIES = 5;

/** n8n's database did not take an entry. */
export class LedgerError extends Error {}

/** Entering took longer than the others' pause, so it may have overwritten one of them that has won. */
export class LateError extends LedgerError {}

/** Keys that were entered under a nonce, before it is known whether they were won. */
export interface Claim {
	keys: readonly string[];
	nonce: string;
	/** Those that had been entered before. */
	seen: ReadonlySet<string>;
	/** Whether reading and writing took longer than the pause. */
	isLate: boolean;
}

/**
 * What a node has done, in n8n's table of processed items. It survives a crash, and all processes of
 * n8n share it, but it only tells whether a key was entered before, and it is read and then written
 * whole: what one process enters, another may overwrite at the same moment.
 *
 * So a claim is Fischer's timed mutual exclusion: keys are entered with a nonce, and after a pause the
 * one whose nonce is still there has won.
 */
export class Ledger {
	private readonly name: string;

	private constructor(
		private readonly context: IExecuteFunctions,
		workflowId: string,
		private readonly pauseMs: number,
	) {
		this.name = `ledger ${workflowId} ${context.getNode().id}`;
	}

	/** The ledger of the node; undefined if n8n runs it without a workflow, as its Agents do. */
	static of(context: IExecuteFunctions, pauseMs = PAUSE_MS): Ledger | undefined {
		const { id } = context.getWorkflow();
		return id ? new Ledger(context, id, pauseMs) : undefined;
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
			return { keys, nonce, seen, isLate: clock.elapsed() - begunAt > this.pauseMs };
		});
	}

	/**
	 * Waits until it is certain whether a claim was won. Its nonce stays if it was.
	 *
	 * @returns the keys that another process has; none if it was won
	 * @throws LateError if another process may have won them and was overwritten: the keys stay
	 * @throws LedgerError if n8n's database does not keep them
	 */
	async win(claim: Claim): Promise<ReadonlySet<string>> {
		const { nonce, isLate } = claim;
		const own = ownOf(claim);
		const others = await this.whoHas(own, nonce, isLate).catch(async (error: unknown) => {
			await this.strike(error instanceof LateError ? [nonce] : [...own, nonce]);
			throw error;
		});
		if (others.size > 0) await this.strike([...own.filter((key) => !others.has(key)), nonce]);
		return others;
	}

	private async whoHas(
		keys: readonly string[],
		nonce: string,
		isLate: boolean,
	): Promise<Set<string>> {
		for (let tries = 0; tries < MOST_TRIES; tries++) {
			if (isLate) throw new LateError("n8n's database is too slow");
			await clock.sleep(Math.ceil(this.pauseMs * (1 + tries * clock.random())));
			const next = await this.claim(keys, nonce);
			if (next.seen.has(nonce)) return new Set();
			const others = keys.filter((key) => next.seen.has(key));
			if (others.length > 0) return new Set(others);
			// A third process has overwritten all of them: they have just been entered again.
			({ isLate } = next);
		}
		throw new LedgerError('n8n did not store the entry');
	}

	/**
	 * Claims keys, and waits until it is certain whether that was won.
	 *
	 * @throws LateError, LedgerError
	 */
	async wins(keys: readonly string[]): Promise<boolean> {
		const claim = await this.claim(keys);
		if (claim.seen.size === 0 && (await this.win(claim)).size > 0) return false;
		await this.strike([claim.nonce]);
		return claim.seen.size === 0;
	}

	/** Takes back what a claim has entered. Never throws. */
	async takeBack(claim: Claim): Promise<void> {
		await this.release(ownOf(claim), claim.nonce);
	}

	/** Removes keys, and the nonce of the claim that entered them. Never throws. */
	async release(keys: readonly string[], nonce: string): Promise<void> {
		await this.strike([...keys, nonce]);
		void this.confirm(keys, nonce);
	}

	/** Removes keys. Never throws: a key left behind can only cause a refusal. */
	async strike(keys: readonly string[]): Promise<void> {
		await this.alone(async () => await this.remove(keys));
	}

	/**
	 * Enters again what must last, since another process may have overwritten it, and removes what is
	 * over, and the nonce of the claim. Never throws.
	 */
	async settle(lasting: readonly string[], over: readonly string[], nonce: string): Promise<void> {
		await this.alone(async () => {
			await this.remove([...over, nonce]);
			await this.record(lasting).catch(() => undefined);
		});
		if (over.length > 0) void this.confirm(over, nonce);
	}

	/**
	 * Looks, after a pause, whether another process has brought back what was removed, by a write that it
	 * had begun before: then the nonce is back, too, and nobody else can have won the keys meanwhile.
	 */
	private async confirm(keys: readonly string[], nonce: string): Promise<void> {
		const begunAt = clock.elapsed();
		await clock.sleep(this.pauseMs);
		const isBack = await this.enter([nonce]).then(
			(seen) => seen.has(nonce),
			() => false,
		);
		// Later, somebody may have made by a code what the keys stand for.
		const isSoon = clock.elapsed() - begunAt < 3 * this.pauseMs;
		if (isBack && isSoon) await this.release(keys, nonce);
		else await this.strike([nonce]);
	}

	private async record(keys: readonly string[]): Promise<Set<string>> {
		const { helpers } = this.context;
		const enter = async () => await helpers.checkProcessedAndRecord([...keys], 'node', OPTIONS);
		// If two processes insert a missing row at the same moment, one of them fails and tries again.
		const { processed } = await enter()
			.catch(enter)
			.catch((error: unknown) => {
				throw new LedgerError(error instanceof Error ? error.message : String(error));
			});
		return new Set(processed.map(String));
	}

	/** Tried again at once, but never later: by then another process may have made what they stand for. */
	private async remove(keys: readonly string[]): Promise<void> {
		const { helpers, logger } = this.context;
		const remove = async () => await helpers.removeProcessed([...keys], 'node', OPTIONS);
		await remove()
			.catch(remove)
			.catch(() => logger.warn("n8n's table of processed items could not be written to."));
	}

	private async alone<T>(task: () => Promise<T>): Promise<T> {
		return await exclusively([this.name], task);
	}
}

function ownOf({ keys, seen }: Claim): string[] {
	return keys.filter((key) => !seen.has(key));
}
