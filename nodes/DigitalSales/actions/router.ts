import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { CREDENTIAL_NAME, readAccount } from '../api/account';
import { toFailure, type Failure } from '../output/errors';
import { fieldLabel } from '../form/displayPath';
import { mapLimit } from '../shared/mapLimit';
import type { ItemResult } from '../wait/suspend';
import type { Operation, PreparedItem } from './operation';
import { findOperation } from './registry';
import { Run } from './run';

/**
 * Runs the chosen operation over all items: the one item loop and the one continue-on-fail block.
 * All items are prepared first, so that a mistake in one of them is found before any is sent.
 */
export async function router(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	let operation: Operation;
	let run: Run;
	try {
		operation = chosenOperation(this);
		run = new Run(this, readAccount(await this.getCredentials(CREDENTIAL_NAME)));
	} catch (error) {
		// n8n would hand the items on as if nothing had happened, through the output for success.
		const failure = toFailure(this.getNode(), error, { isSent: false });
		return [this.getInputData().flatMap((_item, index) => failedItem(this, failure, index))];
	}
	const items = await sendAll(operation, run, await prepareAll(operation, run));
	return [operation.finish ? await operation.finish(this, items) : items];
}

/** What became of one item before anything was sent: ready, or the items for the error output. */
type Preparation = PreparedItem | { failed: ItemResult[] };

async function prepareAll(operation: Operation, run: Run): Promise<Preparation[]> {
	const { context } = run;
	const invalid = (error: unknown, itemIndex: number): Preparation => {
		const known = { itemIndex, created: createdBefore(operation, run), isSent: false };
		return { failed: failedItem(context, toFailure(context.getNode(), error, known), itemIndex) };
	};
	const valid = context.getInputData().map((_item, itemIndex) => {
		try {
			return operation.prepare(run, itemIndex);
		} catch (error) {
			return invalid(error, itemIndex);
		}
	});
	const preparations: Preparation[] = [];
	for (const [itemIndex, item] of valid.entries()) {
		preparations.push(
			typeof item === 'function'
				? await item().catch((error: unknown) => invalid(error, itemIndex))
				: item,
		);
	}
	return preparations;
}

async function sendAll(
	operation: Operation,
	run: Run,
	preparations: Preparation[],
): Promise<ItemResult[]> {
	const { context } = run;
	const { creates, itemsAtOnce = 1 } = operation;
	const results = await mapLimit(
		preparations,
		creates ? 1 : itemsAtOnce,
		async (preparation, itemIndex) => {
			if ('failed' in preparation) return preparation.failed;
			try {
				const outputs = await preparation.send();
				// In place: a copy of each would tell in a list of tens of thousands.
				return outputs.map((output) => Object.assign(output, { pairedItem: { item: itemIndex } }));
			} catch (error) {
				const failure = toFailure(context.getNode(), error, {
					itemIndex,
					isSent: true,
					labelOf: (field) => fieldLabel(operation.form, field, context.getNode()),
					about: preparation.about,
					created: createdBefore(operation, run),
					advice: operation.advice,
				});
				return failedItem(context, failure, itemIndex);
			}
		},
	);
	return results.flat();
}

/** An item for the error output: n8n of every version knows it by this one key. */
function failedItem(
	context: IExecuteFunctions,
	{ error, facts }: Failure,
	itemIndex: number,
): ItemResult[] {
	if (!context.continueOnFail()) throw error;
	return [{ json: { error: { ...facts } }, pairedItem: { item: itemIndex } }];
}

/** n8n drops what a run has created when it fails, so the error tells of it. */
function createdBefore({ creates }: Operation, run: Run): string[] | undefined {
	return creates && !run.context.continueOnFail() ? run.created() : undefined;
}

function chosenOperation(context: IExecuteFunctions): Operation {
	const resource = context.getNodeParameter('resource', 0);
	const value = context.getNodeParameter('operation', 0);
	const operation = findOperation(String(resource), String(value));
	if (operation) return operation;
	throw new NodeOperationError(
		context.getNode(),
		`Operation "${value}" of "${resource}" does not exist`,
		{
			description: 'Choose the resource and the operation again.',
		},
	);
}
