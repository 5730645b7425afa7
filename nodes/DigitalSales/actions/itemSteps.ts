import { sortBy } from 'lodash';
import type { INodeExecutionData } from 'n8n-workflow';
import { fieldLabel } from '../form';
import { type ErrorContext, toFailure } from '../output';
import { CanceledError, eachLimit } from '../shared';
import type { Operation } from './operation';
import { buildSituation, type Run } from './run';

/** An item on its way: the result of its latest step, and in the end its output, or why a step failed. */
export interface ItemOnItsWay {
	readonly index: number;
	result: unknown;
	output: INodeExecutionData[];
	failure?: Failure;
}

interface Failure extends Pick<ErrorContext, 'about' | 'isSending'> {
	error: unknown;
}

interface StepOptions extends Pick<ErrorContext, 'isSending'> {
	/** How many items take the step at once. One by default. */
	atOnce?: number;
	/** The lowest goes first. In the order of the items by default. */
	rank?: (item: ItemOnItsWay) => number;
	/** Describes an item in its error. */
	about?: Operation['about'];
}

/** All items take a step before the next one, so that a mistake in any item is found before any is sent. */
export class ItemSteps {
	private readonly items: ItemOnItsWay[];

	constructor(
		private readonly operation: Operation,
		private readonly run: Run,
	) {
		const given = run.context.getInputData();
		this.items = given.map((_item, index) => ({ index, result: undefined, output: [] }));
	}

	/** @param step returns the item's new result, or throws */
	async take(
		step: (item: ItemOnItsWay) => unknown,
		{ atOnce = 1, rank = () => 0, isSending = false, about }: StepOptions = {},
	): Promise<void> {
		const { context, itemOrder } = this.run;
		const open = this.items.filter(({ failure }) => !failure);

		await eachLimit(sortBy(open, rank), atOnce, async (item) => {
			if (itemOrder.stopped.aborted) return;
			try {
				item.result = await step(item);
			} catch (error) {
				item.failure = { error, isSending, about: about?.(item.result) };
				if (isSending) itemOrder.stopAfter(error);
			}
		});

		// Not earlier, because a check also records existing charges of later items.
		if (!context.continueOnFail()) this.throwFirst();
	}

	output(): INodeExecutionData[] {
		return this.items.flatMap(({ index, output, failure }) => {
			if (failure) return this.fail(index, failure);
			// Copying tens of thousands of items would be noticeable.
			return output.map((one) => Object.assign(one, { pairedItem: { item: index } }));
		});
	}

	private throwFirst(): void {
		const failed = this.items.filter(({ failure }) => failure);
		// A failure cancels the other items, whose errors say nothing.
		const cause = failed.find(({ failure }) => !(failure?.error instanceof CanceledError));
		const { index, failure } = cause ?? failed[0] ?? {};

		if (index !== undefined && failure) this.fail(index, failure);
	}

	private fail(itemIndex: number, { error, ...details }: Failure): INodeExecutionData[] {
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
