import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import mapValues from 'lodash/mapValues';
import { z } from 'zod';
import type { Transaction } from '../api/schemas/transaction';
import { formatReais } from '../domain/money';
import { moneyField, required } from '../form/fields';
import { listedBy, locatorField } from '../form/locators';
import { isJsonObject } from '../shared/json';

const PAYMENT_METHOD_OPTIONS: INodePropertyOptions[] = [
	{ name: 'Boleto', value: 'boleto' },
	{ name: 'Card', value: 'credit_card' },
	{ name: 'PIX', value: 'pix' },
];

/** Other names of a payment method; the API document does not show what the service calls boleto. */
const METHOD_NAMES: Readonly<Record<string, readonly string[]>> = { boleto: ['boleto', 'billet'] };

/**
 * The lists Products and Offers of the trigger node. They stand in the form itself: n8n drops a list
 * without an entry from a collection, so a filter that was added and forgotten would let everything in.
 */
export const soldProperties: INodeProperties[] = [
	pickFilter({
		label: 'Product',
		name: 'product',
		choose: 'Choose a product ...',
		searchMethod: 'searchProducts',
		hash: 'e.g. prodab12cd',
	}),
	pickFilter({
		label: 'Offer',
		name: 'offer',
		choose: 'Choose an offer ...',
		searchMethod: 'searchOffers',
		hash: 'e.g. offer12ab',
	}),
];

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
				'Only transactions of this amount or more. Enter the lowest amount that a customer can pay, coupons and discounts included. A transaction without an amount does not start the workflow.',
		},
		{
			displayName: 'Payment Methods',
			name: 'paymentMethods',
			type: 'multiOptions',
			options: PAYMENT_METHOD_OPTIONS,
			default: [],
			description: 'Only transactions paid in one of these ways',
		},
	],
};

/** Any number of products or offers, each picked from a list. */
function pickFilter({
	label,
	name,
	...texts
}: Parameters<typeof listedBy>[0] & { label: string; name: string }): INodeProperties {
	const description = `The ${name} that was sold`;
	const entry = { displayName: label, name, required: true, description, ...listedBy(texts) };
	return {
		displayName: `${label}s`,
		name: `${name}s`,
		type: 'fixedCollection',
		typeOptions: { multipleValues: true },
		placeholder: `Add ${label}`,
		default: {},
		description: `Only sales of these ${name}s. If a cart has several, only the main ${name} counts, which the service states for the transaction. Without an entry, sales of all ${name}s start the workflow.`,
		options: [{ displayName: label, name: 'items', values: [entry] }],
	};
}

/** A list, also as a string with commas or semicolons; blanks and empty entries are dropped. */
export const listField = z
	.union([z.array(z.string()), z.string().transform((value) => [value])], {
		errorMap: () => ({ message: 'must be a list, separated by commas' }),
	})
	.transform((values) =>
		values
			.flatMap((value) => value.split(/[,;]/))
			.map((value) => value.trim())
			.filter((value) => value !== ''),
	);

/** A list of at least one string. */
export const filledListField = listField.refine(
	(values) => values.length > 0,
	'is empty; fill it in',
);

/** In no hash: blanks, quotes and separators, which an entry of several hashes or a placeholder has. */
const NOT_IN_HASH = /[\s,;"'`´\p{Pi}\p{Pf}]/u;

/** Compared as it is. An address is not looked up: a notice may cost no request for a filter. */
const hashField = locatorField.transform(({ hash, address }, context) => {
	const text = address ?? hash;
	if (address === undefined && !NOT_IN_HASH.test(text)) return hash;
	context.addIssue({
		code: 'custom',
		message: `is "${text}", which is not a hash; choose from the list or enter one hash`,
	});
	return z.NEVER;
});

/** The hashes of a list, of which there may be none. */
function hashesOf<T extends z.ZodType<string, z.ZodTypeDef, unknown>>(entry: T) {
	return z
		.object({ items: z.array(entry).default([]) })
		.transform(({ items }): string[] | undefined => (items.length > 0 ? items : undefined));
}

/** The products and offers of the trigger; undefined if all of them start the workflow. */
export const soldFields = {
	offers: hashesOf(z.object({ offer: hashField }).transform(({ offer }) => offer)),
	products: hashesOf(z.object({ product: hashField }).transform(({ product }) => product)),
};

const filtersSchema = z.object({
	/** In integer cents. */
	minimumAmount: required(moneyField('reais')).optional(),
	paymentMethods: required(filledListField).optional(),
});

/**
 * The filters of the trigger. One that is set but unreadable was meant to keep something out, so it is
 * an error and never ignored; so is one whose expression gives nothing.
 */
export const filtersField = z.preprocess(
	(filters) => (isJsonObject(filters) ? mapValues(filters, (value) => value ?? null) : filters),
	filtersSchema,
);

interface Selection {
	filters: z.output<typeof filtersSchema>;
	offers?: string[];
	products?: string[];
}

/** Why a transaction is not selected, in the words of the form; undefined if it is. */
export function whyFiltered(
	{ filters, offers, products }: Selection,
	transaction: Transaction,
): string | undefined {
	const { paymentMethods, minimumAmount } = filters;
	const paymentMethod = transaction.payment_method ?? '';
	const offerHash = transaction.offer?.hash ?? '';
	const productHash = transaction.product?.hash ?? '';
	const methods = paymentMethods?.flatMap((method) => METHOD_NAMES[method] ?? [method]);
	if (paymentMethods && !methods?.includes(paymentMethod)) {
		return `The payment method of the transaction is ${stated(paymentMethod)}; Filters > Payment Methods asks for ${optionNames(PAYMENT_METHOD_OPTIONS, paymentMethods)}.`;
	}
	if (offers && !offers.includes(offerHash)) {
		return `The offer of the transaction is ${stated(offerHash)}; Offers asks for ${offers.join(', ')}.`;
	}
	if (products && !products.includes(productHash)) {
		return `The product of the transaction is ${stated(productHash)}; Products asks for ${products.join(', ')}.`;
	}
	if (minimumAmount !== undefined && !((transaction.amount ?? -1) >= minimumAmount)) {
		return `The amount of the transaction ${statedAmount(transaction)}; Filters > Minimum Amount in Reais asks for ${formatReais(minimumAmount)} or more.`;
	}
	return undefined;
}

function statedAmount({ amount, json }: Transaction): string {
	if (amount != null) return `is ${formatReais(amount)}`;
	return json.amount == null || json.amount === '' ? 'is not stated' : 'cannot be read';
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
