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
	// Remove Duplicates may keep its own there. What a crash leaves is bounded by this.
	workflow: { mode: 'entries', maxEntries: 100_000 },
} as const;

/** n8n's database did not take an entry. */
export class LedgerError extends Error {}

/** A row of n8n's table: that of the node, and that of its workflow. */
export type Row = 'node' | 'workflow';

/** In the order in which they are cleared. */
export const ROWS: readonly Row[] = ['workflow', 'node'];

export type Keys = readonly string[];

/** What was entered. */
export interface Entry {
	/** The keys that had been entered before. */
	seen: ReadonlySet<string>;
	/** How long the row was read and written, in milliseconds. */
	tookMs: number;
}

/**
 * n8n's table of processed items. It survives a crash, and all processes of n8n share it, but it only
 * tells whether a key was entered before, and a row is read and then written whole. A process uses one
 * row at a time: if it stalls, it can harm only one.
 */
export class Table {
	private constructor(
		private readonly context: IExecuteFunctions,
		private readonly workflowId: string,
	) {}

	/** Undefined if n8n runs the node without a workflow, as its Agents do. */
	static of(context: IExecuteFunctions): Table | undefined {
		const { id } = context.getWorkflow();
		return id ? new Table(context, id) : undefined;
	}

	/** Names the node. */
	get name(): string {
		return `${this.workflowId} ${this.context.getNode().id}`;
	}

	/**
	 * Enters keys.
	 *
	 * @throws LedgerError if n8n's database does not take them
	 */
	async enter(keys: Keys, row: Row): Promise<Entry> {
		return await this.alone(async () => {
			const begunAt = clock.elapsed();
			const seen = await this.record(keys, row);
			return { seen, tookMs: clock.elapsed() - begunAt };
		});
	}

	/** Removes keys. Never throws: a key left behind can only cause a refusal. */
	async strike(keys: Keys, row: Row): Promise<void> {
		await this.alone(async () => await this.remove(keys, row));
	}

	/** Runs a task that records and removes, while nothing else of this process does. */
	async alone<T>(task: () => Promise<T>): Promise<T> {
		return await exclusively([`table ${this.workflowId}`], task);
	}

	/**
	 * For {@link alone}.
	 *
	 * @returns the keys that had been entered before
	 * @throws LedgerError
	 */
	async record(keys: Keys, row: Row): Promise<ReadonlySet<string>> {
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

	/** For {@link alone}. Tried again at once, but never later: by then another process may have made what they stand for. */
	async remove(keys: Keys, row: Row): Promise<void> {
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
}
