import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod';
import { listProducts } from '../../api/products';
import { simplifyProduct } from '../../output/product';
import { PRODUCT_STATUSES } from '../../api/schemas/product';
import { outputUnitField, outputUnitOption } from '../../form/amountUnit';
import { optional, textField, wholeNumberField, yesNoField } from '../../form/fields';
import { readForm } from '../../form/readForm';
import { readingOptions, requestOptionsShape, timeoutOption } from '../../form/requestOptions';
import { simplifyProperty } from '../../form/simplifyProperty';
import type { Operation } from '../operation';
import {
	listClientOptions,
	listOptionsShape,
	queryNames,
	queryNamesOption,
	requestLimitOptions,
} from './listOptions';
import { splitOffers } from './splitOffers';

const properties: INodeProperties[] = [
	{
		displayName: 'Return All',
		name: 'returnAll',
		type: 'boolean',
		default: false,
		description: 'Whether to return all results or only up to a given limit',
	},
	{
		displayName: 'Limit',
		name: 'limit',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 50,
		description: 'Max number of results to return',
		displayOptions: { show: { returnAll: [false] } },
	},
	simplifyProperty,
	{
		displayName: 'Filters',
		name: 'filters',
		type: 'collection',
		placeholder: 'Add Filter',
		default: {},
		options: [
			{
				displayName: 'Category IDs',
				name: 'categories',
				type: 'string',
				default: '',
				placeholder: 'e.g. 3, 7',
				description:
					'Category numbers, separated by commas. Products in any of these categories match.',
			},
			{
				displayName: 'Search',
				name: 'search',
				type: 'string',
				default: '',
				placeholder: 'e.g. curso',
				description:
					'Part of the title, or the exact hash; upper case and accents do not matter in a title',
			},
			{
				displayName: 'Status',
				name: 'status',
				type: 'options',
				default: 1,
				options: [
					{ name: 'Active', value: PRODUCT_STATUSES.active },
					{ name: 'Blocked', value: PRODUCT_STATUSES.blocked },
					{ name: 'In Review', value: PRODUCT_STATUSES.inReview },
					{ name: 'Inactive', value: PRODUCT_STATUSES.inactive },
				],
				description: 'Only products with this status',
			},
		],
	},
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options: [
			...readingOptions,
			{
				displayName: 'Page Size',
				name: 'pageSize',
				type: 'number',
				typeOptions: { minValue: 1 },
				default: 100,
				description:
					'How many products to request per page. By default the node requests as many as are useful; the service may return fewer.',
			},
			queryNamesOption,
			...requestLimitOptions,
			outputUnitOption,
			{
				displayName: 'Split Offers',
				name: 'splitOffers',
				type: 'boolean',
				default: false,
				description:
					'Whether to return one item per offer, with its product, instead of one item per product',
			},
			timeoutOption,
		],
	},
];

const categoriesField = z.unknown().transform((value, context): number[] | undefined => {
	const texts = (Array.isArray(value) ? value : String(value ?? '').split(','))
		.map((entry) => String(entry).trim())
		.filter((entry) => entry !== '');
	if (texts.every((text) => /^\d+$/.test(text)))
		return texts.length > 0 ? texts.map(Number) : undefined;
	context.addIssue({
		code: 'custom',
		message: 'must be whole numbers separated by commas, for example 3, 7',
	});
	return z.NEVER;
});

const schema = z.object({
	returnAll: yesNoField,
	limit: optional(wholeNumberField(1)),
	simplify: yesNoField,
	filters: z.object({
		categories: categoriesField,
		search: optional(textField),
		status: optional(wholeNumberField(1)),
	}),
	options: z.object({
		...requestOptionsShape,
		...listOptionsShape,
		outputUnit: outputUnitField,
		pageSize: optional(wholeNumberField(1)),
		splitOffers: optional(yesNoField),
	}),
});

/** Product > Get Many: GET /products (API document, Endpoint 4). */
export const getAllProducts: Operation = {
	name: 'Get Many',
	value: 'getAll',
	action: 'Get many products',
	description: 'List the products of the account and their offers',
	properties,
	serviceFields: {},
	creates: false,
	prepare(context, itemIndex) {
		const { returnAll, limit, simplify, filters, options } = readForm(
			context,
			itemIndex,
			properties,
			schema,
		);
		return {
			clientOptions: listClientOptions(options),
			async send({ client, hint }) {
				const { items, incomplete } = await listProducts(client, {
					...filters,
					limit: returnAll ? undefined : (limit ?? 50),
					pageSize: options.pageSize,
					queryNames: queryNames(options),
				});
				if (incomplete !== undefined)
					hint(`The list of products may be incomplete: ${incomplete}.`);
				const rows = options.splitOffers ? items.flatMap(splitOffers) : items;
				return rows.map((json) => ({
					json: simplify ? simplifyProduct(json, options.outputUnit) : json,
				}));
			},
		};
	},
};
