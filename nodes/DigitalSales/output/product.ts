import { findKey, lowerCase, minBy } from 'lodash';
import type { IDataObject } from 'n8n-workflow';
import { offerSchema, PRODUCT_STATUSES, productSchema } from '../api';
import { inReais } from '../domain';

/** A product with its cheapest offer, or one row of Split Offers, as ten flat fields. */
export function simplifyProduct(row: IDataObject, isSplit = false): IDataObject {
	const product = productSchema.parse(row);
	const { offers } = product;
	const shown = isSplit
		? offerSchema.safeParse(row.offer).data
		: minBy(offers, ({ price }) => price ?? Infinity);

	return {
		product_hash: product.hash ?? null,
		title: product.title ?? null,
		status: productStatusName(product.status) ?? null,
		category_id: product.id_category ?? null,
		sale_page: product.sale_page ?? null,
		offer_hash: shown?.hash ?? null,
		offer_title: shown?.title ?? null,
		price_reais: inReais(shown?.price),
		checkout_url: shown?.url ?? null,
		...(isSplit ? { interval: shown?.interval ?? null } : { offers: offers.length }),
	};
}

/** An unknown code stays a number (API document, Product). */
export function productStatusName(status: number | null | undefined) {
	return lowerCase(findKey(PRODUCT_STATUSES, (code) => code === status)) || status;
}
