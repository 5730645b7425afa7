import type {
	INode,
	INodeProperties,
	INodePropertyCollection,
	INodePropertyOptions,
} from 'n8n-workflow';
import { NodeHelpers } from 'n8n-workflow';
import type { Form } from './formOf';

type FormEntry = INodeProperties | INodePropertyCollection | INodePropertyOptions;

/**
 * The path of a value in the words of the form: `['cart', 'items', 0, 'price']` gives
 * `Cart > Item 1 > Price`. If fields share a name, the one that the form shows counts. Unknown names
 * stay as they are.
 */
export function displayPath(
	properties: INodeProperties[],
	path: ReadonlyArray<string | number>,
	node: INode,
): string {
	const labels: string[] = [];
	let entries: FormEntry[] = properties;
	for (const key of path) {
		if (typeof key === 'number') {
			labels.push(`${labels.pop()} ${key + 1}`);
			continue;
		}
		const entry = entryNamed(entries, key, node);
		labels.push(entry === undefined ? key : labelOf(entry));
		entries = entry === undefined ? [] : childrenOf(entry);
	}
	return labels.join(' > ');
}

/**
 * The label of the parameter behind a dotted field of the service: `cart.0.price` gives
 * `Cart > Item 1 > Price`; undefined if the form has no such parameter.
 */
export function fieldLabel(
	{ properties, serviceFields }: Pick<Form<never>, 'properties' | 'serviceFields'>,
	serviceField: string,
	node: INode,
): string | undefined {
	const keys = serviceField.split('.').map((key) => (/^\d+$/.test(key) ? Number(key) : key));
	const pattern = keys.map((key) => (typeof key === 'number' ? '*' : key)).join('.');
	// The service may name any field, also `constructor`.
	const parameter = Object.hasOwn(serviceFields, pattern) ? serviceFields[pattern] : undefined;
	if (parameter === undefined) return undefined;
	const indexes = keys.filter((key) => typeof key === 'number');
	const path = parameter
		.split('.')
		.flatMap((key): Array<string | number> => (key === '*' ? indexes.splice(0, 1) : [key]));
	return displayPath(properties, path, node);
}

function entryNamed(entries: FormEntry[], wanted: string, node: INode): FormEntry | undefined {
	const named = entries.filter(({ name }) => name === wanted);
	return named.find((entry) => isShown(entry, node)) ?? named[0];
}

function isShown(entry: FormEntry, node: INode): boolean {
	if (!('type' in entry)) return true;
	const { parameters } = node;
	return NodeHelpers.displayParameter(parameters, entry, node, null, parameters);
}

function labelOf(entry: FormEntry): string {
	return 'displayName' in entry ? entry.displayName : entry.name;
}

function childrenOf(entry: FormEntry): FormEntry[] {
	if ('values' in entry) return entry.values;
	return 'options' in entry ? (entry.options ?? []) : [];
}
