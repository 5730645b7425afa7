import type { IExecuteFunctions } from 'n8n-workflow';
import { deleteRow, hasRow, insertRow, LedgerError, NOT_SUPPORTED } from '../n8n';

/**
 * Stores keys in n8n's table of processed items, which survives a crash and is shared by all processes. Only one caller
 * can insert the row of a key, and the row names its owner. Methods throw a LedgerError if n8n's database fails.
 */
export class Ledger {
	private constructor(private readonly context: IExecuteFunctions) {}

	/** n8n's Agents run the node without a workflow. */
	static forContext(context: IExecuteFunctions): Ledger | undefined {
		return context.getWorkflow().id ? new Ledger(context) : undefined;
	}

	/** @returns whether the owner has the key, even from an earlier call */
	async claimKey(key: string, owner: string): Promise<boolean> {
		// Never claimed. If n8n finds it, n8n ignores the key and uses one row for all.
		if (await this.hasKey(`no ${key}`)) throw new LedgerError(NOT_SUPPORTED);
		const insert = async () => await insertRow(this.context, key, owner);
		// Of two concurrent inserts one fails. Its second try finds the row.
		const found = await insert().catch(insert);
		if (found === 'own') await this.assertOwnersDiffer();
		return found !== "another's";
	}

	async hasKey(key: string): Promise<boolean> {
		return await hasRow(this.context, key);
	}

	async isOwner(key: string, owner: string): Promise<boolean> {
		return (await this.hasKey(key)) && (await insertRow(this.context, key, owner)) !== "another's";
	}

	/** Never throws, because a key that stays can only cause a refusal. */
	async releaseKeys(keys: readonly string[], owner: string): Promise<void> {
		const { logger } = this.context;
		for (const key of keys) {
			const remove = async (): Promise<void> => {
				// An insert tells whose row it is.
				const found = await insertRow(this.context, key, owner);
				if (found !== "another's") await this.deleteKeys([key]);
			};
			await remove()
				.catch(remove)
				.catch(() => logger.warn("n8n's table of processed items could not be written to."));
		}
	}

	async deleteKeys(keys: readonly string[]): Promise<void> {
		for (const key of keys) await deleteRow(this.context, key);
	}

	private async assertOwnersDiffer(): Promise<void> {
		await insertRow(this.context, 'probe', 'one');
		const found = await insertRow(this.context, 'probe', 'another');
		if (found !== "another's") throw new LedgerError(NOT_SUPPORTED);
	}
}
