import type { IDeduplicationOutput, IExecuteFunctions, INode } from 'n8n-workflow';
import { z } from 'zod';
import { digest } from './execution';

const OPTIONS = { mode: 'entries' } as const;
const ENTERED = 'entered';

/** Public in the contexts of n8n's engine, though not part of `IExecuteFunctions`: the node itself, not a copy. */
const contextSchema = z.object({
	node: z.custom<INode>((node) => typeof node === 'object' && node !== null && 'id' in node),
});

/** n8n's database did not take an entry. */
export class LedgerError extends Error {}

/** Keys that were asked for together. */
export interface Claim {
	/** Those that were entered now: they are the caller's alone. */
	own: string[];
	/** Those that had been entered before. */
	seen: ReadonlySet<string>;
	/** Those that nobody has entered: behind one that was seen, none is. */
	left: string[];
}

/**
 * What a node has done, in n8n's table of processed items, which survives a crash, and which all processes
 * of n8n share. n8n reads a row there and then writes it whole, but of all who insert the same row, the
 * database lets only one succeed. So each key has a row of its own, and what counts is that it is there.
 */
export class Ledger {
	private constructor(private readonly context: IExecuteFunctions) {}

	/** The ledger of the node; undefined if n8n runs it without a workflow, as its Agents do. */
	static of(context: IExecuteFunctions): Ledger | undefined {
		return context.getWorkflow().id ? new Ledger(context) : undefined;
	}

	/**
	 * Enters keys in their order, until one has been entered before: of two that ask for the same keys at
	 * the same moment one has all of them, and the other has none.
	 *
	 * @throws LedgerError if n8n's database does not take one; then what was entered is taken back
	 */
	async claim(keys: readonly string[]): Promise<Claim> {
		const claim = { own: new Array<string>(), seen: new Set<string>(), left: new Array<string>() };
		const { own, seen, left } = claim;
		try {
			for (const key of keys) {
				const enter = async () => await this.enter(key);
				if (seen.size > 0) (await this.has(key)) ? seen.add(key) : left.push(key);
				else if (await enter().catch(enter)) own.push(key);
				else seen.add(key);
			}
		} catch (error) {
			await this.release(own);
			throw error;
		}
		return claim;
	}

	/**
	 * Enters a key, unless it is there.
	 *
	 * @param owner who enters it, for {@link isOf}
	 * @returns whether nobody had entered it before
	 * @throws LedgerError if n8n's database fails, or if another enters it at the same moment: then it is
	 * there when it is asked for again
	 */
	async enter(key: string, owner?: string): Promise<boolean> {
		if (await this.has(key)) {
			// If this n8n names its rows otherwise, all keys are in one.
			if (await this.has(`no ${key}`))
				throw new LedgerError('it is of a version that is not supported');
			return false;
		}
		const entries = owner === undefined ? [ENTERED] : [ENTERED, owner];
		const { processed } = await this.record(key, entries);
		if (processed.length === 0) return true;
		if (owner !== undefined) await this.remove(key, owner);
		return false;
	}

	/** Whether a key that is there was entered by this owner. */
	async isOf(key: string, owner: string): Promise<boolean> {
		const { processed } = await this.record(key, [owner]);
		if (processed.length > 0) return true;
		await this.remove(key, owner);
		return false;
	}

	/**
	 * Whether a key is there.
	 *
	 * @throws LedgerError
	 */
	async has(key: string): Promise<boolean> {
		const count = await this.inRow(
			key,
			async ({ getProcessedDataCount }) => await getProcessedDataCount('node', OPTIONS),
		);
		return count > 0;
	}

	/**
	 * Removes keys. Never throws: a key left behind can only cause a refusal. It is not tried again: by then
	 * another may have entered it.
	 */
	async release(keys: readonly string[]): Promise<void> {
		const { logger } = this.context;
		for (const key of keys) {
			await this.inRow(
				key,
				async ({ clearAllProcessedItems }) => await clearAllProcessedItems('node', OPTIONS),
			).catch(() => logger.warn("n8n's table of processed items could not be written to."));
		}
	}

	private async record(key: string, entries: string[]): Promise<IDeduplicationOutput> {
		return await this.inRow(
			key,
			async ({ checkProcessedAndRecord }) =>
				await checkProcessedAndRecord(entries, 'node', OPTIONS),
		);
	}

	private async remove(key: string, entry: string): Promise<void> {
		await this.inRow(
			key,
			async ({ removeProcessed }) => await removeProcessed([entry], 'node', OPTIONS),
		);
	}

	/** n8n names a row by the id of the node, as soon as it is called: before anything else can run. */
	private async inRow<T>(
		key: string,
		call: (helpers: IExecuteFunctions['helpers']) => Promise<T>,
	): Promise<T> {
		try {
			const { node } = contextSchema.parse(this.context);
			const { id } = node;
			node.id = digest(id, key);
			const called = call(this.context.helpers);
			node.id = id;
			return await called;
		} catch (error) {
			throw new LedgerError(error instanceof Error ? error.message : String(error));
		}
	}
}
