import merge from 'lodash/merge';
import mergeWith from 'lodash/mergeWith';
import { type IDataObject, type INodeProperties, deepCopy } from 'n8n-workflow';
import { z } from 'zod/v3';
import { isJsonObject } from '../shared/json';
import {
	LONGEST_TEXT,
	type Result,
	cleanText,
	normalizeUnicode,
	isUsableHash,
} from '../domain/text';
import { parseCents } from '../domain/money';
import { parseWebAddress } from '../domain/webAddress';
import { type Field, type Use, field } from './formOf';

/** Schemas for single form fields. Messages continue the field's display name: "Title must be ...". */

function isBlank(value: unknown): boolean {
	return (
		value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
	);
}

export function parsed<T>(parse: (input: unknown) => Result<T>) {
	return z.unknown().transform((input, context): T => {
		const result = parse(input);
		if ('value' in result) return result.value;
		context.addIssue({ code: 'custom', message: result.problem });
		return z.NEVER;
	});
}

/** A field that may be left empty. */
export function optional<T extends z.ZodTypeAny>(schema: T) {
	return z.unknown().transform((value, context): z.output<T> | undefined => {
		return isBlank(value) ? undefined : pipe(schema, value, context);
	});
}

export function required<T extends z.ZodTypeAny>(schema: T) {
	return z.unknown().transform((value, context): z.output<T> => {
		if (!isBlank(value)) return pipe(schema, value, context);
		context.addIssue({ code: 'custom', message: 'is empty; fill it in' });
		return z.NEVER;
	});
}

function pipe<T extends z.ZodTypeAny>(
	schema: T,
	value: unknown,
	context: z.RefinementCtx,
): z.output<T> {
	const result = schema.safeParse(value);
	if (result.success) return result.data;
	for (const issue of result.error.issues) {
		context.addIssue({ code: 'custom', message: issue.message, path: issue.path });
	}
	return z.NEVER;
}

/** A text, or a number from an expression. */
export const textField = z
	.unknown()
	.superRefine((input, context) => {
		const isNumber = typeof input === 'number' && !Number.isNaN(input);
		if (typeof input !== 'string' && !isNumber) {
			context.addIssue({ code: 'custom', message: 'must be text' });
		} else if (isNumber && Math.abs(input) > Number.MAX_SAFE_INTEGER) {
			// It has lost its last digits, so two different ones may be the same.
			context.addIssue({ code: 'custom', message: 'is too large for a number; enter it as text' });
		}
	})
	.transform((input) => String(input).trim());

/** A text that identifies something: what looks the same is the same. */
export const cleanTextField = textField.transform(cleanText);

const LONGEST_REFERENCE = 255;

/** The user's own name for an order. */
export const optionalReferenceField = optional(
	cleanTextField
		.transform((text) => normalizeUnicode(text))
		.refine(
			({ length }) => length <= LONGEST_REFERENCE,
			({ length }) => ({
				message: `must have at most ${LONGEST_REFERENCE} characters; this one has ${length}`,
			}),
		)
		.transform((text) => text || undefined),
);

/** A whole number, or a text of digits. */
export function wholeNumberField(least: number, most = Number.MAX_SAFE_INTEGER) {
	const message = `must be a whole number${most === Number.MAX_SAFE_INTEGER ? ` of at least ${least}` : ` from ${least} to ${most}`}`;
	return z
		.union([z.number(), z.string().trim().regex(/^\d+$/, message).transform(Number)], {
			errorMap: () => ({ message }),
		})
		.refine((value) => Number.isSafeInteger(value) && value >= least && value <= most, message);
}

/** A number, or a text of digits with a point or a comma as the decimal sign. */
const decimalField = z.union(
	[
		z.number(),
		z.string().transform((text) => {
			const plain = /^\d+(?:[.,]\d+)?$/.exec(text.trim())?.[0];
			return plain === undefined ? NaN : Number(plain.replace(',', '.'));
		}),
	],
	{ errorMap: () => ({ message: 'must be a number' }) },
);

/** A number above 0, such as 0.5 or "0,5". */
export const positiveNumberField = decimalField.refine(
	(value) => Number.isFinite(value) && value > 0,
	'must be a number above 0, for example 1.5',
);

/** Percent, such as 12.5 or "12,5". */
export const percentField = decimalField.refine(
	(value) => value >= 0 && value <= 100,
	'must be a percentage from 0 to 100, for example 12.5',
);

/** An amount in integer cents, typed in reais. */
export const moneyField = parsed(parseCents);

