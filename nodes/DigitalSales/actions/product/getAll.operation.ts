import { castArray, map, sortBy, startCase } from 'lodash';
import type { IDataObject } from 'n8n-workflow';
import { listProducts, PRODUCT_STATUSES } from '../../api';
import {
	allowBlank,
	cleanTextSchema,
	countField,
	defineField,
	defineForm,
	defineGroup,
	defineOptions,
	type FormValues,
	parseTexts,
	parseWith,
	simplifyField,
	textField,
	wholeNumberSchema,
	yesNoField,
	yesNoSchema,
} from '../../form';
import { simplifyProduct } from '../../output';
import type { ReadOperation } from '../operation';

/** One message for the list, however long it is. */
const categoriesSchema = parseWith((typed) => parseTexts(castArray<unknown>(typed).map(String)))
	.refine(
		(texts) => texts.every((text) => /^\d+$/.test(text)),
		'must be whole numbers separated by commas, for example 3, 7',
	)
	.transform((texts) => texts.map(Number));

const filters = defineGroup('Filters', 'filters', { placeholder: 'Add Filter' }, [
	textField('Category IDs', 'categories', {
		placeholder: 'e.g. 3, 7',
		description:
			'Category numbers, separated by commas. Products in any of these categories match.',
		reads: allowBlank(categoriesSchema),
	}),
	textField('Search', 'search', {
		placeholder: 'e.g. curso',
		description:
			'Words of the title or the hash. The platform may find them only in this order, and with these accents.',
		reads: allowBlank(cleanTextSchema),
	}),
	defineField({
		displayName: 'Status',
		name: 'status',
		type: 'options',
		default: 1,
		options: sortBy(
			map(PRODUCT_STATUSES, (value, name) => ({ name: startCase(name), value })),
			'name',
		),
		description: 'Only products with this status',
		reads: allowBlank(wholeNumberSchema(1)),
	}),
]);

const productsForm = defineForm([
	defineField({
		displayName: 'Return All',
		name: 'returnAll',
		type: 'boolean',
		default: false,
		description: 'Whether to return all results or only up to a given limit',
		reads: yesNoSchema,
	}),
	countField('Limit', 'limit', {
		default: 50,
		description: 'Max number of results to return',
		displayOptions: { show: { returnAll: [false] } },
	}),
	yesNoField('Split Offers', 'splitOffers', {
		description:
			'Whether to return one item per offer, with its product, instead of one item per product',
	}),
	simplifyField,
	filters,
	defineOptions([
		countField('Page Size', 'pageSize', {
			default: 100,
			description: 'How many products to request per page; by default 100',
		}),
	]),
]);

/** Product > Get Many: GET /products (API document, Endpoint 4). */
export const getAllProducts: ReadOperation<FormValues<typeof productsForm>> = {
	resource: 'product',
	name: 'Get Many',
	value: 'getAll',
	action: 'Get many products',
	description: 'List the products of the account and their offers',
	form: productsForm,
	kind: 'list',
	async read(run, form) {
		const isSplit = form.splitOffers === true;
		const limit = form.returnAll ? Infinity : (form.limit ?? 50);
		const query = { ...form.filters, ...form.options, limit };
		const rowsOf = isSplit ? splitOffers : undefined;

		const client = run.newClient();
		const { rows, incomplete } = await listProducts(client, query, rowsOf);
		if (incomplete !== undefined) {
			run.addHint(`The list of products may be incomplete: ${incomplete}.`);
		}

		return rows.map((row) => ({ json: form.simplify ? simplifyProduct(row, isSplit) : row }));
	},
};

/** A product without offers keeps its row. */
function splitOffers(product: IDataObject): IDataObject[] {
	const { offers, ...rest } = product;
	const present = Array.isArray(offers) ? offers.filter((offer) => offer !== null) : [];
	if (present.length === 0) return [{ ...rest, offer: null }];

	return present.map((offer) => ({ ...rest, offer }));
}
