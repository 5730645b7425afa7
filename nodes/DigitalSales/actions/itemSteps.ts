import { sortBy } from 'lodash';
import type { INodeExecutionData } from 'n8n-workflow';
import { fieldLabel, readForm } from '../form';
import { type ErrorContext, toFailure } from '../output';
import { CanceledError, eachLimit, READS_AT_ONCE } from '../shared';
import type { ItemOutputs, Operation } from './operation';
import { buildSituation, type Run } from './run';

const AT_ONCE = { create: 4, read: READS_AT_ONCE, list: 1 };

/** All items take a step before the next one, so that a mistake in any item is found before any is sent. */
export async function runSteps(operation: Operation, run: Run): Promise<INodeExecutionData[]> {
	const { context } = run;
	const steps = new ItemSteps(operation, run);
	const items = new Map(context.getInputData().entries());

	const forms = await steps.take(items, (_item, index) => {
		operation.assertUsable?.(context, index);
		return readForm(context, index, operation.form, run.addHint);
	});

	if (operation.kind === 'wait') {
		const outputs = await operation.runAll(run, forms, steps.fail);
		return outputs ? steps.collect(outputs) : [];
	}

	const { kind } = operation;
	const requests = await steps.take(forms, (form, index) => operation.prepare(run, index, form));
	const checked = await steps.take(
		requests,
		async (request) => {
			await request.check?.();
			return request;
		},
		{ about: (request) => request.about },
	);
	const outputs = await steps.take(checked, async (request) => await request.send(), {
		about: (request) => request.about,
		atOnce: AT_ONCE[kind],
		isSending: true,
	});

	return steps.collect(outputs);
}

interface Failure extends Pick<ErrorContext, 'about' | 'isSending'> {
	itemIndex: number;
	error: unknown;
}

interface StepOptions<T> {
	/** How many items take the step at once, by default one. */
	atOnce?: number;
	/** After a failure, no further item takes the step, and an unknown error may have sent something, by default false. */
	isSending?: boolean;
	/** Describes an item in its error, by default nothing does. */
	about?: (value: T) => string | undefined;
}

class ItemSteps {
	private readonly failures = new Map<number, Failure>();

	constructor(
		private readonly operation: Operation,
		private readonly run: Run,
	) {}

	/**
	 * @param values by item
	 * @returns the results of the items that have not failed, by item
	 */
	async take<T, R>(
		values: ReadonlyMap<number, T>,
		step: (value: T, itemIndex: number) => R | Promise<R>,
		{ atOnce = 1, isSending = false, about }: StepOptions<T> = {},
	): Promise<Map<number, R>> {
		const { context } = this.run;
		const results = new Map<number, R>();

		await eachLimit([...values], atOnce, async ([itemIndex, value]) => {
			if (this.run.isStopped) return;
			try {
				results.set(itemIndex, await step(value, itemIndex));
			} catch (error) {
				this.failures.set(itemIndex, { itemIndex, error, isSending, about: about?.(value) });
				if (isSending) this.run.stopOthers();
			}
		});

		// Not in the loop, because a check also records, for a Retry, what later items have already.
		if (!context.continueOnFail()) this.throwFirst();
		return results;
	}

	/** Ends the run, or under On Error: Continue the item. */
	readonly fail = (itemIndex: number, error: unknown, about: string): void => {
		this.failures.set(itemIndex, { itemIndex, error, isSending: true, about });

		if (!this.run.context.continueOnFail()) this.throwFirst();
	};

	/** All outputs, and the errors of failed items in their places. */
	collect(outputs: ItemOutputs): INodeExecutionData[] {
		return this.run.context.getInputData().flatMap((_item, itemIndex) => {
			const failure = this.failures.get(itemIndex);
			if (failure) return this.failItem(failure);

			const output = outputs.get(itemIndex) ?? [];
			// Copying tens of thousands of items would be noticeable.
			return output.map((one) => Object.assign(one, { pairedItem: { item: itemIndex } }));
		});
	}

	private throwFirst(): void {
		// A failure cancels the other items, whose errors say nothing.
		const isCanceled = ({ error }: Failure): boolean => error instanceof CanceledError;
		const [first] = sortBy([...this.failures.values()], [isCanceled, 'itemIndex']);

		if (first) this.failItem(first);
	}

	private failItem({ error, ...details }: Failure): INodeExecutionData[] {
		const labelOf = (field: string) => fieldLabel(this.operation.form, field);

		return failItem(this.run, this.operation, details.itemIndex, error, { ...details, labelOf });
	}
}

/**
 * Throws unless On Error is Continue. n8n sends an item that has only `error` to the error output.
 *
 * @param details without `itemIndex` if all items of the run fail
 */
export function failItem(
	{ context, memory }: Pick<Run, 'context' | 'memory'>,
	operation: Operation | undefined,
	itemIndex: number,
	thrown: unknown,
	details: ErrorContext = {},
): INodeExecutionData[] {
	// An unknown operation may create something.
	const creates = operation === undefined || operation.kind === 'create';
	const situation = buildSituation(context, memory, itemIndex, creates);
	// They fail for one reason.
	if (details.itemIndex === undefined) situation.hasOthers = false;

	const { error, json } = toFailure(context.getNode(), thrown, { ...details, situation });
	if (!context.continueOnFail()) throw error;

	return [{ json: { error: { ...json } }, pairedItem: { item: itemIndex } }];
}
