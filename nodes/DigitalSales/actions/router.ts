import sortBy from 'lodash/sortBy';
import { type IExecuteFunctions, type INodeExecutionData, NodeOperationError } from 'n8n-workflow';
import { CREDENTIAL_NAME, readAccount } from '../api/account';
import { toFailure, type ErrorContext } from '../output/errors';
import type { ItemResult } from '../output/item';
import { fieldLabel } from '../form/readForm';
import { isEngine2 } from '../n8n/engine2';
import { CanceledError } from '../shared/clock';
import { eachLimit, READS_AT_ONCE } from '../shared/eachLimit';
import { ExecutionMemory } from '../idempotency/attempts';
import type { Operation } from './operation';
import { findOperation } from './registry';
import { ITEMS_AT_ONCE, Run, situationOf } from './run';

/** Runs the chosen operation over all items. */
export async function router(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	let operation: Operation | undefined;
	let run: Run;
	try {
		operation = chosenOperation(this);
		run = new Run(this, readAccount(await this.getCredentials(CREDENTIAL_NAME)));
	} catch (error) {
		// n8n would hand the items on as if nothing had happened, through the output for success.
		const failing = { context: this, memory: new ExecutionMemory(this), operation };
		return [this.getInputData().flatMap((_item, index) => failedItem(failing, index, error))];
	}
	const items = await prepareAll(operation, run)
		.then(async (prepared) => await sendAll(operation, run, prepared))
		.finally(() => {
			run.showHints();
			run.logCanceled();
		});
	return [operation.finish ? await operation.finish(run, items) : items];
}

/** An item after a step: what the step gave, or the items of its failure. */
type Stepped = { given: unknown } | { failed: ItemResult[] };

/** Takes all items through the steps before anything is sent: each step is done for all before the next. */
async function prepareAll(operation: Operation, run: Run): Promise<Stepped[]> {
	const { context } = run;
	const items = context.getInputData().map((): Stepped => ({ given: undefined }));
	const each = async (
		step: (index: number, given: unknown) => unknown,
		about: Operation['about'] = () => undefined,
	): Promise<void> => {
		for (const [index, item] of items.entries()) {
			if ('failed' in item) continue;
			try {
				items[index] = { given: await step(index, item.given) };
			} catch (error) {
				const failing = { context, memory: run.memory, operation };
				items[index] = { failed: failedItem(failing, index, error, { about: about(item.given) }) };
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

/** Nothing there keeps a charge from being made twice, or wakes an execution that waits. */
function refuseEngine2(operation: Operation, context: IExecuteFunctions, itemIndex: number): void {
	if (!(operation.creates || operation.finish) || !isEngine2(context)) return;
	const problem = `${operation.name} does not work in n8n's experimental Engine 2.0`;
	const description = 'Remove engineType from the settings of the workflow.';
	throw new NodeOperationError(context.getNode(), problem, { itemIndex, description });
}

async function sendAll(operation: Operation, run: Run, items: Stepped[]): Promise<ItemResult[]> {
	const { context } = run;
	const { form } = operation;
	const failed = (itemIndex: number, ready: unknown, error: unknown): ItemResult[] =>
		failedItem({ context, memory: run.memory, operation }, itemIndex, error, {
			isSent: true,
			labelOf: (field) => fieldLabel(form, field),
			about: operation.about?.(ready),
		});
	const failures: Array<{ itemIndex: number; ready: unknown; error: unknown }> = [];
	const results = items.map((item) => ('failed' in item ? item.failed : []));
	const inOrder = items.flatMap((item, itemIndex) =>
		'failed' in item ? [] : [{ itemIndex, ready: item.given }],
	);
	const ready = sortBy(inOrder, ({ itemIndex }) => operation.rank?.(run, itemIndex) ?? 0);
	const atOnce = operation.readsEach ? READS_AT_ONCE : operation.creates ? ITEMS_AT_ONCE : 1;
	await eachLimit(ready, atOnce, async ({ itemIndex, ready }) => {
		if (run.oneByOne.isStopped) return;
		try {
			const sent = await operation.send(run, itemIndex, ready);
			// In place: copies would tell in a list of tens of thousands.
			results[itemIndex] = sent.map((one) =>
				Object.assign(one, { pairedItem: { item: itemIndex } }),
			);
		} catch (error) {
			if (context.continueOnFail()) {
				results[itemIndex] = failed(itemIndex, ready, error);
				return;
			}
			failures.push({ itemIndex, ready, error });
			run.oneByOne.failed(error);
		}
	});
	// The others may only have found the run stopped.
	const own = failures.filter(({ error }) => !(error instanceof CanceledError));
	const [first] = (own.length > 0 ? own : failures).sort((a, b) => a.itemIndex - b.itemIndex);
	return first ? failed(first.itemIndex, first.ready, first.error) : results.flat();
}

interface Failing extends Pick<Run, 'context' | 'memory'> {
	operation?: Operation;
}

/** An item for the error output: n8n knows it by this one key. */
function failedItem(
	{ context, memory, operation }: Failing,
	itemIndex: number,
	thrown: unknown,
	known: ErrorContext = {},
): ItemResult[] {
	// An operation that is not known may be one that creates something.
	const situation = situationOf(context, memory, itemIndex, operation?.creates ?? true);
	const { error, facts } = toFailure(context.getNode(), thrown, { ...known, itemIndex, situation });
	if (!context.continueOnFail()) throw error;
	return [{ json: { error: { ...facts } }, pairedItem: { item: itemIndex } }];
}

function chosenOperation(context: IExecuteFunctions): Operation {
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
