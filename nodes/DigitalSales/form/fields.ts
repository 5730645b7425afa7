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
import { type Field, type FieldUse, type Problem, defineField } from './defineForm';

/* The message of a schema follows the display name of the field: "Title must be ...". */

export function isBlank(value: unknown): boolean {
	return value == null || (typeof value === 'string' && value.trim() === '');
}

export function parseWith<T>(parse: (input: unknown) => Result<T>) {
	return z.unknown().transform((input, context): T => {
		const result = parse(input);
		if ('value' in result) return result.value;

		// Fatal, or a later refinement would get no value.
		context.addIssue({ code: 'custom', message: result.problem, fatal: true });
		return z.NEVER;
	});
}

export function allowBlank<T extends z.ZodTypeAny>(schema: T) {
	return z.preprocess((value) => (isBlank(value) ? undefined : value), schema.optional());
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

const LONGEST_REFERENCE = 255;

export const orderReferenceSchema = allowBlank(
	cleanTextSchema
		.transform((text) => text.normalize())
		.refine(
			(text) => text.length <= LONGEST_REFERENCE,
			({ length }) => ({
				message: `must have at most ${LONGEST_REFERENCE} characters; this one has ${length}`,
			}),
		)
		.transform((text) => text || undefined),
);

const DIGITS = /^\d+$/;
const DECIMAL = /^\d+(?:[.,]\d+)?$/;

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

export function wholeNumberSchema(least: number, most = Number.MAX_SAFE_INTEGER) {
	const isOpen = most === Number.MAX_SAFE_INTEGER;
	const range = isOpen ? `of at least ${least}` : `from ${least} to ${most}`;

	return numberSchema(
		DIGITS,
		(value) => Number.isSafeInteger(value) && value >= least && value <= most,
		`must be a whole number ${range}`,
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

/** An expression or a spreadsheet may leave these in place of a hash. */
const NOT_A_HASH = /^(?:undefined|null|NaN|'.*)$/;

export const hashSchema = cleanTextSchema
	.refine(
		(text) => !NOT_A_HASH.test(text),
		(text) => ({ message: `is "${quoteText(text)}", which is not a hash` }),
	)
	.refine((text) => !/^https?:\/\//i.test(text), 'is an address, not a hash; enter the hash alone')
	.refine(isUsableHash, 'is not a hash');

/** API document, Limits: a valid http or https URL. */
export const webAddressSchema = cleanTextSchema.refine(
	(text) => parseWebAddress(text) !== undefined,
	'must be a complete web address that starts with http:// or https://',
);

type Spec<N extends string> = Omit<INodeProperties, 'type' | 'default'> & FieldUse & { name: N };

export function textField<const N extends string, S extends z.ZodTypeAny>(
	spec: Spec<N> & { reads: S },
): Field<N, z.output<S>> {
	return defineField({ type: 'string', default: '', ...spec });
}

export function yesNoField<const N extends string>(spec: Spec<N>): Field<N, boolean | undefined> {
	return defineField({ type: 'boolean', default: false, reads: allowBlank(yesNoSchema), ...spec });
}

export function countField<const N extends string>(
	spec: Spec<N> & { default: number },
): Field<N, number | undefined> {
	return defineField({
		type: 'number',
		typeOptions: { minValue: 1 },
		reads: allowBlank(wholeNumberSchema(1)),
		...spec,
	});
}

/** Its value is in integer cents, undefined if it is left blank. */
export function moneyField<const N extends string>({
	displayName,
	...spec
}: Spec<N>): Field<N, number | undefined> {
	return defineField({
		displayName: `${displayName} in Reais`,
		type: 'string',
		default: '',
		placeholder: 'e.g. 19,90',
		hint: '97 is R$ 97,00. If your data is in cents, divide it by 100.',
		purpose: 'decides',
		reads: allowBlank(moneySchema),
		...spec,
	});
}

const MOST_LEVELS = 32;

/** Finds a text that is too long, or what is nested too deeply. */
export function findExcess(value: unknown, levels = MOST_LEVELS): Problem | undefined {
	if (typeof value === 'string' && value.length > LONGEST_TEXT) {
		const message = `must have at most ${LONGEST_TEXT} characters; this one has ${value.length}`;
		return { path: [], message };
	}
	if (typeof value !== 'object' || value === null) return undefined;
	if (levels === 0) return { path: [], message: 'is nested too deeply' };

	for (const [name, inner] of Object.entries(value)) {
		const excess = findExcess(inner, levels - 1);
		const key = Array.isArray(value) ? Number(name) : name;
		if (excess) return { ...excess, path: [key, ...excess.path] };
	}
	return undefined;
}
