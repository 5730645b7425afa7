import { isEqual, range } from 'lodash';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { type Account, loadAccount } from '../api';
import { ExecutionMemory } from '../idempotency';
import { isEngine2, letRecoveryPass, turnOffAlwaysOutputData } from '../n8n';
import { NotSentError } from '../output';
import { failItem, runSteps } from './itemSteps';
import type { Operation } from './operation';
import { findOperation } from './registry';
import { Run } from './run';

/* What the node does when it runs, whichever operation it is. */

export async function executeOperation(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[][]> {
	if (!(await letRecoveryPass(context))) return [[]];

	let operation: Operation | undefined;
	let run: Run;
	try {
		operation = chooseOperation(context);
		refuseEngine2(operation, context);
		run = new Run(context, await loadSharedAccount(context, operation));
	} catch (error) {
		if (operation?.kind === 'wait' && (await operation.postpone(context))) return [[]];
		return sortIntoOutputs(context, operation, failAll(context, operation, error));
	}

	try {
		const items = await runSteps(operation, run);
		return sortIntoOutputs(context, operation, items);
	} finally {
		await run.finish();
	}
}

/** The error has no item number, because no item is at fault. */
function failAll(
	context: IExecuteFunctions,
	operation: Operation | undefined,
	error: unknown,
): INodeExecutionData[] {
	const source = { context, memory: new ExecutionMemory(context) };

	// Under On Error: Continue, n8n passes the input items on as successful if `execute` throws.
	return context
		.getInputData()
		.flatMap((_item, index) => failItem(source, operation, index, error));
}

function sortIntoOutputs(
	context: IExecuteFunctions,
	operation: Operation | undefined,
	items: INodeExecutionData[],
): INodeExecutionData[][] {
	if (operation?.kind !== 'wait') return [items];

	turnOffAlwaysOutputData(context);
	return operation.outputs.sort(items);
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
	if (isPlainRead(operation)) return account;

	for (const index of range(1, context.getInputData().length)) {
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
