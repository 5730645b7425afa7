import type { IDataObject } from 'n8n-workflow';
import { listProducts, SHARES } from '../../api';
import { simplifyProduct } from '../../output';
import type { Operation } from '../operation';
import { productsForm, type ProductsForm } from './getAll.form';

/** Product > Get Many: GET /products (API document, Endpoint 4). */
export const getAllProducts: Operation<ProductsForm> = {
	resource: 'product',
	name: 'Get Many',
	value: 'getAll',
	action: 'Get many products',
	description: 'List the products of the account and their offers',
	form: productsForm,
	kind: 'list',
	async send(run, _itemIndex, form) {
		const { returnAll, limit = 50, splitOffers: isSplit = false, simplify } = form;
		const { filters, options } = form;
		const { rows, incomplete } = await listProducts(
			(ended) => run.newClient({ share: SHARES.gets, signal: ended }),
			{ ...filters, limit: returnAll ? undefined : limit, pageSize: options.pageSize },
			isSplit ? splitOffers : undefined,
		);
		if (incomplete !== undefined) {
			run.addHint(`The list of products may be incomplete: ${incomplete}.`);
		}
		return rows.map((json) => ({ json: simplify ? simplifyProduct(json, isSplit) : json }));
	},
};

/** A product without offers keeps its row. */
function splitOffers(product: IDataObject): IDataObject[] {
	const { offers, ...rest } = product;
	const present = Array.isArray(offers) ? offers.filter((offer) => offer !== null) : [];
	return (present.length > 0 ? present : [null]).map((offer) => ({ ...rest, offer }));
}
