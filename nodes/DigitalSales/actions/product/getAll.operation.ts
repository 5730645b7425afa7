import type { IDataObject } from 'n8n-workflow';
import { listProducts } from '../../api/products';
import { PRODUCT_STATUSES } from '../../api/schemas/product';
import type { Result } from '../../domain/result';
import { optional, parsed, textField, wholeNumberField, yesNoField } from '../../form/fields';
import { field, formOf, group } from '../../form/formOf';
import { outputUnitOption, simplifyOption } from '../../form/outputOptions';
import { readForm } from '../../form/readForm';
import { RATE_LIMIT_ADVICE, readingOptions, timeoutOption } from '../../form/requestOptions';
import { simplifyProduct } from '../../output/product';
import type { Operation } from '../operation';
import {
	listClientOptions,
	queryNames,
	queryNamesOption,
	requestLimitOptions,
} from './listOptions';

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
				'Part of the title, or the exact hash; upper case and accents do not matter in a title',
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
				'How many products to request per page. By default the node requests as many as are useful; the service may return fewer.',
		},
		optional(wholeNumberField(1)),
	),
	queryNamesOption,
	...requestLimitOptions,
	outputUnitOption,
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

const form = formOf([
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

/** Product > Get Many: GET /products (API document, Endpoint 4). */
export const getAllProducts: Operation = {
	name: 'Get Many',
	value: 'getAll',
	action: 'Get many products',
	description: 'List the products of the account and their offers',
	form,
	advice: {
		rateLimited: RATE_LIMIT_ADVICE,
		tooLarge: 'If it is right, set Options > Page Size to a smaller number.',
	},
	creates: false,
	prepare(run, itemIndex) {
		const choice = readForm(run.context, itemIndex, form);
		const { returnAll, limit, simplify, options } = choice;
		return {
			async send() {
				const { items, incomplete } = await listProducts(run.client(listClientOptions(options)), {
					...choice.filters,
					limit: returnAll ? undefined : (limit ?? 50),
					pageSize: options.pageSize,
					queryNames: queryNames(options),
				});
				if (incomplete !== undefined)
					run.hint(`The list of products may be incomplete: ${incomplete}.`);
				const rows = options.splitOffers ? items.flatMap(splitOffers) : items;
				return rows.map((json) => ({
					json: simplify ? simplifyProduct(json, options.outputUnit) : json,
				}));
			},
		};
	},
};

/** One row per offer of a product, the offer under `offer`; a product without offers keeps its row. */
function splitOffers(product: IDataObject): IDataObject[] {
	const { offers, ...rest } = product;
	if (!Array.isArray(offers) || offers.length === 0) return [{ ...rest, offer: null }];
	return offers.map((offer) => ({ ...rest, offer }));
}
