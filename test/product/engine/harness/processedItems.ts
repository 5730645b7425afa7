import { createHash } from 'node:crypto';
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

/**
 * n8n's table of processed items as its server has it, in memory: a row for a workflow and node, a list
 * of hashes in it, read and then written whole. A row that is there cannot be inserted, and one that is not
 * cannot be updated. It outlives a process.
 */
class ProcessedItems implements IDataDeduplicator {
	private readonly rows = new Map<string, string>();

	/** How many of the next writes fail, as they do when the disk is full. */
	failingWrites = 0;

	/** After so many writes all others fail, as if the process were killed. */
	failAfter = Infinity;

	/** How long each read or write takes, in milliseconds; 0 is until the next turn of the event loop. */
	latency: () => number = () => 0;

	clear({ keepRows = false } = {}): void {
		this.latency = () => 0;
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
		_options: ICheckProcessedOptions,
	): Promise<IDeduplicationOutput> {
		const row = rowOf(scope, context);
		const known = await this.read(row);
		const entries = [...(known ?? [])];
		const output: IDeduplicationOutput = { new: [], processed: [] };
		for (const item of items) {
			const hash = hashOf(item);
			if (entries.includes(hash)) {
				output.processed.push(item);
			} else {
				output.new.push(item);
				entries.push(hash);
			}
		}
		await this.write(() => {
			if (!known && this.rows.has(row)) {
				throw new Error('SQLITE_CONSTRAINT: UNIQUE constraint failed: processed_data');
			}
			if (!known || this.rows.has(row)) this.rows.set(row, JSON.stringify(entries));
		});
		return output;
	}

	async removeProcessed(
		items: DeduplicationItemTypes[],
		scope: DeduplicationScope,
		context: ICheckProcessedContextData,
	): Promise<void> {
		const row = rowOf(scope, context);
		const known = await this.read(row);
		if (!known) return;
		const gone = items.map(hashOf);
		const entries = known.filter((entry) => !gone.includes(entry));
		await this.write(() => {
			if (this.rows.has(row)) this.rows.set(row, JSON.stringify(entries));
		});
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
	): Promise<number> {
		return (await this.read(rowOf(scope, context)))?.length ?? 0;
	}

	private async read(row: string): Promise<string[] | undefined> {
		await this.pause();
		const text = this.rows.get(row);
		return text === undefined ? undefined : (JSON.parse(text) as string[]);
	}

	private async write(change: () => void): Promise<void> {
		await this.pause();
		if (this.failAfter-- <= 0 || this.failingWrites-- > 0)
			throw new Error('SQLITE_FULL: database or disk is full');
		change();
	}

	private async pause(): Promise<void> {
		const ms = this.latency();
		if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
		else await nextTurn();
	}
}

function rowOf(scope: DeduplicationScope, { workflow, node }: ICheckProcessedContextData): string {
	if (!workflow.id) throw new Error('The table needs a workflow id');
	return `${workflow.id} ${scope === 'node' ? `n:${node?.id}` : ''}`;
}

function hashOf(item: DeduplicationItemTypes): string {
	return createHash('md5').update(item.toString()).digest('base64');
}

export const processedItems = oncePerProcess('processed items', () => {
	const table = new ProcessedItems();
	void DataDeduplicationService.init(table);
	return table;
});
