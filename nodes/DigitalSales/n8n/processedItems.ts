import type { IExecuteFunctions, INode } from 'n8n-workflow';
import { range } from 'lodash';
import { z } from 'zod/v3';
import { digest, isJsonObject } from '../shared';

/*
 * Since n8n 2.30.0, n8n names a row of its processed items after the node's id, and reads the id synchronously. So
 * `callForRow` replaces the id by a digest of id and key while it starts a call. Only one caller can insert a row.
 * `insertRow` fails at a row of another mode, so the mode is the owner. If that stops, the ledger notices, and nothing
 * is charged.
 */

/** Only n8n's error for a row of another mode has these words. */
const OTHER_MODE = /Keep Items Where/;

/** Not `getNode()`, which returns a copy. `z.custom`, because the code writes to n8n's own object, and other schemas copy. */
const contextSchema = z.object({ node: z.custom<INode>(isJsonObject).optional() });

/** The commonest come first, because they need the fewest entries. */
const LETTERS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_';
const LONGEST_TEXT = 40;

type RowHelpers = IExecuteFunctions['helpers'];
const ENTRIES = { mode: 'entries' } as const;

const NOT_SUPPORTED = 'this version of n8n keeps its processed items in another way';

/** n8n's database failed, or cannot keep keys apart. */
export class LedgerError extends Error {}

/** Stores keys, which survive a crash and are shared by all processes. Throws a LedgerError if n8n's database fails. */
export class Ledger {
	private constructor(private readonly context: IExecuteFunctions) {}

	/** n8n's Agents run the node without a workflow. */
	static forContext(context: IExecuteFunctions): Ledger | undefined {
		return context.getWorkflow().id ? new Ledger(context) : undefined;
	}

	/** @returns whether the owner has the key, even from an earlier call */
	async claimKey(key: string, owner: string): Promise<boolean> {
		await this.assertKeysDiffer(key);
		const insert = async () => await this.insertRow(key, owner);
		// Of two concurrent inserts one fails. Its second try finds the row.
		const found = await insert().catch(insert);
		if (found === 'own') await this.assertOwnersDiffer();
		return found !== "another's";
	}

	async hasKey(key: string): Promise<boolean> {
		return (await this.countEntries(key)) > 0;
	}

	async isOwner(key: string, owner: string): Promise<boolean> {
		if (!(await this.hasKey(key))) return false;
		// An insert tells whose row it is.
		const found = await this.insertRow(key, owner);
		// Another process has deleted it meanwhile.
		if (found === 'new') await this.deleteKey(key);
		return found === 'own';
	}

	/** Never throws, because a key that stays can only cause a refusal. */
	async releaseKey(key: string, owner: string): Promise<void> {
		const remove = async (): Promise<void> => {
			if (await this.isOwner(key, owner)) await this.deleteKey(key);
		};
		const warn = () =>
			this.context.logger.warn("n8n's table of processed items could not be written to.");

		await remove().catch(remove).catch(warn);
	}

	async deleteKey(key: string): Promise<void> {
		await this.callForRow(key, async (row) => await row.clearAllProcessedItems('node', ENTRIES));
	}

	/**
	 * Row 0 has as many entries as the text has letters, and each further row one entry more than the place of its letter in
	 * `LETTERS`. The first of two texts to write its length wins. A text that is too long, or has other letters, is not kept.
	 */
	async storeText(key: string, text: string): Promise<void> {
		const places = [...text].map((letter) => LETTERS.indexOf(letter));
		if (places.includes(-1) || places.length > LONGEST_TEXT) return;

		const owner = digest(text);
		const counts = [places.length, ...places.map((place) => place + 1)];

		for (const [index, count] of counts.entries()) {
			const found = await this.insertRow(`${key} ${index}`, owner, range(count).map(String));
			if (found === "another's") return;
		}
	}

	/** @returns undefined if not all of a text is stored */
	async readText(key: string): Promise<string | undefined> {
		const length = await this.countEntries(`${key} 0`);
		if (length === 0) return undefined;
		await this.assertKeysDiffer(key);

		let text = '';
		for (let index = 1; index <= length; index++) {
			const letter = LETTERS[(await this.countEntries(`${key} ${index}`)) - 1];
			if (letter === undefined) return undefined;
			text += letter;
		}

		return text;
	}

	/** If n8n finds a key that is never claimed, it ignores the key and uses one row for all. */
	private async assertKeysDiffer(key: string): Promise<void> {
		if (await this.hasKey(`no ${key}`)) throw new LedgerError(NOT_SUPPORTED);
	}

	/** If n8n ignored the mode, another owner's row would look like an own one. */
	private async assertOwnersDiffer(): Promise<void> {
		await this.insertRow('probe', 'one');
		const found = await this.insertRow('probe', 'another');
		if (found !== "another's") throw new LedgerError(NOT_SUPPORTED);
	}

	private async countEntries(key: string): Promise<number> {
		const count = async (row: RowHelpers) => await row.getProcessedDataCount('node', ENTRIES);
		return await this.callForRow(key, count);
	}

	private async insertRow(
		key: string,
		owner: string,
		entries = ['entered'],
	): Promise<'new' | 'own' | "another's"> {
		const mode = `of ${owner}`;
		const insert = async (row: RowHelpers) =>
			// @ts-expect-error n8n's types list other modes.
			await row.checkProcessedAndRecord(entries, 'node', { mode });

		return await this.callForRow(key, insert)
			.then(({ processed }) => (processed.length > 0 ? 'own' : 'new'))
			.catch((error: unknown) => {
				if (error instanceof LedgerError && OTHER_MODE.test(error.message)) return "another's";
				throw error;
			});
	}

	private async callForRow<T>(key: string, call: (row: RowHelpers) => Promise<T>): Promise<T> {
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
