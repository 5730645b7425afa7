import sortBy from 'lodash/sortBy';
import { type IExecuteFunctions, type INodeExecutionData, NodeOperationError } from 'n8n-workflow';
import { CREDENTIAL_NAME, readAccount } from '../api/account';
import { toFailure, type ErrorContext } from '../output/errors';
import type { ItemResult } from '../output/transaction';
import { fieldLabel } from '../form/readForm';
import { isEngine2 } from '../n8n/engine2';
import { CanceledError } from '../shared/clock';
import { eachLimit, READS_AT_ONCE } from '../shared/eachLimit';
import { ExecutionMemory } from '../idempotency/executionMemory';
import type { Operation } from './operation';
import { findOperation } from './registry';
import { ITEMS_AT_ONCE, Run, situationOf } from './run';

/** Runs the chosen operation for all items. */
export async function executeOperation(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[][]> {
	let operation: Operation | undefined;
	let run: Run;
	try {
		operation = chooseOperation(context);
		run = new Run(context, readAccount(await context.getCredentials(CREDENTIAL_NAME)));
	} catch (error) {
		// If this threw under On Error: Continue, n8n would pass the items on as successful.
		const failing = { context, memory: new ExecutionMemory(context), operation };
		return [
			context.getInputData().flatMap((_item, index) => buildFailedItem(failing, index, error)),
		];
	}
	const items = await prepareAll(operation, run)
		.then(async (prepared) => await sendAll(operation, run, prepared))
		.finally(() => {
			run.showHints();
			run.logCanceled();
		});
	return [operation.finish ? await operation.finish(run, items) : items];
}

/** An item after a step: the result of the step, or the output items of its failure. */
type Prepared = { result: unknown } | { failed: ItemResult[] };

/** Takes all items through each step before the next one, so that a mistake in any item is found before any is sent. */
async function prepareAll(operation: Operation, run: Run): Promise<Prepared[]> {
	const { context } = run;
	const items = context.getInputData().map((): Prepared => ({ result: undefined }));
	const each = async (
		step: (index: number, previous: unknown) => unknown,
		about: Operation['about'] = () => undefined,
	): Promise<void> => {
		for (const [index, item] of items.entries()) {
			if ('failed' in item) continue;
			try {
				items[index] = { result: await step(index, item.result) };
			} catch (error) {
				const failing = { context, memory: run.memory, operation };
				items[index] = {
					failed: buildFailedItem(failing, index, error, { about: about(item.result) }),
				};
			}
		}
	};
	await each((index) => {
		refuseEngine2(operation, context, index);
		return operation.read(run, index);
	});
	if (operation.complete) await each(async (index, read) => operation.complete?.(run, index, read));
	const { about } = operation;
	if (operation.check) await each((index, ready) => operation.check?.(run, index, ready), about);
	return items;
}

/** In Engine 2.0, nothing keeps a charge from being made twice or resumes a waiting execution. */
function refuseEngine2(operation: Operation, context: IExecuteFunctions, itemIndex: number): void {
	if (!(operation.creates || operation.finish) || !isEngine2(context)) return;
	const problem = `${operation.name} does not work in n8n's experimental Engine 2.0`;
	const description = 'Remove engineType from the settings of the workflow.';
	throw new NodeOperationError(context.getNode(), problem, { itemIndex, description });
}

async function sendAll(operation: Operation, run: Run, items: Prepared[]): Promise<ItemResult[]> {
	const { context } = run;
	const { form } = operation;
	const failed = (itemIndex: number, ready: unknown, error: unknown): ItemResult[] =>
		buildFailedItem({ context, memory: run.memory, operation }, itemIndex, error, {
			isSent: true,
			labelOf: (field) => fieldLabel(form, field),
			about: operation.about?.(ready),
		});
	const failures: Array<{ itemIndex: number; ready: unknown; error: unknown }> = [];
	const results = items.map((item) => ('failed' in item ? item.failed : []));
	const inOrder = items.flatMap((item, itemIndex) =>
		'failed' in item ? [] : [{ itemIndex, ready: item.result }],
	);
	const ready = sortBy(inOrder, ({ itemIndex }) => operation.rank?.(run, itemIndex) ?? 0);
	const atOnce = operation.readsEach ? READS_AT_ONCE : operation.creates ? ITEMS_AT_ONCE : 1;
	await eachLimit(ready, atOnce, async ({ itemIndex, ready }) => {
		if (run.itemOrder.isStopped) return;
		try {
			const sent = await operation.send(run, itemIndex, ready);
			// Mutated in place, because copying tens of thousands of items is noticeable.
			results[itemIndex] = sent.map((output) =>
				Object.assign(output, { pairedItem: { item: itemIndex } }),
			);
		} catch (error) {
			if (context.continueOnFail()) {
				results[itemIndex] = failed(itemIndex, ready, error);
				return;
			}
			failures.push({ itemIndex, ready, error });
			run.itemOrder.stopAfter(error);
		}
	});
	// The other items may only have been canceled by the first failure.
	const own = failures.filter(({ error }) => !(error instanceof CanceledError));
	const [first] = (own.length > 0 ? own : failures).sort((a, b) => a.itemIndex - b.itemIndex);
	return first ? failed(first.itemIndex, first.ready, first.error) : results.flat();
}

interface Failing extends Pick<Run, 'context' | 'memory'> {
	operation?: Operation;
}

/** Makes the output of a failed item. n8n sends an item with `error` alone to the error output. */
function buildFailedItem(
	{ context, memory, operation }: Failing,
	itemIndex: number,
	thrown: unknown,
	known: ErrorContext = {},
): ItemResult[] {
	// An unknown operation may be one that creates something.
	const situation = situationOf(context, memory, itemIndex, operation?.creates ?? true);
	const { error, facts } = toFailure(context.getNode(), thrown, { ...known, itemIndex, situation });
	if (!context.continueOnFail()) throw error;
	return [{ json: { error: { ...facts } }, pairedItem: { item: itemIndex } }];
}

function chooseOperation(context: IExecuteFunctions): Operation {
	const resource = context.getNodeParameter('resource', 0);
	const value = context.getNodeParameter('operation', 0);
	const operation = findOperation(String(resource), String(value));
	if (operation) return operation;
	throw new NodeOperationError(
		context.getNode(),
		`Operation "${value}" of "${resource}" does not exist`,
		{ description: 'Choose the resource and the operation again.' },
	);
}
