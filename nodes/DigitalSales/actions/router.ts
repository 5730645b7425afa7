import { isEqual, range, sortBy } from 'lodash';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { type Account, loadAccount } from '../api';
import { type ErrorContext, NotSentError, toFailure } from '../output';
import { fieldLabel, readForm } from '../form';
import { isEngine2, letRecoveryPass, turnOffAlwaysOutputData } from '../n8n';
import { CanceledError, eachLimit, READS_AT_ONCE } from '../shared';
import { ExecutionMemory } from '../idempotency';
import type { Operation } from './operation';
import { findOperation } from './registry';
import { buildSituation, CREATIONS_AT_ONCE, Run } from './run';

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
		if (await operation?.postpone?.(context)) return [[]];

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
		const items = await sendAll(operation, run, await prepareAll(operation, run));
		const finished = operation.finish ? await operation.finish(run, items) : items;
		return sortIntoOutputs(context, operation, finished);
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

/** The result of an item's latest step, or the item's output if that step failed. */
type Prepared = { result: unknown } | { failed: INodeExecutionData[] };

/** All items take a step before the next one, so that a mistake in any item is found before any is sent. */
async function prepareAll(operation: Operation, run: Run): Promise<Prepared[]> {
	const { context } = run;
	const items = context.getInputData().map((): Prepared => ({ result: undefined }));
	const runStep = async (
		step: (index: number, previous: unknown) => unknown,
		about?: Operation['about'],
	): Promise<void> => {
		const failures: Array<() => unknown> = [];
		for (const [itemIndex, item] of items.entries()) {
			if ('failed' in item) continue;
			try {
				items[itemIndex] = { result: await step(itemIndex, item.result) };
			} catch (error) {
				const details = { itemIndex, about: about?.(item.result) };
				const fail = () => failItem(run, operation, itemIndex, error, details);
				if (context.continueOnFail()) items[itemIndex] = { failed: fail() };
				else failures.push(fail);
			}
		}
		// Not earlier, because the check also records existing charges of later items.
		failures[0]?.();
	};
	await runStep((index) => {
		operation.assertUsable?.(context, index);
		return readForm(context, index, operation.form, run.addHint);
	});
	const { complete, check, about } = operation;
	if (complete) await runStep((_index, form) => complete(run, form));
	if (check) await runStep((index, ready) => check(run, index, ready), about);
	return items;
}

/** Engine 2.0 keeps no memory against a second charge, and does not resume waiting executions. */
function refuseEngine2(operation: Operation, context: IExecuteFunctions): void {
	if (isPlainRead(operation) || !isEngine2(context)) return;
	throw new NotSentError(
		`${operation.name} does not work in n8n's experimental Engine 2.0`,
		'Remove engineType from the settings of the workflow.',
	);
}

/** Wait for Payment has `finish`. */
function isPlainRead({ kind, finish }: Operation): boolean {
	return kind !== 'create' && !finish;
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

async function sendAll(
	operation: Operation,
	run: Run,
	items: Prepared[],
): Promise<INodeExecutionData[]> {
	const failures: Array<{ itemIndex: number; error: unknown; fail: () => INodeExecutionData[] }> =
		[];
	const results = items.map((item) => ('failed' in item ? item.failed : []));
	const unsent = items.flatMap((item, itemIndex) =>
		'failed' in item ? [] : [{ itemIndex, ready: item.result }],
	);
	const ranked = sortBy(unsent, ({ itemIndex }) => operation.rank?.(run, itemIndex) ?? 0);
	const atOnce = { create: CREATIONS_AT_ONCE, read: READS_AT_ONCE, list: 1 }[operation.kind];
	await eachLimit(ranked, atOnce, async ({ itemIndex, ready }) => {
		if (run.itemOrder.stopped.aborted) return;
		try {
			const sent = await operation.send(run, itemIndex, ready);
			// Copying tens of thousands of items would be noticeable.
			results[itemIndex] = sent.map((output) =>
				Object.assign(output, { pairedItem: { item: itemIndex } }),
			);
		} catch (error) {
			const fail = () =>
				failItem(run, operation, itemIndex, error, {
					itemIndex,
					isSending: true,
					labelOf: (field) => fieldLabel(operation.form, field),
					about: operation.about?.(ready),
				});
			if (run.context.continueOnFail()) {
				results[itemIndex] = fail();
				return;
			}
			failures.push({ itemIndex, error, fail });
			run.itemOrder.stopAfter(error);
		}
	});
	// A failure cancels the other items, whose errors say nothing.
	const causes = failures.filter(({ error }) => !(error instanceof CanceledError));
	const [first] = sortBy(causes.length > 0 ? causes : failures, 'itemIndex');
	return first ? first.fail() : results.flat();
}

/** Throws unless On Error is Continue. n8n sends an item that has only `error` to the error output. */
function failItem(
	{ context, memory }: Pick<Run, 'context' | 'memory'>,
	operation: Operation | undefined,
	itemIndex: number,
	thrown: unknown,
	{ isOfRun = false, ...details }: ErrorContext & { isOfRun?: boolean } = {},
): INodeExecutionData[] {
	// An unknown operation may create something.
	const creates = (operation?.kind ?? 'create') === 'create';
	const ofItem = buildSituation(context, memory, itemIndex, creates);
	const situation = isOfRun ? { ...ofItem, hasOthers: false } : ofItem;
	const { error, json } = toFailure(context.getNode(), thrown, { ...details, situation });
	if (!context.continueOnFail()) throw error;
	return [{ json: { error: { ...json } }, pairedItem: { item: itemIndex } }];
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
