import type { INode } from 'n8n-workflow';
import { displayPath } from '../form/displayPath';
import type { Operation } from './operation';

/**
 * The display name of the parameter behind a dotted field of the service: `cart.0.price` gives
 * `Cart > Item 1 > Price`; undefined where the form has no such parameter.
 */
export function fieldLabel(
	operation: Operation,
	serviceField: string,
	node: INode,
): string | undefined {
	const keys = serviceField.split('.').map((key) => (/^\d+$/.test(key) ? Number(key) : key));
	const pattern = keys.map((key) => (typeof key === 'number' ? '*' : key)).join('.');
	const { serviceFields } = operation;
	// The service may name any field, also `constructor`.
	const parameter = Object.hasOwn(serviceFields, pattern) ? serviceFields[pattern] : undefined;
	if (parameter === undefined) return undefined;
	const indexes = keys.filter((key) => typeof key === 'number');
	const path = parameter
		.split('.')
		.flatMap((key): Array<string | number> => (key === '*' ? indexes.splice(0, 1) : [key]));
	return displayPath(operation.properties, path, node);
}
