import type { IExecuteFunctions } from 'n8n-workflow';
import type { LedgerRow } from '../api/ledgerRow';
import { processState } from '../api/processState';
import { exclusively } from './exclusively';

/**
 * How many keys n8n keeps for a node; beyond that the oldest fall out. All of them are read and
 * written with each entry, so their number is its price.
 */
export const MOST_ENTRIES = 5_000;
const OPTIONS = { mode: 'entries', maxEntries: MOST_ENTRIES } as const;
const MOST_ROWS = 1_000;
/** A row that was not there yet may be made by another process at the same moment. */
const MOST_TRIES = 2;

/** n8n did not take an entry. */
export class LedgerError extends Error {}

/**
 * What a node has done, in n8n's table of processed items: it outlives a crash, a restart and an
 * upgrade, and all processes of n8n share it. It only tells whether a key was entered before.
 */
export class Ledger {
	private readonly name: string;

	private constructor(
		private readonly context: IExecuteFunctions,
		workflowId: string,
	) {
		this.name = `ledger ${workflowId} ${context.getNode().id}`;
	}

	/** The ledger of the node; undefined where n8n runs it without a workflow, as its Agents do. */
	static of(context: IExecuteFunctions): Ledger | undefined {
		const { id } = context.getWorkflow();
		return id ? new Ledger(context, id) : undefined;
	}

	/**
	 * Enters keys, and looks whether they are really there.
	 *
	 * @returns those that had been entered before
	 * @throws LedgerError when n8n's database does not take them
	 */
	async enter(keys: readonly string[]): Promise<Set<string>> {
		return await this.alone(async () => {
			const seen = await this.record(keys);
			// Another process that writes at the same moment may replace what was written here.
			for (let tries = 0; tries < MOST_TRIES; tries++) {
				if ((await this.record(keys)).size === keys.length) {
					await this.renewDoubts(keys.length);
					return seen;
				}
			}
			throw new LedgerError('n8n did not keep what was entered');
		});
	}

	/** Takes keys out again. */
	async remove(keys: readonly string[]): Promise<void> {
		await this.alone(async () => {
			await this.context.helpers.removeProcessed([...keys], 'node', OPTIONS);
			for (const key of keys) this.row.doubts.delete(key);
		});
	}

	/** Whether a key was entered. */
	async has(key: string): Promise<boolean> {
		const isThere = (await this.enter([key])).has(key);
		if (!isThere) await this.remove([key]);
		return isThere;
	}

	/** Has keys fall out later than those of attempts that are settled. */
	keep(keys: readonly string[]): void {
		for (const key of keys) this.row.doubts.add(key);
	}

	private async record(keys: readonly string[]): Promise<Set<string>> {
		for (let tries = 1; ; tries++) {
			try {
				const { processed } = await this.context.helpers.checkProcessedAndRecord(
					[...keys],
					'node',
					OPTIONS,
				);
				return new Set(processed.map(String));
			} catch (error) {
				if (tries >= MOST_TRIES) {
					throw new LedgerError(error instanceof Error ? error.message : String(error));
				}
			}
		}
	}

	/** n8n drops what was entered first, so what is still in doubt is entered anew in time. */
	private async renewDoubts(entered: number): Promise<void> {
		const { row } = this;
		row.entered += entered;
		if (row.entered < MOST_ENTRIES / 2) return;
		row.entered = 0;
		const doubts = [...row.doubts].slice(-MOST_ENTRIES / 2);
		row.doubts = new Set(doubts);
		if (doubts.length === 0) return;
		await this.context.helpers.removeProcessed(doubts, 'node', OPTIONS);
		await this.record(doubts);
	}

	private async alone<T>(task: () => Promise<T>): Promise<T> {
		return await exclusively([this.name], task);
	}

	private get row(): LedgerRow {
		const { ledgerRows } = processState;
		const row = ledgerRows.get(this.name) ?? { entered: 0, doubts: new Set() };
		ledgerRows.delete(this.name);
		ledgerRows.set(this.name, row);
		for (const oldest of ledgerRows.keys()) {
			if (ledgerRows.size <= MOST_ROWS) break;
			ledgerRows.delete(oldest);
		}
		return row;
	}
}
