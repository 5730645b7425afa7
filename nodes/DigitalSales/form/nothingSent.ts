import type { IExecuteFunctions } from 'n8n-workflow';

/** What a mistake in the form of one item means for the run: all items are read before any is sent. */
export function nothingSent(context: IExecuteFunctions, itemIndex: number): string {
	return context.getInputData().length === 1
		? 'Nothing was sent.'
		: `Item ${itemIndex + 1} was not sent, and neither was any other item of this run.`;
}
