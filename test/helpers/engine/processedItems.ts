import { setImmediate as nextTurn } from 'node:timers/promises';
import { DataDeduplicationService } from 'n8n-core';
import type {
	DeduplicationItemTypes,
	DeduplicationScope,
	ICheckProcessedContextData,
	ICheckProcessedOptions,
	IDataDeduplicator,
	IDeduplicationOutput,
} from 'n8n-workflow';
import { oncePerProcess } from './environment';

interface Row {
	mode: string;
	data: string[];
}

/**
 * n8n's table of processed items as its server has it, in memory: a row for a workflow and node, a list
 * of items in it, read and then written whole, and only in the mode in which it was begun. A row that is
 * there cannot be inserted, and one that is not cannot be updated. It outlives a process.
 */
class ProcessedItems implements IDataDeduplicator {
	private readonly rows = new Map<string, Row>();

	/** How many of the next writes fail, as on a full disk. */
	failingWrites = 0;

	/** After this number of writes all others fail, as if the process had been killed. */
	failAfter = Infinity;

	/** Whether a read or write fails. Called before each read and write, and again after a write. */
	fails: () => boolean = () => false;

	/** How long each read or write takes, in milliseconds; 0 means until the next turn of the event loop. */
	latency: () => number = () => 0;

	clear({ keepRows = false } = {}): void {
		this.latency = () => 0;
		this.fails = () => false;
		if (!keepRows) this.rows.clear();
		this.failingWrites = 0;
		this.failAfter = Infinity;
	}

	/** The number of rows. */
	get size(): number {
		return this.rows.size;
	}

	async checkProcessedAndRecord(
		items: DeduplicationItemTypes[],
		scope: DeduplicationScope,
		context: ICheckProcessedContextData,
		{ mode }: ICheckProcessedOptions,
	): Promise<IDeduplicationOutput> {
		const row = rowOf(scope, context);
		const known = await this.read(row);
		if (known && known.mode !== mode) {
			throw new Error(
				'Deduplication data was originally saved with an incompatible setting of the ‘Keep Items Where’ parameter.',
			);
		}
		const entries = [...(known?.data ?? [])];
		const output: IDeduplicationOutput = { new: [], processed: [] };
		for (const item of items) {
			const isKnown = entries.includes(String(item));
			output[isKnown ? 'processed' : 'new'].push(item);
			if (!isKnown) entries.push(String(item));
		}
		await this.write(() => {
			if (!known && this.rows.has(row)) {
				throw new Error('SQLITE_CONSTRAINT: UNIQUE constraint failed: processed_data');
			}
			if (!known || this.rows.has(row)) this.rows.set(row, { mode, data: entries });
		});
		return output;
	}

	async removeProcessed(): Promise<void> {
		throw new Error('The nodes remove whole rows only');
	}

	async clearAllProcessedItems(
		scope: DeduplicationScope,
		context: ICheckProcessedContextData,
	): Promise<void> {
		const row = rowOf(scope, context);
		await this.write(() => this.rows.delete(row));
	}

	async getProcessedDataCount(
		scope: DeduplicationScope,
		context: ICheckProcessedContextData,
		{ mode }: ICheckProcessedOptions,
	): Promise<number> {
		const known = await this.read(rowOf(scope, context));
		return mode === 'entries' ? (known?.data.length ?? 0) : 0;
	}

	private async read(row: string): Promise<Row | undefined> {
		await this.pause();
		return this.rows.get(row);
	}

	private async write(change: () => void): Promise<void> {
		await this.pause();
		if (this.failAfter-- <= 0 || this.failingWrites-- > 0)
			throw new Error('SQLITE_FULL: database or disk is full');
		change();
		if (this.fails()) throw new Error('Connection terminated');
	}

	private async pause(): Promise<void> {
		const ms = this.latency();
		if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
		else await nextTurn();
		if (this.fails()) throw new Error('SQLITE_BUSY');
	}
}

function rowOf(scope: DeduplicationScope, { workflow, node }: ICheckProcessedContextData): string {
	if (!workflow.id) throw new Error('The table needs a workflow id');
	return `${workflow.id} ${scope === 'node' ? `n:${node?.id}` : ''}`;
}

export const processedItems = oncePerProcess('processed items', () => {
	const table = new ProcessedItems();
	void DataDeduplicationService.init(table);
	return table;
});
