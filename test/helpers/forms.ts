import { readdirSync } from 'node:fs';
import path from 'node:path';
import type {
	INodeProperties,
	INodePropertyCollection,
	INodePropertyOptions,
	INodeTypeDescription,
} from 'n8n-workflow';
import { DigitalSalesApi } from '../../credentials/DigitalSalesApi.credentials';
import { DigitalSales } from '../../nodes/DigitalSales/DigitalSales.node';
import { DigitalSalesTrigger } from '../../nodes/DigitalSales/DigitalSalesTrigger.node';
import { everyOperation } from './samples';

export interface Form {
	/** Such as "Product > Get Many". */
	name: string;
	/** The values of {@link CHOOSERS}; empty for the trigger and the credential. */
	chosenBy: Readonly<Record<string, string>>;
	properties: INodeProperties[];
	/** Null for the credential. */
	description: INodeTypeDescription | null;
}

export const action = new DigitalSales().description;

/** These fields choose the form. */
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

export interface FormField {
	/** The names of the collections and of the field, joined by dots. */
	path: string;
	property: INodeProperties;
}

/** All fields of a form, also in collections and groups. */
export function everyProperty(properties: INodeProperties[], within = ''): FormField[] {
	return properties.flatMap((property) => {
		const path = within === '' ? property.name : `${within}.${property.name}`;
		const inner = (property.options ?? []).flatMap((option) => innerFields(option, path));
		return [{ path, property }, ...inner];
	});
}

function innerFields(
	option: INodeProperties | INodePropertyCollection | INodePropertyOptions,
	path: string,
): FormField[] {
	if ('values' in option) return everyProperty(option.values, `${path}.${option.name}`);
	return 'type' in option ? everyProperty([option], path) : [];
}

const ROOT = path.join(__dirname, '../..');

/** The files of a folder with this end of their names, by their paths in the project. */
export function filesOf(folder: string, end: string): string[] {
	return readdirSync(path.join(ROOT, folder), { withFileTypes: true, recursive: true })
		.filter((entry) => entry.isFile() && entry.name.endsWith(end))
		.map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)))
		.filter((file) => !file.includes('node_modules'));
}
