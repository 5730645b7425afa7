import type { INodeProperties, INodePropertyCollection, INodePropertyOptions } from 'n8n-workflow';

type FormEntry = INodeProperties | INodePropertyCollection | INodePropertyOptions;

/**
 * The place of a value in the words of the form: `['cart', 'items', 0, 'price']` gives
 * `Cart > Item 1 > Price`. Names that the form does not know are left as they are.
 */
export function displayPath(
	properties: INodeProperties[],
	path: ReadonlyArray<string | number>,
): string {
	const labels: string[] = [];
	let entries: FormEntry[] = properties;
	for (const key of path) {
		if (typeof key === 'number') {
			const last = labels.pop();
			labels.push(`${last ?? 'Entry'} ${key + 1}`);
			continue;
		}
		const entry = entries.find(({ name }) => name === key);
		labels.push(entry === undefined ? key : labelOf(entry));
		entries = entry === undefined ? [] : childrenOf(entry);
	}
	return labels.join(' > ');
}

function labelOf(entry: FormEntry): string {
	return 'displayName' in entry ? entry.displayName : entry.name;
}

function childrenOf(entry: FormEntry): FormEntry[] {
	if ('values' in entry) return entry.values;
	return 'options' in entry ? (entry.options ?? []) : [];
}
