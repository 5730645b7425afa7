import { get, isEqual, merge } from 'lodash';
import { deepCopy, type IDataObject } from 'n8n-workflow';
import { NotSentError } from '../output';
import { isJsonObject } from '../shared';
import { defineField, type Form } from './defineForm';
import { allowBlank, jsonObjectSchema } from './fields';
import { fieldLabel } from './readForm';

/* Custom Fields add to what the form sends, and never replace it, so what the form has checked is what is sent. */

/** A token in a form would be stored in plain text, and shown with the workflow. */
const customFieldsSchema = jsonObjectSchema.refine((fields) => !('api_token' in fields), {
	message: 'must not contain api_token: enter the token as Second API Token in the credential',
});

const property = {
	displayName: 'Custom Fields',
	name: 'customFields',
	type: 'json',
	default: '{}',
	purpose: 'json',
} as const;

export const customFieldsField = defineField({
	...property,
	placeholder: 'e.g. {"expire_in_days": 3}',
	description:
		'More fields for the request body, as a JSON object with the field names of the platform. They add to the other fields, and never replace them.',
	reads: allowBlank(customFieldsSchema),
});

/** @param sent the names under which the other fields of the item are sent */
export function defineItemCustomFields(sent: readonly string[]) {
	const ownFields = (fields: IDataObject): string[] => sent.filter((name) => name in fields);

	return defineField({
		...property,
		placeholder: 'e.g. {"product_hash": "prodab12cd"}',
		description:
			'More fields for this item of the cart, as a JSON object with the field names of the platform. They add to its other fields, and never replace them.',
		sentAs: '...',
		reads: allowBlank(
			customFieldsSchema.refine(
				(fields) => ownFields(fields).length === 0,
				(fields) => ({
					message: `must not contain ${ownFields(fields).join(', ')}: the item has a field for it`,
				}),
			),
		),
	});
}

/**
 * @param replaceable fields that may come from Custom Fields as a whole if the form leaves them blank
 * @throws NotSentError that names the field that the form has or sends itself
 */
export function addCustomFields(
	form: Form<unknown>,
	body: IDataObject,
	customFields: IDataObject = {},
	replaceable: readonly string[] = [],
): IDataObject {
	const merged = merge(deepCopy(body), customFields);
	const hasField = (path: string[]) => fieldLabel(form, path.join('.')) !== undefined;
	const isReplaced = (path: string[]) => !isEqual(get(merged, path), get(body, path));
	const added = leafPaths(customFields).filter(
		([name = '']) => name in body || !replaceable.includes(name),
	);

	const taken = added.find(hasField) ?? leafPaths(body).find(isReplaced);
	if (taken === undefined) return merged;

	const field = taken.join('.');
	const label = fieldLabel(form, field);
	throw new NotSentError(
		`Additional Fields > Custom Fields must not contain ${field}`,
		label === undefined ? 'The node sends it itself.' : `Enter it in ${label}.`,
	);
}

/** A list is a leaf. */
function leafPaths(value: IDataObject, within: readonly string[] = []): string[][] {
	return Object.entries(value).flatMap(([name, inner]) => {
		const path = [...within, name];

		return isJsonObject(inner) ? leafPaths(inner, path) : [path];
	});
}
