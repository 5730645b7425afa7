import { isEqual, range } from 'lodash';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { type Account, loadAccount } from '../api';
import { readForm } from '../form';
import { isEngine2, letRecoveryPass, turnOffAlwaysOutputData } from '../n8n';
import { NotSentError } from '../output';
import { READS_AT_ONCE } from '../shared';
import { ExecutionMemory } from '../idempotency';
import { failItem, ItemSteps } from './itemSteps';
import type { ItemOperation, ItemOutputs, Operation } from './operation';
import { findOperation } from './registry';
import { CREATIONS_AT_ONCE, Run } from './run';

export async function executeOperation(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[][]> {
	await letRecoveryPass(context);

	let operation: Operation | undefined;
	let run: Run;
	try {
		operation = chooseOperation(context);
		refuseEngine2(operation, context);
		run = new Run(context, await loadSharedAccount(context, operation));
	} catch (error) {
		if (operation?.kind === 'wait' && (await operation.postpone(context))) return [[]];

		// Under On Error: Continue, n8n passes the input items on as successful if `execute` throws.
		const source = { context, memory: new ExecutionMemory(context) };
		// All items fail. The error has no item number, because no item is at fault.
		const items = context.getInputData();
		const failed = items.flatMap((_item, index) =>
			failItem(source, operation, index, error, { isOfRun: true }),
		);
		return sortIntoOutputs(context, operation, failed);
	}
	try {
		const items = await runSteps(operation, run);
		return sortIntoOutputs(context, operation, items);
	} finally {
		await run.finishBackground();
		run.showHints();
		run.logCanceled();
	}
}

function sortIntoOutputs(
	context: IExecuteFunctions,
	operation: Operation | undefined,
	items: INodeExecutionData[],
): INodeExecutionData[][] {
	if (!operation?.outputs) return [items];
	turnOffAlwaysOutputData(context);
	return operation.outputs.sort(items);
}

async function runSteps(operation: Operation, run: Run): Promise<INodeExecutionData[]> {
	const { context } = run;
	const steps = new ItemSteps(operation, run);
	await steps.take((itemIndex) => {
		operation.assertUsable?.(context, itemIndex);
		return readForm(context, itemIndex, operation.form, run.addHint);
	});

	if (operation.kind !== 'wait') return steps.collect(await sendEach(operation, run, steps));

	const read = steps.open.map(([itemIndex, form]) => ({ itemIndex, form }));
	const outputs = await operation.runAll(run, read, steps.fail);
	return outputs ? steps.collect(outputs) : [];
}

async function sendEach(
	operation: ItemOperation,
	run: Run,
	steps: ItemSteps,
): Promise<ItemOutputs> {
	const { complete, check, about, kind } = operation;
	const atOnce = { create: CREATIONS_AT_ONCE, read: READS_AT_ONCE, list: 1 }[kind];
	const outputs: ItemOutputs = new Map();

	if (complete) await steps.take((_index, form) => complete(run, form));
	if (check) await steps.take((index, ready) => check(run, index, ready), { about });
	await steps.take(
		async (index, checked) => {
			outputs.set(index, await operation.send(run, index, checked));
		},
		{ about, atOnce, isSending: true },
	);

	return outputs;
}

/** Engine 2.0 keeps no memory against a second charge, and does not resume waiting executions. */
function refuseEngine2(operation: Operation, context: IExecuteFunctions): void {
	if (isPlainRead(operation) || !isEngine2(context)) return;
	throw new NotSentError(
		`${operation.name} does not work in n8n's experimental Engine 2.0`,
		'Remove engineType from the settings of the workflow.',
	);
}

function isPlainRead({ kind }: Operation): boolean {
	return kind === 'read' || kind === 'list';
}

/** All items of a run share one account. In a plain read of many items, to ask for each would take too long. */
async function loadSharedAccount(
	context: IExecuteFunctions,
	operation: Operation,
): Promise<Account> {
	const account = await loadAccount(context);
	for (const index of isPlainRead(operation) ? [] : range(1, context.getInputData().length)) {
		const { credential } = await loadAccount(context, index);
		if (isEqual(credential, account.credential)) continue;
		throw new NotSentError(
			'An expression in the credential gives the items different values',
			'Put Loop Over Items before this node, so that each run has one item.',
		);
	}
	return account;
}

function chooseOperation(context: IExecuteFunctions): Operation {
	const resource = context.getNodeParameter('resource', 0);
	const value = context.getNodeParameter('operation', 0);
	const operation = findOperation(String(resource), String(value));
	if (operation) return operation;
	throw new NotSentError(
		`Operation "${value}" of "${resource}" does not exist`,
		'Choose the resource and the operation again.',
	);
}
