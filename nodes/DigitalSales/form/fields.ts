import { castArray, compact } from 'lodash';
import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v3';
import {
	cleanText,
	isUsableHash,
	LONGEST_TEXT,
	parseCents,
	parseWebAddress,
	quoteText,
	type Result,
} from '../domain';
import { type FieldUse, defineField } from './defineForm';

/* The message of a schema follows the display name of the field: "Title must be ...". */

function isBlank(value: unknown): boolean {
	return value == null || (typeof value === 'string' && cleanText(value) === '');
}

export const IS_TOO_LONG = { problem: `must have at most ${LONGEST_TEXT} characters` };

/** Parses no longer text, because searching it could be slow. */
export function parseWith<T>(parse: (input: unknown) => Result<T>) {
	return z.unknown().transform((input, context): T => {
		const isLong = typeof input === 'string' && input.length > LONGEST_TEXT;
		const result = isLong ? IS_TOO_LONG : parse(input);
		if ('value' in result) return result.value;

		// Fatal, or a later refinement would get no value.
		context.addIssue({ code: 'custom', message: result.problem, fatal: true });
		return z.NEVER;
	});
}

export function allowBlank<T extends z.ZodTypeAny>(schema: T) {
	return z.preprocess((value) => (isBlank(value) ? undefined : value), schema.optional());
}

export function withDefault<T extends z.ZodTypeAny>(schema: T, initial: z.output<T>) {
	return z.preprocess((value) => (isBlank(value) ? initial : value), schema);
}

export function rejectBlank<T extends z.ZodTypeAny>(schema: T) {
	return z
		.unknown()
		.refine((value) => !isBlank(value), 'is empty; fill it in')
		.pipe(schema);
}

/** An expression may return a number for a text. */
export const textSchema = parseWith((input): Result<string> => {
	if (typeof input === 'string') return { value: input.trim() };
	if (typeof input !== 'number' || Number.isNaN(input)) return { problem: 'must be text' };
	if (Math.abs(input) <= Number.MAX_SAFE_INTEGER) return { value: String(input) };
	// JavaScript has rounded it, so two different numbers may look the same.
	return { problem: 'is too large for a number; enter it as text' };
});

/** The address of a page may repeat a parameter: `?utm_source=a&utm_source=b`. */
export const firstTextSchema = z.preprocess(
	(value) => castArray<unknown>(value).find((one) => !isBlank(one)),
	textSchema.optional(),
);

/** An expression may return a list, or a text with commas. */
export function parseTexts(input: unknown): Result<string[]> {
	const given = castArray<unknown>(input ?? '');
	if (!given.every((one) => typeof one === 'string')) {
		return { problem: 'must be a list, separated by commas' };
	}

	const texts = given.flatMap((one) => one.split(/[,;]/));
	const value = compact(texts.map((text) => text.trim()));
	if (value.length === 0) return { problem: 'is empty; fill it in' };
	return { value };
}

export const cleanTextSchema = textSchema.transform(cleanText);

const DIGITS = /^\d+$/;
/** `1.000` could be a thousand, or one. */
const DECIMAL = /^\d+(?:[.,]\d{1,2})?$/;

/** @param typed what a text must look like */
function numberSchema(typed: RegExp, isAllowed: (value: number) => boolean, message: string) {
	return z
		.unknown()
		.transform((input): number => {
			if (typeof input === 'number') return input;
			const isNumber = typeof input === 'string' && typed.test(input.trim());
			return isNumber ? Number(input.replace(',', '.')) : NaN;
		})
		.refine(isAllowed, message);
}

export function wholeNumberSchema(least: number) {
	return numberSchema(
		DIGITS,
		(value) => Number.isSafeInteger(value) && value >= least,
		`must be a whole number of at least ${least}`,
	);
}

export const positiveNumberSchema = numberSchema(
	DECIMAL,
	(value) => Number.isFinite(value) && value > 0,
	'must be a number above 0, for example 1.5',
);

export const percentSchema = numberSchema(
	DECIMAL,
	(value) => value >= 0 && value <= 100,
	'must be a percentage from 0 to 100, for example 12.5',
);

export const moneySchema = parseWith(parseCents);

export const yesNoSchema = z.union(
	[z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')],
	{ errorMap: () => ({ message: 'must be true or false' }) },
);

/** Left by an expression or a spreadsheet, an address, several hashes, or a placeholder. */
const NOT_A_HASH = /^(?:undefined|null|NaN|https?:.*)$|[\s,;"'`´\p{Pi}\p{Pf}]/iu;

export const hashSchema = cleanTextSchema.refine(
	(text) => isUsableHash(text) && !NOT_A_HASH.test(text),
	(text) => ({ message: `is "${quoteText(text)}", which is not a hash; enter one hash alone` }),
);

/** API document, Limits: a valid http or https URL. */
export const webAddressSchema = cleanTextSchema.refine(
	(text) => parseWebAddress(text) !== undefined,
	'must be a complete web address that starts with http:// or https://',
);

/** Of a field whose type is known. */
export type FieldSpec = Omit<INodeProperties, 'displayName' | 'name' | 'type' | 'default'> &
	FieldUse;

export function textField<const N extends string, S extends z.ZodTypeAny>(
	displayName: string,
	name: N,
	spec: FieldSpec & { reads: S },
) {
	return defineField({ type: 'string', default: '', displayName, name, ...spec });
}

export function yesNoField<const N extends string>(displayName: string, name: N, spec: FieldSpec) {
	const reads = allowBlank(yesNoSchema);
	return defineField({ type: 'boolean', default: false, displayName, name, reads, ...spec });
}

export function countField<const N extends string>(
	displayName: string,
	name: N,
	spec: FieldSpec & { default: number },
) {
	const own = { displayName, name, ...spec };
	const reads = allowBlank(wholeNumberSchema(1));
	return defineField({ type: 'number', typeOptions: { minValue: 1 }, reads, ...own });
}

/** Its value is in integer cents, undefined if it is left blank. */
export function moneyField<const N extends string>(displayName: string, name: N, spec: FieldSpec) {
	return defineField({
		type: 'string',
		default: '',
		placeholder: 'e.g. 19,90',
		hint: '97 is R$ 97,00. If your data is in cents, divide it by 100.',
		displayName,
		name,
		purpose: 'decides',
		reads: allowBlank(moneySchema),
		...spec,
	});
}
