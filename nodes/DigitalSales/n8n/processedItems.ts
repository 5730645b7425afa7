import type { IExecuteFunctions, INode } from 'n8n-workflow';
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

/** Not `getNode()`, which returns a copy. */
const contextSchema = z.object({ node: z.custom<INode>(isJsonObject).optional() });

export const NOT_SUPPORTED = 'this version of n8n keeps its processed items in another way';

/** n8n's database failed, or cannot keep keys apart. */
export class LedgerError extends Error {}

/** @throws LedgerError */
export async function insertRow(
	context: IExecuteFunctions,
	key: string,
	owner: string,
): Promise<'new' | 'own' | "another's"> {
	return await callForRow(
		context,
		key,
		async ({ checkProcessedAndRecord }) =>
			// @ts-expect-error n8n's types list other modes.
			await checkProcessedAndRecord(['entered'], 'node', { mode: `of ${owner}` }),
	)
		.then(({ processed }) => (processed.length > 0 ? 'own' : 'new'))
		.catch((error: unknown) => {
			if (error instanceof LedgerError && OTHER_MODE.test(error.message)) return "another's";
			throw error;
		});
}

/** @throws LedgerError */
export async function hasRow(context: IExecuteFunctions, key: string): Promise<boolean> {
	const count = await callForRow(
		context,
		key,
		async ({ getProcessedDataCount }) => await getProcessedDataCount('node', { mode: 'entries' }),
	);
	return count > 0;
}

/** @throws LedgerError */
export async function deleteRow(context: IExecuteFunctions, key: string): Promise<void> {
	await callForRow(
		context,
		key,
		async ({ clearAllProcessedItems }) => await clearAllProcessedItems('node', { mode: 'entries' }),
	);
}

async function callForRow<T>(
	context: IExecuteFunctions,
	key: string,
	call: (helpers: IExecuteFunctions['helpers']) => Promise<T>,
): Promise<T> {
	const { node } = contextSchema.parse(context);
	if (!node) throw new LedgerError(NOT_SUPPORTED);
	const { id } = node;
	node.id = digest(id, key);
	const called = call(context.helpers);
	node.id = id;
	return await called.catch((error: unknown) => {
		throw new LedgerError(error instanceof Error ? error.message : String(error));
	});
}
