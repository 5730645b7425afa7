import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { INodeProperties, INodeTypeDescription } from 'n8n-workflow';
import { DigitalSalesApi } from '../../credentials/DigitalSalesApi.credentials';
import { DigitalSales } from '../../nodes/DigitalSales/DigitalSales.node';
import { DigitalSalesTrigger } from '../../nodes/DigitalSales/DigitalSalesTrigger.node';
import { everyOperation } from './samples';

export interface Form {
	/** Such as "Product > Get Many". */
	name: string;
	/** The values that choose the form; none for the trigger and the credential. */
	chosenBy: Readonly<Record<string, string>>;
	properties: INodeProperties[];
	/** The node that it belongs to; a credential has none. */
	description: INodeTypeDescription | null;
}

/** The action node, whose form depends on the chosen operation. */
export const action = new DigitalSales().description;

/** The fields by which an operation is chosen. */
export const CHOOSERS = ['resource', 'operation'];

const operationForms = everyOperation().map(({ resource, value: operation, label }): Form => {
	const properties = action.properties.filter(
		({ name, displayOptions: { show } = {} }) =>
			!CHOOSERS.includes(name) &&
			show?.resource?.includes(resource) &&
			show.operation?.includes(operation),
	);
	return { name: label, chosenBy: { resource, operation }, properties, description: action };
});

const trigger = new DigitalSalesTrigger().description;
const credential = new DigitalSalesApi();

/** Every form of the package. */
export const FORMS: Form[] = [
	...operationForms,
	{
		name: trigger.displayName,
		chosenBy: {},
		properties: trigger.properties,
		description: trigger,
	},
	{
		name: `Credential ${credential.displayName}`,
		chosenBy: {},
		properties: credential.properties,
		description: null,
	},
];

const ROOT = path.join(__dirname, '../..');

/** The files of a folder whose names end so, by their path in the project. */
export function filesOf(folder: string, end: string): string[] {
	return readdirSync(path.join(ROOT, folder), { withFileTypes: true, recursive: true })
		.filter((entry) => entry.isFile() && entry.name.endsWith(end))
		.map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)))
		.filter((file) => !file.includes('node_modules'));
}
