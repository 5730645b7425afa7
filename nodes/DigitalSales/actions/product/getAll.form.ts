import { PRODUCT_STATUSES } from '../../api';
import type { Result } from '../../domain';
import {
	allowBlank,
	cleanTextSchema,
	countField,
	defineField,
	defineForm,
	defineGroup,
	defineOptions,
	type FormValues,
	parseWith,
	simplifyField,
	textField,
	wholeNumberSchema,
	yesNoField,
	yesNoSchema,
} from '../../form';

const categoriesSchema = parseWith((value): Result<number[] | undefined> => {
	const texts = (Array.isArray(value) ? value : String(value ?? '').split(','))
		.map((entry) => String(entry).trim())
		.filter((entry) => entry !== '');
	return texts.every((text) => /^\d+$/.test(text))
		? { value: texts.length > 0 ? texts.map(Number) : undefined }
		: { problem: 'must be whole numbers separated by commas, for example 3, 7' };
});

const filters = defineGroup(
	{ displayName: 'Filters', name: 'filters', placeholder: 'Add Filter' },
	[
		textField({
			displayName: 'Category IDs',
			name: 'categories',
			placeholder: 'e.g. 3, 7',
			description:
				'Category numbers, separated by commas. Products in any of these categories match.',
			reads: categoriesSchema,
		}),
		textField({
			displayName: 'Search',
			name: 'search',
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
			options: [
				{ name: 'Active', value: PRODUCT_STATUSES.active },
				{ name: 'Blocked', value: PRODUCT_STATUSES.blocked },
				{ name: 'In Review', value: PRODUCT_STATUSES.inReview },
				{ name: 'Inactive', value: PRODUCT_STATUSES.inactive },
			],
			description: 'Only products with this status',
			reads: allowBlank(wholeNumberSchema(1)),
		}),
	],
);

const options = defineOptions([
	countField({
		displayName: 'Page Size',
		name: 'pageSize',
		default: 100,
		description: 'How many products to request per page; by default 100',
	}),
]);

export const productsForm = defineForm([
	defineField({
		displayName: 'Return All',
		name: 'returnAll',
		type: 'boolean',
		default: false,
		description: 'Whether to return all results or only up to a given limit',
		reads: yesNoSchema,
	}),
	countField({
		displayName: 'Limit',
		name: 'limit',
		default: 50,
		description: 'Max number of results to return',
		displayOptions: { show: { returnAll: [false] } },
	}),
	yesNoField({
		displayName: 'Split Offers',
		name: 'splitOffers',
		description:
			'Whether to return one item per offer, with its product, instead of one item per product',
	}),
	simplifyField,
	filters,
	options,
]);

export type ProductsForm = FormValues<typeof productsForm>;
