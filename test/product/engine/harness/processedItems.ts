import { createHash, randomUUID } from 'node:crypto';
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
 * n8n's table of processed items as its server has it, in memory: a row for a workflow and node, a
 * list of hashes in it, read and then written whole, oldest out first. It outlives a process.
 */
class ProcessedItems implements IDataDeduplicator {
	private readonly rows = new Map<string, string>();

	/** What each row was begun for; n8n takes nothing else into it. */
	private readonly modes = new Map<string, string>();

	/** How many of the next writes fail, as they do when the disk is full. */
	failingWrites = 0;

	/** How many of the next writes another process replaces at once with what it had read before. */
	lostWrites = 0;

	/** After so many writes all others fail, as if the process were killed. */
	failAfter = Infinity;

	/** How long each read or write takes, in milliseconds; 0 is until the next turn of the event loop. */
	latency: () => number = () => 0;

	clear({ keepRows = false } = {}): void {
		this.latency = () => 0;
		if (!keepRows) {
			this.rows.clear();
			this.modes.clear();
		}
		this.failingWrites = 0;
		this.lostWrites = 0;
		this.failAfter = Infinity;
	}

	/** Enters so many other things in each row of a node as later runs of it would. */
	age(count: number, maxEntries: number): void {
		for (const [row, text] of this.rows) {
			if (isOfWorkflow(row)) continue;
			const others = Array.from({ length: count }, () => randomUUID());
			this.rows.set(row, JSON.stringify([...parse(text), ...others].slice(-maxEntries)));
		}
	}

	/** The number of entries in all rows of nodes. */
	get size(): number {
		return this.count((row) => !isOfWorkflow(row));
	}

	/** The number of entries in all rows of workflows. */
	get marks(): number {
		return this.count(isOfWorkflow);
	}

	private count(isMeant: (row: string) => boolean): number {
		const rows = [...this.rows].filter(([row]) => isMeant(row));
		return rows.reduce((sum, [, text]) => sum + parse(text).length, 0);
	}

	async checkProcessedAndRecord(
		items: DeduplicationItemTypes[],
		scope: DeduplicationScope,
		context: ICheckProcessedContextData,
		{ mode, maxEntries }: ICheckProcessedOptions,
	): Promise<IDeduplicationOutput> {
		const row = rowOf(scope, context);
		if ((this.modes.get(row) ?? mode) !== mode) {
			throw new Error('Deduplication data was originally saved with an incompatible setting');
		}
		this.modes.set(row, mode);
		const entries = await this.read(row);
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
		if (maxEntries) entries.splice(0, entries.length - maxEntries);
		await this.write(row, entries);
		return output;
	}

	async removeProcessed(
		items: DeduplicationItemTypes[],
		scope: DeduplicationScope,
		context: ICheckProcessedContextData,
	): Promise<void> {
		const row = rowOf(scope, context);
		if (!this.rows.has(row)) return;
		const gone = items.map(hashOf);
		const entries = await this.read(row);
		await this.write(
			row,
			entries.filter((entry) => !gone.includes(entry)),
		);
	}

	async clearAllProcessedItems(): Promise<void> {
		await Promise.reject(new Error('Not part of this harness'));
	}

	async getProcessedDataCount(): Promise<number> {
		return await Promise.reject(new Error('Not part of this harness'));
	}

	private async read(row: string): Promise<string[]> {
		await this.pause();
		return parse(this.rows.get(row) ?? '[]');
	}

	private async write(row: string, entries: string[]): Promise<void> {
		await this.pause();
		if (this.failAfter-- <= 0 || this.failingWrites-- > 0)
			throw new Error('SQLITE_FULL: database or disk is full');
		if (this.lostWrites-- > 0) return;
		this.rows.set(row, JSON.stringify(entries));
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

function isOfWorkflow(row: string): boolean {
	return row.endsWith(' ');
}

function hashOf(item: DeduplicationItemTypes): string {
	return createHash('md5').update(item.toString()).digest('base64');
}

function parse(row: string): string[] {
	return JSON.parse(row) as string[];
}

export const processedItems = oncePerProcess('processed items', () => {
	const table = new ProcessedItems();
	void DataDeduplicationService.init(table);
	return table;
});