/** True or false, which an expression may give as text. */
export const yesNoField = z.union(
	[z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')],
	{ errorMap: () => ({ message: 'must be true or false' }) },
);

export const hashField = cleanTextField
	.refine((text) => !/^https?:\/\//i.test(text), 'is an address, not a hash; enter the hash alone')
	.refine(isUsableHash, 'is not a hash');

/** An address that the service may post to (API document, Limits: a valid http or https URL). */
export const webAddressField = cleanTextField.refine(
	(text) => parseWebAddress(text) !== undefined,
	'must be a complete web address that starts with http:// or https://',
);

/** @internal A JSON object, as a text or as an object from an expression. */
export const jsonObjectField = parsed((input): Result<IDataObject> => {
	const value = typeof input === 'string' ? parseJson(input) : input;
	if (!isJsonObject(value)) {
		return { problem: 'must be a JSON object, for example {"expire_in_days": 3}' };
	}
	// A text has not been looked into before.
	const excess = excessIn(value);
	if (excess) return { problem: excess.message };
	return hasHole(value)
		? { problem: 'has a field for which its expression gave nothing' }
		: { value };
});

/** An expression may give what JSON has no word for: it would be left out, or sent as null. */
function hasHole(value: unknown): boolean {
	if (typeof value === 'object') return value !== null && Object.values(value).some(hasHole);
	return typeof value !== 'string' && typeof value !== 'boolean' && !Number.isFinite(value);
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

type Shown<N extends string> = Omit<INodeProperties, 'type' | 'default'> & Use & { name: N };

/** A field of text; without `reads` it may be left blank. */
export function text<const N extends string>(spec: Shown<N>): Field<N, string | undefined>;
export function text<const N extends string, S extends z.ZodTypeAny>(
	spec: Shown<N> & { reads: S },
): Field<N, z.output<S>>;
export function text(spec: Shown<string> & { reads?: z.ZodTypeAny }): Field {
	return field({ type: 'string', default: '', reads: optional(textField), ...spec });
}

/** A yes or no that may be left out: then nothing is said of it. */
export function yesNo<const N extends string>(spec: Shown<N>): Field<N, boolean | undefined> {
	return field({ type: 'boolean', default: false, reads: optional(yesNoField), ...spec });
}

/** An amount in reais that may be left blank, read as integer cents. */
export function money<const N extends string>({
	displayName,
	...spec
}: Shown<N>): Field<N, number | undefined> {
	return field({
		displayName: `${displayName} in Reais`,
		type: 'string',
		default: '',
		placeholder: 'e.g. 19,90',
		hint: '97 is R$ 97,00. If your data is in cents, divide it by 100.',
		weight: 'decides',
		reads: optional(moneyField),
		...spec,
	});
}

/** Deeper than any form or body. */
const MOST_LEVELS = 32;

interface Excess {
	path: Array<string | number>;
	message: string;
}

/**
 * A form whose texts have a reasonable length; without that nothing else reads them. Each may come
 * from a stranger, and many a pattern takes time by the square of the length.
 */
export function bounded<T>(form: z.ZodType<T, z.ZodTypeDef, unknown>) {
	return z
		.unknown()
		.superRefine((values, context) => {
			const excess = excessIn(values);
			if (excess) context.addIssue({ code: 'custom', ...excess });
		})
		.pipe(form);
}

/** The first text in a value that is too long, or the first level too deep. */
function excessIn(value: unknown, levels = MOST_LEVELS): Excess | undefined {
	if (typeof value === 'string' && value.length > LONGEST_TEXT) {
		const message = `must have at most ${LONGEST_TEXT} characters; this one has ${value.length}`;
		return { path: [], message };
	}
	if (typeof value !== 'object' || value === null) return undefined;
	if (levels === 0) return { path: [], message: 'is nested too deeply' };
	for (const [name, inner] of Object.entries(value)) {
		const excess = excessIn(inner, levels - 1);
		const key = Array.isArray(value) ? Number(name) : name;
		if (excess) return { ...excess, path: [key, ...excess.path] };
	}
	return undefined;
}

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

/** The same for the object that the field stands in. */
export const ownFieldsField: typeof customFieldsField = {
	...customFieldsField,
	properties: customFieldsField.properties.map((property) => ({
		...property,
		placeholder: 'e.g. {"product_hash": "prodab12cd"}',
		description:
			'More fields for this item of the cart, as a JSON object with the field names of the service. They override its other fields.',
	})),
	write: (value, body) => {
		if (isJsonObject(value)) merge(body, value);
	},
};

/** Merges the user's own fields into a body, nested objects included; a list replaces a list. */
export function withCustomFields(
	body: IDataObject,
	customFields: IDataObject | undefined,
): IDataObject {
	return mergeWith(deepCopy(body), customFields, (_old: unknown, own: unknown) =>
		Array.isArray(own) ? own : undefined,
	);
}
