import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import mapValues from 'lodash/mapValues';
import { z } from 'zod';
import { isUsableHash } from '../domain/hash';
import { formatReais } from '../domain/money';
import { moneyField, required } from '../form/fields';
import type { Notice } from '../notice/parse';
import { isJsonObject } from '../shared/json';

const PAYMENT_METHOD_OPTIONS: INodePropertyOptions[] = [
	{ name: 'Boleto', value: 'boleto' },
	{ name: 'Card', value: 'credit_card' },
	{ name: 'PIX', value: 'pix' },
];

/** Other names of a payment method; the API document does not show what the service calls boleto. */
const METHOD_NAMES: Readonly<Record<string, readonly string[]>> = { boleto: ['boleto', 'billet'] };

/** The collection Filters of the trigger node. */
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
/** A number beyond the safe integers has lost digits. */
const wordOrNumber = z.union([word, z.custom<number>(Number.isSafeInteger).transform(String)]);

/** A list, also as a string with commas or semicolons; blanks and empty entries are dropped. */
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

/** A list of strings. */
export const listField = listOf(word);

/** A list of at least one string. */
export const filledListField = listField.refine(
	(values) => values.length > 0,
	'is empty; fill it in',
);

/** A blank within a hash is a missing comma, or a placeholder. */
const BLANK_OR_QUOTE = /[\s"'`´\p{Pi}\p{Pf}]/u;
const UNSEEN = /[\p{C}\p{Default_Ignorable_Code_Point}]/gu;

const hashesField = required(
	listOf(wordOrNumber)
		.refine((hashes) => hashes.length > 0, 'contains no hash; enter one, or remove the filter')
		.refine(
			(hashes) => hashes.every(isPlainHash),
			(hashes) => ({
				message: `contains "${shown(hashes.find((hash) => !isPlainHash(hash)) ?? '')}", which is not a hash; enter hashes separated by commas, without quotes`,
			}),
		),
);

function isPlainHash(hash: string): boolean {
	return isUsableHash(hash) && !BLANK_OR_QUOTE.test(hash) && shown(hash) === hash;
}

/** Shows invisible characters as escapes. */
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
 * The filters of the trigger. One that is set but unreadable was meant to keep something out, so it is
 * an error and never ignored; so is one whose expression gives nothing.
 */
export const filtersField = z.preprocess(
	(filters) => (isJsonObject(filters) ? mapValues(filters, (value) => value ?? null) : filters),
	filtersSchema,
);

type Filters = z.output<typeof filtersSchema>;

/** Why the filters reject a transaction, in the words of the form; undefined if they accept it. */
export function whyFiltered(filters: Filters, transaction: Notice): string | undefined {
	const { paymentMethods, offerHashes, productHashes, minimumAmount } = filters;
	const { paymentMethod = '', offerHash = '', productHash = '' } = transaction;
	const methods = paymentMethods?.flatMap((method) => METHOD_NAMES[method] ?? [method]);
	if (paymentMethods && !methods?.includes(paymentMethod)) {
		return `The payment method of the transaction is ${stated(paymentMethod)}; Filters > Payment Methods asks for ${optionNames(PAYMENT_METHOD_OPTIONS, paymentMethods)}.`;
	}
	if (offerHashes && !offerHashes.includes(offerHash)) {
		return `The offer of the transaction is ${stated(offerHash)}; Filters > Offer Hashes asks for ${offerHashes.join(', ')}.`;
	}
	if (productHashes && !productHashes.includes(productHash)) {
		return `The product of the transaction is ${stated(productHash)}; Filters > Product Hashes asks for ${productHashes.join(', ')}.`;
	}
	const { amount } = transaction;
	if (minimumAmount !== undefined && !(typeof amount === 'number' && amount >= minimumAmount)) {
		return `The amount of the transaction ${statedAmount(amount)}; Filters > Minimum Amount in Reais asks for ${formatReais(minimumAmount)} or more.`;
	}
	return undefined;
}

function statedAmount(amount: Notice['amount']): string {
	if (amount === undefined) return 'is not stated';
	return amount === 'unreadable' ? 'cannot be read' : `is ${formatReais(amount)}`;
}

/** A value of a transaction, for people. */
export function stated(value: string): string {
	return value === '' ? 'not stated' : value;
}

/** The names of options in the form. */
export function optionNames(options: INodePropertyOptions[], values: readonly string[]): string {
	return values
		.map((value) => options.find((option) => option.value === value)?.name ?? value)
		.join(', ');
}
