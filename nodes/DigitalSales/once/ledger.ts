import type { IExecuteFunctions } from 'n8n-workflow';
import { BoundedMap } from '../shared/boundedMap';
import { clock } from '../shared/clock';
import { exclusively } from '../shared/exclusively';
import { processWide } from '../shared/processWide';

/**
 * How many keys n8n keeps for a node; the oldest drop out. Each entry reads and writes all of them.
 *
 * @internal
 */
export const MOST_ENTRIES = 5_000;
const OPTIONS = { mode: 'entries', maxEntries: MOST_ENTRIES } as const;
const MOST_LOOKS = 5;
const LONGEST_PAUSE_MS = 20;

/** By node: keys whose removal failed; they go before the next entry. */
const leftovers = processWide(new BoundedMap<Set<string>>({ most: 1_000 }));

/** n8n's database did not take an entry. */
export class LedgerError extends Error {}

/**
 * What a node has done, in n8n's table of processed items. It survives a crash, and all processes of
 * n8n share it, but it only tells whether a key was entered before.
 */
export class Ledger {
	private readonly name: string;

	private constructor(
		private readonly context: IExecuteFunctions,
		workflowId: string,
	) {
		this.name = `ledger ${workflowId} ${context.getNode().id}`;
	}

	/** The ledger of the node; undefined if n8n runs it without a workflow, as its Agents do. */
	static of(context: IExecuteFunctions): Ledger | undefined {
		const { id } = context.getWorkflow();
		return id ? new Ledger(context, id) : undefined;
	}

	/**
	 * Enters keys, and checks that they are really there.
	 *
	 * @returns those that had been entered before
	 * @throws LedgerError if n8n's database does not take them
	 */
	async enter(keys: readonly string[]): Promise<Set<string>> {
		return await this.alone(async () => {
			const seen = await this.record(keys);
			if (seen.size === keys.length) return seen;
			// Another process that writes at the same moment may overwrite this entry.
			for (let looks = 0; looks < MOST_LOOKS; looks++) {
				if (looks > 0) await clock.sleep(Math.ceil(clock.random() * LONGEST_PAUSE_MS));
				const there = await this.record(keys).catch(async (error: unknown) => {
					await this.remove(keys.filter((key) => !seen.has(key)));
					throw error;
				});
				if (there.size === keys.length) return seen;
				// A key that is there while others are missing was entered by another process.
				for (const key of there) seen.add(key);
			}
			throw new LedgerError('n8n did not store the entry');
		});
	}

	/** Removes keys, now or before the next entry: a key left behind can only cause a refusal. */
	async strike(keys: readonly string[]): Promise<void> {
		await this.alone(async () => await this.remove(keys));
	}

	/**
	 * Enters again what must last, since another process may have overwritten it, and removes what is
	 * over. Never throws.
	 */
	async settle(lasting: readonly string[], over: readonly string[] = []): Promise<void> {
		await this.alone(async () => {
			if (over.length > 0) await this.remove(over);
			if (lasting.length > 0) await this.record(lasting).catch(() => undefined);
		});
	}

	private async record(keys: readonly string[]): Promise<Set<string>> {
		const { leftover } = this;
		if (leftover.size > 0) await this.remove([]);
		const { helpers } = this.context;
		const enter = async () => await helpers.checkProcessedAndRecord([...keys], 'node', OPTIONS);
		// If two processes insert a missing row at the same moment, one of them fails and tries again.
		const { processed } = await enter()
			.catch(enter)
			.catch((error: unknown) => {
				throw new LedgerError(error instanceof Error ? error.message : String(error));
			});
		// A key that is entered again must no longer be removed.
		for (const key of keys) leftover.delete(key);
		return new Set(processed.map(String));
	}

	private async remove(keys: readonly string[]): Promise<void> {
		const { leftover, context } = this;
		for (const key of keys) leftover.add(key);
		await context.helpers.removeProcessed([...leftover], 'node', OPTIONS).then(
			() => leftover.clear(),
			() => context.logger.warn("n8n's table of processed items could not be written to."),
		);
	}

	private async alone<T>(task: () => Promise<T>): Promise<T> {
		return await exclusively([this.name], task);
	}

	private get leftover(): Set<string> {
		const leftover = leftovers.get(this.name) ?? new Set();
		leftovers.set(this.name, leftover);
		return leftover;
	}
}
