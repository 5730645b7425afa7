import { z } from 'zod';
import type { ClientOptions } from '../../api/client';
import { DEFAULT_QUERY_NAMES, type QueryNames } from '../../api/products';
import { PRODUCT_STATUSES } from '../../api/schemas/product';
import type { Result } from '../../domain/result';
import { optional, parsed, textField, wholeNumberField, yesNoField } from '../../form/fields';
import { field, formOf, group, type FormValues } from '../../form/formOf';
import { simplifyOption } from '../../form/outputOptions';
import { clientOptions, readingOptions, timeoutOption } from '../../form/requestOptions';

/** The rate limit of the account, if it is not the documented one. */
const requestLimitOptions = [
	field(
		{
			displayName: 'Request Limit',
			name: 'requestLimit',
			type: 'number',
			typeOptions: { minValue: 1 },
			default: 20,
			description:
				'How many product requests your account can make within the Request Limit Window. The documented limit is 20 in 60 seconds.',
		},
		optional(wholeNumberField(1)),
	),
	field(
		{
			displayName: 'Request Limit Window',
			name: 'requestLimitWindow',
			type: 'number',
			typeOptions: { minValue: 1 },
			default: 60,
			description: 'The length in seconds of the window that the Request Limit applies to',
		},
		optional(wholeNumberField(1)),
	),
];

const queryName = <const N extends keyof QueryNames>(
	displayName: string,
	name: N,
	what: string,
	initial = DEFAULT_QUERY_NAMES[name],
) =>
	field(
		{
			displayName,
			name,
			type: 'string',
			default: initial,
			description: `The parameter for ${what}`,
		},
		optional(textField).transform((typed) => typed ?? initial),
	);

const names = formOf([
	queryName('Categories', 'categories', 'the category IDs'),
	queryName('Page', 'page', 'the page number'),
	queryName('Page Size', 'pageSize', 'the number of products per page'),
	queryName('Search', 'search', 'the search text'),
	queryName('Status', 'status', 'the product status'),
]);

const queryNamesOption = field(
	{
		displayName: 'Query Parameter Names',
		name: 'queryParameterNames',
		type: 'fixedCollection',
		default: {},
		description:
			'The names that your service uses for its query parameters. Set them if a filter or the page size has no effect; the names are not documented.',
		options: [{ displayName: 'Names', name: 'names', values: names.properties }],
	},
	(reading) => z.object({ names: names.schema(reading).optional() }).optional(),
);

const categoriesField = parsed((value): Result<number[] | undefined> => {
	const texts = (Array.isArray(value) ? value : String(value ?? '').split(','))
		.map((entry) => String(entry).trim())
		.filter((entry) => entry !== '');
	return texts.every((text) => /^\d+$/.test(text))
		? { value: texts.length > 0 ? texts.map(Number) : undefined }
		: { problem: 'must be whole numbers separated by commas, for example 3, 7' };
});

const filters = group({ displayName: 'Filters', name: 'filters', placeholder: 'Add Filter' }, [
	field(
		{
			displayName: 'Category IDs',
			name: 'categories',
			type: 'string',
			default: '',
			placeholder: 'e.g. 3, 7',
			description:
				'Category numbers, separated by commas. Products in any of these categories match.',
		},
		categoriesField,
	),
	field(
		{
			displayName: 'Search',
			name: 'search',
			type: 'string',
			default: '',
			placeholder: 'e.g. curso',
			description:
				'Words that the service searches for. If it ignores the search, each word must be part of the title or the hash; order, upper case and accents do not matter.',
		},
		optional(textField),
	),
	field(
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
		optional(wholeNumberField(1)),
	),
]);

const options = group({ displayName: 'Options', name: 'options', placeholder: 'Add Option' }, [
	...readingOptions,
	field(
		{
			displayName: 'Page Size',
			name: 'pageSize',
			type: 'number',
			typeOptions: { minValue: 1 },
			default: 100,
			description:
				'How many products to request per page. Without this option, the node requests as many as are useful; the service may return fewer.',
		},
		optional(wholeNumberField(1)),
	),
	queryNamesOption,
	...requestLimitOptions,
	field(
		{
			displayName: 'Split Offers',
			name: 'splitOffers',
			type: 'boolean',
			default: false,
			description:
				'Whether to return one item per offer, with its product, instead of one item per product',
		},
		optional(yesNoField),
	),
	timeoutOption(),
]);

/** The form of Product > Get Many: GET /products (API document, Endpoint 4). */
export const productsForm = formOf([
	field(
		{
			displayName: 'Return All',
			name: 'returnAll',
			type: 'boolean',
			default: false,
			description: 'Whether to return all results or only up to a given limit',
		},
		yesNoField,
	),
	field(
		{
			displayName: 'Limit',
			name: 'limit',
			type: 'number',
			typeOptions: { minValue: 1 },
			default: 50,
			description: 'Max number of results to return',
			displayOptions: { show: { returnAll: [false] } },
		},
		optional(wholeNumberField(1)),
	),
	simplifyOption,
	filters,
	options,
]);

type ListOptions = FormValues<typeof productsForm>['options'];

/** The options in the units of the client. */
export function listClientOptions(options: ListOptions): ClientOptions {
	const { requestLimit, requestLimitWindow } = options;
	const isSet = requestLimit !== undefined || requestLimitWindow !== undefined;
	return {
		...clientOptions(options),
		productRate: isSet
			? { requests: requestLimit ?? 20, perMs: (requestLimitWindow ?? 60) * 1_000 }
			: undefined,
	};
}
