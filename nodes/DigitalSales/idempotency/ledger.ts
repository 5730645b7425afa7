import type { IExecuteFunctions } from 'n8n-workflow';
import { deleteRow, hasRow, insertRow, LedgerError, NOT_SUPPORTED } from '../n8n/processedItems';

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
		const enter = async () => await insertRow(this.context, key, owner);
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
		return await hasRow(this.context, key);
	}

	/** Removes keys that are the owner's. Never throws: a key left behind can only cause a refusal. */
	async release(keys: readonly string[], owner: string): Promise<void> {
		const { logger } = this.context;
		for (const key of keys) {
			const remove = async (): Promise<void> => {
				if ((await insertRow(this.context, key, owner)) !== "another's") await this.clear([key]);
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
		for (const key of keys) await deleteRow(this.context, key);
	}

	/** Whether n8n still refuses a row to others. */
	private async assertApart(): Promise<void> {
		await insertRow(this.context, 'probe', 'one');
		const found = await insertRow(this.context, 'probe', 'another');
		if (found !== "another's") throw new LedgerError(NOT_SUPPORTED);
	}
}
