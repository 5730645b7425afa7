import {
	type IExecuteFunctions,
	type INode,
	type INodeProperties,
	NodeOperationError,
} from 'n8n-workflow';
import { bounded } from './fields';
import { displayPath } from './displayPath';
import { gapsIn, type Gap } from './expressions';
import type { Form } from './formOf';

const GAP_ADVICE = 'Correct the expression or the data, or clear the field.';

/**
 * Reads the parameters of one item.
 *
 * @throws NodeOperationError that names the parameter by its display name, the item and what to change
 */
export function readForm<T>(context: IExecuteFunctions, itemIndex: number, form: Form<T>): T {
	const values = valuesOf(form, (name, initial) =>
		context.getNodeParameter(name, itemIndex, initial),
	);
	const raw = valuesOf(form, (name, initial) =>
		context.getNodeParameter(name, itemIndex, initial, { rawExpressions: true }),
	);
	const evaluate = (part: string): unknown => context.evaluateExpression(part, itemIndex);
	const gaps = gapsIn(form, raw, values, evaluate);
	const { data, problems } = checkForm(form, values, context.getNode(), gaps);
	if (data) return data;
	throw new NodeOperationError(context.getNode(), problems.slice(0, 1).join(), {
		itemIndex,
		description: [
			...(gaps.length > 0 ? [GAP_ADVICE] : []),
			nothingSent(context, itemIndex),
			...problems.slice(1).map((problem) => `Also: ${problem}.`),
		].join('\n'),
	});
}

/** The parameters of a form; one that the form does not show is missing, so its default counts. */
export function valuesOf(
	{ properties }: Pick<Form<never>, 'properties'>,
	read: (name: string, initial: INodeProperties['default']) => unknown,
): Record<string, unknown> {
	const fields = properties.filter(({ type }) => type !== 'notice');
	return Object.fromEntries(
		fields.map(({ name, default: initial }) => [name, read(name, initial)]),
	);
}

/** What the values of a form say, or all that is wrong, each with the display name of its field. */
export function checkForm<T>(
	{ properties, schema }: Form<T>,
	values: Record<string, unknown>,
	node: INode,
	gaps: Gap[] = [],
): { data?: T; problems: string[] } {
	const result = bounded(schema).safeParse(values);
	if (result.success && gaps.length === 0) return { data: result.data, problems: [] };
	const ofGaps = new Set(gaps.map(({ path }) => path.join('.')));
	const others = (result.error?.issues ?? []).filter(({ path }) => !ofGaps.has(path.join('.')));
	const problems = [...gaps, ...others].map(
		({ path, message }) => `${displayPath(properties, path, node)} ${message}`,
	);
	return { problems };
}

/** A mistake in the parameters of one item that the schema of the form cannot find. */
export function mistake(
	context: IExecuteFunctions,
	itemIndex: number,
	message: string,
	advice: string,
): NodeOperationError {
	return new NodeOperationError(context.getNode(), message, {
		itemIndex,
		description: `${advice}\n${nothingSent(context, itemIndex)}`,
	});
}

function nothingSent(context: IExecuteFunctions, itemIndex: number): string {
	if (context.getInputData().length === 1) return 'Nothing was sent.';
	const others = context.continueOnFail()
		? '. The other items are not affected.'
		: ', and neither was any other item of this run.';
	return `Item ${itemIndex + 1} was not sent${others}`;
}
