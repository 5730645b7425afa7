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
import { oncePerJestWorker } from './environment';

interface Row {
	mode: string;
	data: string[];
}

/**
 * Behaves like n8n's table of processed items, in memory. A row holds the items of a node, and n8n reads and writes the
 * row as a whole. The mode of a row cannot change, a row cannot be inserted twice, and an update of a deleted row does
 * nothing. The ledger gives each key a node id of its own. The rows outlive a {@link NodeProcess}.
 */
class ProcessedItems implements IDataDeduplicator {
	private readonly rows = new Map<string, Row>();

	/** The number of next writes that fail, as on a full disk. */
	failingWrites = 0;

	/** The number of next writes that succeed. All later writes fail, as if the process had been killed. */
	writesLeft = Infinity;

	/** True makes the read or write fail. Asked before each, and again once a write is stored. */
	fails: () => boolean = () => false;

	/** How long each read or write takes, in milliseconds; 0 means until the next turn of the event loop. */
	latency: () => number = () => 0;

	clear({ keepRows = false } = {}): void {
		this.latency = () => 0;
		this.fails = () => false;
		if (!keepRows) this.rows.clear();
		this.failingWrites = 0;
		this.writesLeft = Infinity;
	}

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
		throw new Error('The nodes remove only whole rows');
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
		if (this.writesLeft-- <= 0 || this.failingWrites-- > 0)
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

export const processedItems = oncePerJestWorker('processed items', () => {
	const table = new ProcessedItems();
	void DataDeduplicationService.init(table);
	return table;
});
