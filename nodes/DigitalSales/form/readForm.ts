import type { IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { isJsonObject } from '../shared/json';
import { bounded } from './bounded';
import { displayPath } from './displayPath';
import { gapsIn } from './expressions';
import type { Form, Reading } from './formOf';

const GAP_ADVICE = 'Correct the expression or the data, or clear the field.';

/**
 * Reads the parameters of one item.
 *
 * @throws NodeOperationError that names the parameter by its display name, the item and what to change
 */
export function readForm<T>(context: IExecuteFunctions, itemIndex: number, form: Form<T>): T {
	const { properties, schema } = form;
	const values: Record<string, unknown> = {};
	const raw: Record<string, unknown> = {};
	for (const { name, type, default: initial } of properties) {
		// A parameter that the form does not show is missing, so its default counts.
		if (type === 'notice') continue;
		values[name] = context.getNodeParameter(name, itemIndex, initial);
		raw[name] = context.getNodeParameter(name, itemIndex, initial, { rawExpressions: true });
	}
	const result = bounded(schema(readingOf(values))).safeParse(values);
	const evaluate = (part: string): unknown => context.evaluateExpression(part, itemIndex);
	const gaps = gapsIn(form, raw, values, evaluate);
	if (result.success && gaps.length === 0) return result.data;
	const ofGaps = new Set(gaps.map(({ path }) => path.join('.')));
	const others = (result.error?.issues ?? []).filter(({ path }) => !ofGaps.has(path.join('.')));
	const problems = [...gaps, ...others].map(
		({ path, message }) => `${displayPath(properties, path, context.getNode())} ${message}`,
	);
	throw new NodeOperationError(context.getNode(), problems.slice(0, 1).join(), {
		itemIndex,
		description: [
			...(gaps.length > 0 ? [GAP_ADVICE] : []),
			nothingSent(context, itemIndex),
			...problems.slice(1).map((problem) => `Also: ${problem}.`),
		].join('\n'),
	});
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

function readingOf({ options }: Record<string, unknown>): Reading {
	const { checkCustomer } = isJsonObject(options) ? options : {};
	return { checkCustomer: checkCustomer !== false && checkCustomer !== 'false' };
}

function nothingSent(context: IExecuteFunctions, itemIndex: number): string {
	if (context.getInputData().length === 1) return 'Nothing was sent.';
	const others = context.continueOnFail()
		? '. The other items are not affected.'
		: ', and neither was any other item of this run.';
	return `Item ${itemIndex + 1} was not sent${others}`;
}
