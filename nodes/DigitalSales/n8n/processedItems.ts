import type { IExecuteFunctions, INode } from 'n8n-workflow';
import { z } from 'zod/v3';
import { digest } from '../shared/digest';
import { isJsonObject } from '../shared/json';

/*
 * A row of n8n's table of processed items for each key, whose mode names its owner.
 *
 * Rests on (since n8n 2.30.0): n8n names a row after the node's id, which it reads synchronously when a helper is
 * called, so the id can be swapped during the call. The database lets only one caller insert a row. n8n refuses a row
 * to callers in another mode than the mode of its first caller, in words that it uses for nothing else.
 * If it stops: nothing is charged any more, because the ledger sees that it cannot keep keys apart
 * (idempotency/ledger.ts).
 */

/** A row's content is irrelevant; only its existence and its mode count. */
const ENTRY = 'entered';
const OTHER_MODE = /Keep Items Where/;

/** Not part of `IExecuteFunctions`. It is the node itself, not a copy. */
const contextSchema = z.object({ node: z.custom<INode>(isJsonObject).optional() });

export const NOT_SUPPORTED = 'this version of n8n keeps them in another way';

/** n8n's database failed, or this version of n8n cannot keep keys apart. */
export class LedgerError extends Error {}

/**
 * Inserts the row of a key unless the row exists.
 *
 * @returns whether the row is new, and whose it is
 * @throws LedgerError
 */
export async function insertRow(
	context: IExecuteFunctions,
	key: string,
	owner: string,
): Promise<'new' | 'own' | "another's"> {
	return await callForRow(
		context,
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
