import merge from 'lodash/merge';
import type { IDataObject } from 'n8n-workflow';
import { deepCopy } from 'n8n-workflow';
import { jsonObjectField, optional } from './fields';
import { field } from './formOf';

export const customFieldsField = field(
	{
		displayName: 'Custom Fields',
		name: 'customFields',
		type: 'json',
		default: '{}',
		placeholder: 'e.g. {"expire_in_days": 3}',
		description:
			'Further fields for the body of the request, as a JSON object with the names of the service. They are merged in last: what is named here wins.',
	},
	optional(jsonObjectField),
);

/** Merges the user's own fields into a body, nested objects and arrays included. */
export function withCustomFields(
	body: IDataObject,
	customFields: IDataObject | undefined,
): IDataObject {
	return customFields === undefined ? body : merge(deepCopy(body), customFields);
}
