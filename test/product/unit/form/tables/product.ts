import { OUTPUT_UNIT, row, SIMPLIFY, timeout, TRIES_OF_READING, type FormTable } from '../table';

const NAMES = 'options.queryParameterNames.names';

export const listProducts: FormTable = {
	name: 'Product > Get Many',
	chosenBy: { resource: 'product', operation: 'getAll' },
	rows: [
		row('returnAll', 'boolean', false, 'all results'),
		row('limit', 'number', 50, 'Max number of results', { when: { returnAll: [false] } }),
		SIMPLIFY,
		row('filters', 'collection', {}),
		row('filters.categories', 'string', '', 'separated by commas'),
		row('filters.search', 'string', '', 'Part of the title'),
		row('filters.status', 'options', 1, 'with this status', { choices: [1, 4, 3, 2] }),
		row('options', 'collection', {}),
		...TRIES_OF_READING,
		row('options.pageSize', 'number', 100, 'per page'),
		row('options.queryParameterNames', 'fixedCollection', {}, 'names are not documented'),
		row(`${NAMES}.categories`, 'string', 'categories', 'category IDs'),
		row(`${NAMES}.page`, 'string', 'page', 'page number'),
		row(`${NAMES}.pageSize`, 'string', 'per_page', 'products per page'),
		row(`${NAMES}.search`, 'string', 'search', 'search text'),
		row(`${NAMES}.status`, 'string', 'status', 'product status'),
		row('options.requestLimit', 'number', 20, '20 in 60 seconds'),
		row('options.requestLimitWindow', 'number', 60, 'in seconds'),
		OUTPUT_UNIT,
		row('options.splitOffers', 'boolean', false, 'one item per offer'),
		timeout(60),
	],
};
