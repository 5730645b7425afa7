import { get, isEqual, merge } from 'lodash';
import { deepCopy, type IDataObject, jsonParse } from 'n8n-workflow';
import type { Result } from '../domain';
import { NotSentError } from '../output';
import { isJsonObject } from '../shared';
import { defineField, type Form } from './defineForm';
import { allowBlank, findExcess, parseWith } from './fields';
import { fieldLabel } from './readForm';

/* Custom Fields add to what the form sends, and never replace it, so what the form has checked is what is sent. */

const CURLY_QUOTES = /[\u201c-\u201f]/;

const jsonObjectSchema = parseWith((input): Result<IDataObject> => {
	const value = typeof input === 'string' ? parseCopiedJson(input) : input;
	if (value === null && CURLY_QUOTES.test(String(input))) {
		return { problem: 'has curly quotes, such as “ and ”: write straight ones (")' };
	}
	if (!isJsonObject(value)) {
		return { problem: 'must be a JSON object, for example {"expire_in_days": 3}' };
	}

	// `checkForm` does not see the values within a JSON text.
	const excess = findExcess(value);
	if (excess) return { problem: excess.message };
	if (!hasMissingValue(value)) return { value };
	return { problem: 'contains a field whose expression returned nothing' };
});

/** Copied JSON may have a byte order mark, or no-break spaces between its parts. */
function parseCopiedJson(text: string): unknown {
	const parse = (json: string): unknown => jsonParse<unknown>(json, { fallbackValue: null });

	return parse(text) ?? parse(text.replace(/[\ufeff\p{Zs}]/gu, ' '));
}

/** A value without a JSON form (undefined, NaN) would be left out or sent as null. */
function hasMissingValue(value: unknown): boolean {
	if (value === null) return false;
	if (typeof value === 'object') return Object.values(value).some(hasMissingValue);
	return typeof value !== 'string' && typeof value !== 'boolean' && !Number.isFinite(value);
}

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
