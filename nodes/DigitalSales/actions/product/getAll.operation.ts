import type { IDataObject } from 'n8n-workflow';
import { listProducts } from '../../api/products';
import { readForm } from '../../form/readForm';
import { RATE_LIMIT_ADVICE } from '../../form/requestOptions';
import { simplifyProduct } from '../../output/product';
import type { Operation } from '../operation';
import { listClientOptions, productsForm, queryNames } from './getAll.form';

/** Product > Get Many: GET /products (API document, Endpoint 4). */
export const getAllProducts: Operation = {
	name: 'Get Many',
	value: 'getAll',
	action: 'Get many products',
	description: 'List the products of the account and their offers',
	form: productsForm,
	advice: {
		rateLimited: RATE_LIMIT_ADVICE,
		tooLarge: 'If it is right, set Options > Page Size to a smaller number.',
	},
	creates: false,
	prepare(run, itemIndex) {
		const choice = readForm(run.context, itemIndex, productsForm);
		const { returnAll, limit, simplify, options } = choice;
		return {
			async send() {
				const { items, incomplete } = await listProducts(
					(ended) => run.client({ ...listClientOptions(options), signal: ended }),
					{
						...choice.filters,
						limit: returnAll ? undefined : (limit ?? 50),
						pageSize: options.pageSize,
						queryNames: queryNames(options),
					},
				);
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
