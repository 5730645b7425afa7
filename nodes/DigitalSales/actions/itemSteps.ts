import { sortBy } from 'lodash';
import type { INodeExecutionData } from 'n8n-workflow';
import { fieldLabel } from '../form';
import { type ErrorContext, toFailure } from '../output';
import { CanceledError, eachLimit } from '../shared';
import type { ItemOutputs, Operation } from './operation';
import { buildSituation, type Run } from './run';

interface Failure extends Pick<ErrorContext, 'about' | 'isSending'> {
	error: unknown;
}

interface StepOptions extends Pick<ErrorContext, 'isSending'> {
	/** How many items take the step at once. One by default. */
	atOnce?: number;
	/** Describes an item in its error. */
	about?: Operation['about'];
}

/** All items take a step before the next one, so that a mistake in any item is found before any is sent. */
export class ItemSteps {
	/** Of the latest step, by item. */
	private readonly results: unknown[];
	private readonly failures = new Map<number, Failure>();

	constructor(
		private readonly operation: Operation,
		private readonly run: Run,
	) {
		this.results = run.context.getInputData().map(() => undefined);
	}

	/** Items that have not failed, with their latest results. */
	get open(): Array<[itemIndex: number, result: unknown]> {
		return [...this.results.entries()].filter(([itemIndex]) => !this.failures.has(itemIndex));
	}

	/** @param step makes the new result of an item from its latest one, or throws */
	async take(
		step: (itemIndex: number, result: unknown) => unknown,
		{ atOnce = 1, isSending = false, about }: StepOptions = {},
	): Promise<void> {
		const { context, itemOrder } = this.run;

		await eachLimit(this.open, atOnce, async ([itemIndex, result]) => {
			if (itemOrder.stopped.aborted) return;
			try {
				this.results[itemIndex] = await step(itemIndex, result);
			} catch (error) {
				this.failures.set(itemIndex, { error, isSending, about: about?.(result) });
				if (isSending) itemOrder.stopAfter(error);
			}
		});

		// Not earlier, because a check also records existing charges of later items.
		if (!context.continueOnFail()) this.throwFirst();
	}

	/** Ends the run, or under On Error: Continue the item. */
	readonly fail = (itemIndex: number, error: unknown): void => {
		const about = this.operation.about?.(this.results[itemIndex]);
		this.failures.set(itemIndex, { error, isSending: true, about });

		if (!this.run.context.continueOnFail()) this.throwFirst();
	};

	/** All outputs, and the errors of failed items in their places. */
	collect(outputs: ItemOutputs): INodeExecutionData[] {
		return this.results.flatMap((_result, itemIndex) => {
			const failure = this.failures.get(itemIndex);
			if (failure) return this.failItem(itemIndex, failure);

			const output = outputs.get(itemIndex) ?? [];
			// Copying tens of thousands of items would be noticeable.
			return output.map((one) => Object.assign(one, { pairedItem: { item: itemIndex } }));
		});
	}

	private throwFirst(): void {
		const failures = sortBy([...this.failures], 0);
		// A failure cancels the other items, whose errors say nothing.
		const cause = failures.find(([, { error }]) => !(error instanceof CanceledError));
		const first = cause ?? failures[0];

		if (first) this.failItem(...first);
	}

	private failItem(itemIndex: number, { error, ...details }: Failure): INodeExecutionData[] {
		const labelOf = (field: string) => fieldLabel(this.operation.form, field);

		return failItem(this.run, this.operation, itemIndex, error, { itemIndex, labelOf, ...details });
	}
}

/** Throws unless On Error is Continue. n8n sends an item that has only `error` to the error output. */
export function failItem(
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
