import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import { z } from 'zod';
import { isJsonObject } from '../shared/json';
import { isUsableHash } from '../domain/hash';
import { moneyField, required } from '../form/fields';

export const PAYMENT_METHOD_OPTIONS: INodePropertyOptions[] = [
	{ name: 'Boleto', value: 'boleto' },
	{ name: 'Card', value: 'credit_card' },
	{ name: 'PIX', value: 'pix' },
];

/** The filters of the trigger node. */
export const filtersProperty: INodeProperties = {
	displayName: 'Filters',
	name: 'filters',
	type: 'collection',
	placeholder: 'Add Filter',
	default: {},
	options: [
		{
			displayName: 'Minimum Amount in Reais',
			name: 'minimumAmount',
			type: 'string',
			default: '',
			placeholder: 'e.g. 19,90',
			description:
				'Only transactions of this amount or more, for example 19,90. A transaction without an amount does not start the workflow.',
		},
		{
			displayName: 'Offer Hashes',
			name: 'offerHashes',
			type: 'string',
			default: '',
			placeholder: 'e.g. offab12cd, off34efgh',
			description: 'Only transactions of these offers; hashes separated by commas',
		},
		{
			displayName: 'Payment Methods',
			name: 'paymentMethods',
			type: 'multiOptions',
			options: PAYMENT_METHOD_OPTIONS,
			default: ['pix'],
			description: 'Only transactions paid in one of these ways',
		},
		{
			displayName: 'Product Hashes',
			name: 'productHashes',
			type: 'string',
			default: '',
			placeholder: 'e.g. prodab12cd, prod34efgh',
			description: 'Only transactions of these products; hashes separated by commas',
		},
	],
};

const word = z.string();
/** A number beyond the safe integers is another one than was meant. */
const wordOrNumber = z.union([word, z.custom<number>(Number.isSafeInteger).transform(String)]);

/** A list, also as a text with commas or semicolons; blanks and empty places are dropped. */
function listOf(entry: z.ZodType<string, z.ZodTypeDef, unknown>) {
	return z
		.union([z.array(entry), entry.transform((value) => [value])], {
			errorMap: () => ({ message: 'must be a list, separated by commas' }),
		})
		.transform((values) =>
			values
				.flatMap((value) => value.split(/[,;]/))
				.map((value) => value.trim())
				.filter((value) => value !== ''),
		);
}

/** A list of texts. */
export const listField = listOf(word);

/** A list of texts that has one at least. */
export const filledListField = listField.refine(
	(values) => values.length > 0,
	'is empty; fill it in',
);

/** A blank within a hash is a missing comma, or a placeholder that nobody has replaced. */
const BLANK_OR_QUOTE = /[\s"'`´\p{Pi}\p{Pf}]/u;
const UNSEEN = /[\p{C}\p{Default_Ignorable_Code_Point}]/gu;

const hashesField = required(
	listOf(wordOrNumber).superRefine((hashes, context) => {
		const odd = hashes.find((hash) => !isPlainHash(hash));
		if (hashes.length > 0 && odd === undefined) return;
		const message =
			odd === undefined
				? 'contains no hash; enter one, or remove the filter'
				: `contains "${shown(odd)}", which is not a hash; enter hashes separated by commas, without quotes`;
		context.addIssue({ code: 'custom', message });
	}),
);

function isPlainHash(hash: string): boolean {
	return isUsableHash(hash) && !BLANK_OR_QUOTE.test(hash) && shown(hash) === hash;
}

/** A text with its invisible characters as escapes. */
function shown(text: string): string {
	return text.replace(UNSEEN, (unseen) => `\\u{${unseen.codePointAt(0)?.toString(16)}}`);
}

const filtersSchema = z.object({
	/** In integer cents. */
	minimumAmount: required(moneyField('reais')).optional(),
	offerHashes: hashesField.optional(),
	paymentMethods: required(filledListField).optional(),
	productHashes: hashesField.optional(),
});

/**
 * The filters of the trigger. One that is there and cannot be read was meant to keep something out,
 * so it never counts as none; one whose expression gives nothing is there all the same.
 */
export const filtersField = z.preprocess(withBlanks, filtersSchema);

function withBlanks(filters: unknown): unknown {
	if (!isJsonObject(filters)) return filters;
	return Object.fromEntries(Object.entries(filters).map(([name, value]) => [name, value ?? null]));
}
