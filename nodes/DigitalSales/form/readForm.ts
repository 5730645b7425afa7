import type { IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { isJsonObject } from '../shared/json';
import { displayPath } from './displayPath';
import type { Form, Reading } from './formOf';

/**
 * Reads the parameters of one item.
 *
 * @throws NodeOperationError that names the parameter by its display name, the item and what to change
 */
export function readForm<T>(
	context: IExecuteFunctions,
	itemIndex: number,
	{ properties, schema }: Form<T>,
): T {
	const values: Record<string, unknown> = {};
	for (const { name, type, default: initial } of properties) {
		// A parameter that the form does not show is missing, so its default counts.
		if (type !== 'notice') values[name] = context.getNodeParameter(name, itemIndex, initial);
	}
	const result = schema(readingOf(values)).safeParse(values);
	if (result.success) return result.data;
	const problems = result.error.issues.map(
		({ path, message }) => `${displayPath(properties, path, context.getNode())} ${message}`,
	);
	throw new NodeOperationError(context.getNode(), problems.slice(0, 1).join(), {
		itemIndex,
		description: [
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
	const { amountUnit, checkCustomer } = isJsonObject(options) ? options : {};
	return {
		unit: amountUnit === 'cents' ? 'cents' : 'reais',
		checkCustomer: checkCustomer !== false && checkCustomer !== 'false',
	};
}

function nothingSent(context: IExecuteFunctions, itemIndex: number): string {
	if (context.getInputData().length === 1) return 'Nothing was sent.';
	const others = context.continueOnFail()
		? '. The other items are not affected.'
		: ', and neither was any other item of this run.';
	return `Item ${itemIndex + 1} was not sent${others}`;
}
