import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import type { z } from 'zod';
import { displayPath } from './displayPath';
import { nothingSent } from './nothingSent';

/**
 * Reads the parameters of one item through a schema whose shape is that of the form.
 *
 * @throws NodeOperationError that names the parameter by its display name, the item and what to change
 */
export function readForm<S extends z.ZodTypeAny>(
	context: IExecuteFunctions,
	itemIndex: number,
	properties: INodeProperties[],
	schema: S,
): z.output<S> {
	const values: Record<string, unknown> = {};
	for (const { name, type, default: initial } of properties) {
		// A field that the form does not show just now is not there; then its default counts.
		if (type !== 'notice') values[name] = context.getNodeParameter(name, itemIndex, initial);
	}
	const result = schema.safeParse(values);
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
