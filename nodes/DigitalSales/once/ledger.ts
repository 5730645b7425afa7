import type { IExecuteFunctions, INode } from 'n8n-workflow';
import { z } from 'zod/v3';
import { digest } from '../shared/digest';
import { isJsonObject } from '../shared/json';

/** All that a row holds: that it is there, and whose it is, is what counts. */
const ENTRY = 'entered';
/** What n8n says of a row that was begun with another mode. */
const OTHER_MODE = /Keep Items Where/;
const NOT_SUPPORTED = 'this version of n8n keeps them in another way';

/** Public in the contexts of n8n's engine, though not part of `IExecuteFunctions`: the node itself, not a copy. */
const contextSchema = z.object({ node: z.custom<INode>(isJsonObject).optional() });

/** n8n's database did not take an entry. */
export class LedgerError extends Error {}

/**
 * What a node has done, in n8n's table of processed items, which survives a crash, and which all processes
 * of n8n share. n8n reads a row there and then writes it whole, but of all who insert the same row, the
 * database lets only one succeed, and n8n refuses a row to all who ask in another mode than who began it.
 * So each key has a row of its own, whose mode names its owner.
 */
export class Ledger {
	private constructor(private readonly context: IExecuteFunctions) {}

	/** The ledger of the node; undefined if n8n runs it without a workflow, as its Agents do. */
	static of(context: IExecuteFunctions): Ledger | undefined {
		return context.getWorkflow().id ? new Ledger(context) : undefined;
	}

	/**
	 * Enters keys in their order, until another owner has one: of two that ask for the same keys at the same
	 * moment one has all of them, and the other has none.
	 *
	 * @param own takes those that are the owner's now, also if it fails
	 * @returns those that another owner has
	 * @throws LedgerError
	 */
	async claim(keys: readonly string[], owner: string, own: string[]): Promise<string[]> {
		const seen: string[] = [];
		for (const key of keys) {
			if (seen.length > 0) {
				if (await this.has(key)) seen.push(key);
			} else if (await this.enter(key, owner)) own.push(key);
			else seen.push(key);
		}
		return seen;
	}

	/**
	 * Enters a key, unless another owner has. May be asked again: then it says the same.
	 *
	 * @returns whether the key is the owner's
	 * @throws LedgerError if n8n's database fails
	 */
	async enter(key: string, owner: string): Promise<boolean> {
		// If n8n named its rows otherwise, all keys would be in one.
		if (await this.has(`no ${key}`)) throw new LedgerError(NOT_SUPPORTED);
		const enter = async () => await this.record(key, owner);
		// If two insert a row at the same moment, one of them fails; the second time it finds the row.
		const found = await enter().catch(enter);
		if (found === 'own') await this.assertApart();
		return found !== "another's";
	}

	/**
	 * Whether a key is there.
	 *
	 * @throws LedgerError
	 */
	async has(key: string): Promise<boolean> {
		const count = await this.inRow(
			key,
			async ({ getProcessedDataCount }) => await getProcessedDataCount('node', { mode: 'entries' }),
		);
		return count > 0;
	}

	/** Removes keys that are the owner's. Never throws: a key left behind can only cause a refusal. */
	async release(keys: readonly string[], owner: string): Promise<void> {
		const { logger } = this.context;
		for (const key of keys) {
			const remove = async (): Promise<void> => {
				if ((await this.record(key, owner)) !== "another's") await this.clear([key]);
			};
			await remove()
				.catch(remove)
				.catch(() => logger.warn("n8n's table of processed items could not be written to."));
		}
	}

	/**
	 * Removes keys, whosever they are.
	 *
	 * @throws LedgerError
	 */
	async clear(keys: readonly string[]): Promise<void> {
		for (const key of keys) {
			await this.inRow(
				key,
				async ({ clearAllProcessedItems }) =>
					await clearAllProcessedItems('node', { mode: 'entries' }),
			);
		}
	}

	/** Whether n8n still refuses a row to others. */
	private async assertApart(): Promise<void> {
		await this.record('probe', 'one');
		const found = await this.record('probe', 'another');
		if (found !== "another's") throw new LedgerError(NOT_SUPPORTED);
	}

	private async record(key: string, owner: string): Promise<'new' | 'own' | "another's"> {
		return await this.inRow(
			key,
			async ({ checkProcessedAndRecord }) =>
				// @ts-expect-error n8n's types name the modes that its own node offers.
				await checkProcessedAndRecord([ENTRY], 'node', { mode: `of ${owner}` }),
		)
			.then(({ processed }) => (processed.length > 0 ? 'own' : 'new'))
			.catch((error: unknown) => {
				if (error instanceof LedgerError && OTHER_MODE.test(error.message)) return "another's";
				throw error;
			});
	}

	/** n8n names a row by the id of the node, as soon as it is called: before anything else can run. */
	private async inRow<T>(
		key: string,
		call: (helpers: IExecuteFunctions['helpers']) => Promise<T>,
	): Promise<T> {
		const { node } = contextSchema.parse(this.context);
		if (!node) throw new LedgerError(NOT_SUPPORTED);
		const { id } = node;
		node.id = digest(id, key);
		const called = call(this.context.helpers);
		node.id = id;
		return await called.catch((error: unknown) => {
			throw new LedgerError(error instanceof Error ? error.message : String(error));
		});
	}
}
