import { isEqual, range, sortBy } from 'lodash';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { type Account, loadAccount } from '../api';
import { fieldLabel, readForm } from '../form';
import { isEngine2, isTool, letRecoveryPass, overrideSettings } from '../n8n';
import { type ErrorContext, NotSentError, toFailure } from '../output';
import { CanceledError, eachLimit, READS_AT_ONCE } from '../shared';
import { adviseCreation } from './advice';
import type { ItemOutputs, Operation, Request } from './operation';
import { findOperation } from './registry';
import { Run } from './run';

/* What the node does when it runs, whichever operation it is. */

export async function executeOperation(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[][]> {
	const resource = String(context.getNodeParameter('resource', 0));
	const value = String(context.getNodeParameter('operation', 0));
	const operation = findOperation(resource, value);
	// Only a wait is parked.
	if (operation?.kind === 'wait') {
		overrideSettings(context, { alwaysOutputData: false });
		if (!(await letRecoveryPass(context))) return [[]];
	}

	let steps: ItemSteps;
	try {
		if (!operation) {
			throw new NotSentError(
				`Operation "${value}" of "${resource}" does not exist`,
				'Choose the resource and the operation again.',
			);
		}
		steps = new ItemSteps(await startRun(context, operation), operation);
	} catch (error) {
		if (operation?.kind === 'wait' && (await operation.postpone(context))) return [[]];

		// The error has no item number, because no item is at fault. Under On Error: Continue, n8n passes the input items on
		// as successful if `execute` throws.
		const items = context
			.getInputData()
			.map((_item, index) => failItem(context, operation, index, { error }));
		return sortIntoOutputs(operation, items);
	}

	try {
		const items = await steps.takeAll();
		return items ? sortIntoOutputs(operation, items) : [[]];
	} finally {
		await steps.run.finish();
	}
}

/** @throws NotSentError, CredentialError if the operation cannot work here */
async function startRun(context: IExecuteFunctions, operation: Operation): Promise<Run> {
	const isPlainRead = operation.kind === 'read' || operation.kind === 'list';
	const isAgentCall = isTool(context);

	if (isAgentCall) operation.assertUsableByAgent?.(context);
	// Engine 2.0 keeps no memory against a second charge, and does not resume waiting executions.
	if (!isPlainRead && isEngine2(context)) {
		throw new NotSentError(
			`${operation.name} does not work in n8n's experimental Engine 2.0`,
			'Remove engineType from the settings of the workflow.',
		);
	}

	const account = await loadAccount(context);
	// In a plain read of many items, to ask for each would take too long.
	if (!isPlainRead) await assertOneAccount(context, account);

	return new Run(context, account, isAgentCall);
}

/** All items of a run share one account. */
async function assertOneAccount(context: IExecuteFunctions, account: Account): Promise<void> {
	for (const index of range(1, context.getInputData().length)) {
		const { credential } = await loadAccount(context, index);
		if (isEqual(credential, account.credential)) continue;
		throw new NotSentError(
			'An expression in the credential gives the items different values',
			'Put Loop Over Items before this node, so that each run has one item.',
		);
	}
}

function sortIntoOutputs(
	operation: Operation | undefined,
	items: INodeExecutionData[],
): INodeExecutionData[][] {
	return operation?.kind === 'wait' ? operation.outputs.sort(items) : [items];
}

interface Failure extends Pick<ErrorContext, 'itemIndex' | 'isSending' | 'about'> {
	error: unknown;
}

interface StepOptions<T> {
	/** How many items the step sends at once. By default it sends nothing, and they go one by one. */
	sendingAtOnce?: number;
	/** Describes an item in its error, by default nothing does. */
	about?: (value: T) => string | undefined;
}

const AT_ONCE = { create: 4, read: READS_AT_ONCE, list: 1 };

/** All items take a step before the next one, so that a mistake in any item is found before any is sent. */
class ItemSteps {
	/** By item. */
	private readonly failures = new Map<number, Failure>();

	constructor(
		readonly run: Run,
		private readonly operation: Operation,
	) {}

	/** @returns undefined if the execution waits */
	async takeAll(): Promise<INodeExecutionData[] | undefined> {
		const { run, operation } = this;
		const inputs = new Map(run.context.getInputData().entries());

		const forms = await this.take(inputs, (_item, index) =>
			readForm(run.context, index, operation.form, run.addHint),
		);
		if (operation.kind === 'wait') {
			const outputs = await operation.runAll(run, forms, this.fail);
			return outputs && this.collect(outputs);
		}

		if (operation.kind !== 'create') {
			const { about } = operation;
			const options = { sendingAtOnce: AT_ONCE[operation.kind], about };
			return this.collect(await this.take(forms, (form) => operation.read(run, form), options));
		}

		const about = (request: Request) => request.about;
		const requests = await this.take(forms, (form, index) => operation.prepare(run, index, form));
		await this.take(requests, (request) => request.check(), { about });
		const options = { sendingAtOnce: AT_ONCE.create, about };
		return this.collect(await this.take(requests, (request) => request.send(), options));
	}

	/**
	 * @param values by item
	 * @returns the results by item, without those that have failed
	 */
	private async take<T, R>(
		values: ReadonlyMap<number, T>,
		step: (value: T, itemIndex: number) => R | Promise<R>,
		{ sendingAtOnce = 0, about }: StepOptions<T> = {},
	): Promise<Map<number, R>> {
		const isSending = sendingAtOnce > 0;
		const open = [...values].filter(([itemIndex]) => !this.failures.has(itemIndex));
		const results = new Map<number, R>();

		await eachLimit(open, sendingAtOnce || 1, async ([itemIndex, value]) => {
			if (this.run.stopped.aborted) return;
			try {
				results.set(itemIndex, await step(value, itemIndex));
			} catch (error) {
				this.failures.set(itemIndex, { error, itemIndex, isSending, about: about?.(value) });
				if (isSending) this.run.stopOthers();
			}
		});

		// Not in the loop, because a check also records, for a Retry, what later items have already.
		if (this.failures.size > 0) this.throwFirst();
		return results;
	}

	private readonly fail = (itemIndex: number, error: unknown, about: string): void => {
		this.failures.set(itemIndex, { error, itemIndex, isSending: true, about });
		this.throwFirst();
	};

	/** Ends the run, except under On Error: Continue. */
	private throwFirst(): void {
		if (this.run.context.continueOnFail()) return;

		// A failure cancels the other items, whose errors say nothing.
		const isCanceled = ([, { error }]: [number, Failure]) => error instanceof CanceledError;
		const [first] = sortBy([...this.failures], [isCanceled, '0']);
		if (first) failItem(this.run.context, this.operation, ...first);
	}

	/** All outputs, and the errors of failed items in their places. */
	private collect(outputs: ItemOutputs): INodeExecutionData[] {
		return this.run.context.getInputData().flatMap((_item, itemIndex) => {
			const failure = this.failures.get(itemIndex);
			if (failure) return [failItem(this.run.context, this.operation, itemIndex, failure)];

			const output = outputs.get(itemIndex) ?? [];
			return output.map((one) => ({ ...one, pairedItem: { item: itemIndex } }));
		});
	}
}

/** Throws unless On Error is Continue. n8n sends an item that has only `error` to the error output. */
function failItem(
	context: IExecuteFunctions,
	operation: Operation | undefined,
	itemIndex: number,
	failure: Failure,
): INodeExecutionData {
	const { error, json } = toFailure(context.getNode(), failure.error, {
		...failure,
		labelOf: (field) => operation && fieldLabel(operation.form, field),
		rerun: operation?.kind === 'create' ? adviseCreation(context, itemIndex) : undefined,
	});
	if (!context.continueOnFail()) throw error;

	return { json: { error: { ...json } }, pairedItem: { item: itemIndex } };
}
