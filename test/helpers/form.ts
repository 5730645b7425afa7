import type { INodeProperties, INodePropertyCollection, INodePropertyOptions } from 'n8n-workflow';

/** A field of a form and where it stands. */
export interface FormField {
	/** The names that lead to it. */
	path: string;
	property: INodeProperties;
}

/** Every field of a form, those within collections and groups included. */
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
