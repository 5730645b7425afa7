import mergeWith from 'lodash/mergeWith';
import type { IDataObject } from 'n8n-workflow';
import { deepCopy } from 'n8n-workflow';
import { jsonObjectField, optional } from './fields';
import { field } from './formOf';

export const customFieldsField = field({
	displayName: 'Custom Fields',
	name: 'customFields',
	type: 'json',
	default: '{}',
	placeholder: 'e.g. {"expire_in_days": 3}',
	description:
		'More fields for the request body, as a JSON object with the field names of the service. They are added last and override the other fields; a list replaces the whole list.',
	weight: 'decides',
	reads: optional(jsonObjectField),
});

/** Merges the user's own fields into a body, nested objects included; a list replaces a list. */
export function withCustomFields(
	body: IDataObject,
	customFields: IDataObject | undefined,
): IDataObject {
	return mergeWith(deepCopy(body), customFields, (_old: unknown, own: unknown) =>
		Array.isArray(own) ? own : undefined,
	);
}
