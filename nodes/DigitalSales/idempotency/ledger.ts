import type { IExecuteFunctions } from 'n8n-workflow';
import { deleteRow, hasRow, insertRow, LedgerError, NOT_SUPPORTED } from '../n8n/processedItems';

/**
 * Stores the idempotency keys of a node in n8n's table of processed items, which survives a crash and which all
 * processes share. Each key has one row, which only one caller can insert, and which names its owner.
 */
export class Ledger {
	private constructor(private readonly context: IExecuteFunctions) {}

	/** @returns undefined if n8n runs the node without a workflow, as its Agents do */
	static forContext(context: IExecuteFunctions): Ledger | undefined {
		return context.getWorkflow().id ? new Ledger(context) : undefined;
	}

	/**
	 * Claims keys in their order until another owner has one. Of two callers that claim the same keys at the same
	 * moment, one gets all of them and the other none.
	 *
	 * @param own receives the keys that are claimed, even if the call fails
	 * @returns the keys that another owner has
	 * @throws LedgerError
	 */
	async claimKeys(keys: readonly string[], owner: string, own: string[]): Promise<string[]> {
		const othersKeys: string[] = [];
		for (const key of keys) {
			if (othersKeys.length > 0) {
				if (await this.hasKey(key)) othersKeys.push(key);
			} else if (await this.claimKey(key, owner)) own.push(key);
			else othersKeys.push(key);
		}
		return othersKeys;
	}

	/**
	 * Claims a key unless another owner has it. A repeated call returns the same result.
	 *
	 * @returns whether the owner has the key
	 * @throws LedgerError if n8n's database fails
	 */
	async claimKey(key: string, owner: string): Promise<boolean> {
		// If n8n named its rows in another way, all keys would share one row.
		if (await this.hasKey(`no ${key}`)) throw new LedgerError(NOT_SUPPORTED);
		const insert = async () => await insertRow(this.context, key, owner);
		// If two callers insert a row at the same moment, one of them fails. Its second try finds the row.
		const found = await insert().catch(insert);
		if (found === 'own') await this.assertOwnersAreApart();
		return found !== "another's";
	}

	/** @throws LedgerError */
	async hasKey(key: string): Promise<boolean> {
		return await hasRow(this.context, key);
	}

	/** Deletes the owner's keys. Never throws, because a key that stays can only cause a refusal. */
	async releaseKeys(keys: readonly string[], owner: string): Promise<void> {
		const { logger } = this.context;
		for (const key of keys) {
			const remove = async (): Promise<void> => {
				const found = await insertRow(this.context, key, owner);
				if (found !== "another's") await this.deleteKeys([key]);
			};
			await remove()
				.catch(remove)
				.catch(() => logger.warn("n8n's table of processed items could not be written to."));
		}
	}

	/**
	 * Deletes keys of any owner.
	 *
	 * @throws LedgerError
	 */
	async deleteKeys(keys: readonly string[]): Promise<void> {
		for (const key of keys) await deleteRow(this.context, key);
	}

	/** Checks that n8n still refuses a row to other owners. */
	private async assertOwnersAreApart(): Promise<void> {
		await insertRow(this.context, 'probe', 'one');
		const found = await insertRow(this.context, 'probe', 'another');
		if (found !== "another's") throw new LedgerError(NOT_SUPPORTED);
	}
}
