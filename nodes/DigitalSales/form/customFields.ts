import { intersection, isEqual, isObject, mapValues } from 'lodash';
import { type IDataObject, jsonParse } from 'n8n-workflow';
import { LONGEST_TEXT, type Result } from '../domain';
import { NotSentError } from '../output';
import { isJsonObject, parseJson } from '../shared';
import { defineField, type Form } from './defineForm';
import { allowBlank, IS_TOO_LONG, parseWith } from './fields';
import { fieldLabel } from './readForm';

/* Custom Fields add to what the form sends, and never replace it, so what the form has checked is what is sent. */

function parseFields(input: unknown): Result<IDataObject> {
	const value = typeof input === 'string' ? parseJson(input) : input;
	if (!isJsonObject(value)) {
		return { problem: 'must be a JSON object, for example {"expire_in_days": 3}' };
	}
	const json = JSON.stringify(value);
	if (json.length > LONGEST_TEXT) return IS_TOO_LONG;
	if (hasMissingValue(value)) {
		return { problem: 'contains a field whose expression returned nothing' };
	}
	// A token in a form would be stored in plain text, and shown with the workflow.
	if ('api_token' in value) {
		const advice = 'enter the token as Second API Token in the credential';
		return { problem: `must not contain api_token: ${advice}` };
	}

	// An expression may return objects with a JSON form of their own, such as a Date.
	return { value: jsonParse(json) };
}

/** A value without a JSON form, such as an invalid date, would be left out or sent as null. */
function hasMissingValue(value: unknown): boolean {
	const isMissing = value !== null && [undefined, 'null'].includes(JSON.stringify(value));
	return isMissing || (isObject(value) && Object.values(value).some(hasMissingValue));
}

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
	reads: allowBlank(parseWith(parseFields)),
});

/** @param sent the names under which the other fields of the item are sent */
export function defineItemCustomFields(sent: readonly string[]) {
	return defineField({
		...property,
		placeholder: 'e.g. {"product_hash": "prodab12cd"}',
		description:
			'More fields for this item of the cart, as a JSON object with the field names of the platform. They add to its other fields, and never replace them.',
		sentAs: '...',
		reads: allowBlank(
			parseWith(parseFields).refine(
				(fields) => intersection(sent, Object.keys(fields)).length === 0,
				`must not contain ${sent.join(', ')}: the item has fields for them`,
			),
		),
	});
}

/**
 * Adds Custom Fields to a body. An object on both sides is merged field by field.
 *
 * @param replaceable fields that may come from Custom Fields as a whole if the form leaves them blank
 * @param within the path of `body` in the request, for errors and the recursion
 * @throws NotSentError that names the field that the form has or sends itself
 */
export function addCustomFields(
	form: Form<unknown>,
	body: IDataObject,
	customFields: IDataObject = {},
	replaceable: readonly string[] = [],
	within: readonly string[] = [],
): IDataObject {
	const added = mapValues(customFields, (value, name) => {
		// Every object inherits names such as constructor.
		const sent = Object.hasOwn(body, name) ? body[name] : undefined;
		const own = sent ?? {};
		const path = [...within, name];
		const isNew = sent === undefined;
		if (isNew && replaceable.includes(name)) return value;
		if (isJsonObject(own) && isJsonObject(value)) {
			return addCustomFields(form, own, value, [], path);
		}

		const field = path.join('.');
		const label = fieldLabel(form, field);
		if ((isNew && label === undefined) || isEqual(own, value)) return value;

		throw new NotSentError(
			`Additional Fields > Custom Fields must not contain ${field}`,
			label === undefined ? 'The node sends it itself.' : `Enter it in ${label}.`,
		);
	});

	return { ...body, ...added };
}
