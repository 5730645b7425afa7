import type { IDataObject } from 'n8n-workflow';
import type { AmountUnit } from '../domain/money';
import { productStatusName } from './productStatus';
import { offerSchema, type Offer } from '../api/schemas/offer';
import { productSchema } from '../api/schemas/product';
import { amountField } from './amountField';

/**
 * A product, or one row of Split Offers, as at most ten flat fields. The price is `price_reais`, or
 * `price` in integer cents. Only the cheapest offer is shown, and `offers` counts them.
 */
export function simplifyProduct(row: IDataObject, unit?: AmountUnit, isSplit = false): IDataObject {
	const product = productSchema.parse(row);
	const { offers } = product;
	const shown: Partial<Offer> | undefined = isSplit
		? offerSchema.safeParse(row.offer).data
		: cheapest(offers);
	return {
		product_hash: product.hash ?? null,
		title: product.title ?? null,
		status: product.status == null ? null : productStatusName(product.status),
		category_id: product.id_category ?? null,
		sale_page: product.sale_page ?? null,
		offer_hash: shown?.hash ?? null,
		offer_title: shown?.title ?? null,
		...amountField('price', shown?.price, unit),
		checkout_url: shown?.url ?? null,
		...(isSplit ? { interval: shown?.interval ?? null } : { offers: offers.length }),
	};
}

function cheapest(offers: Offer[]): Offer | undefined {
	return offers.reduce<Offer | undefined>(
		(best, offer) =>
			(offer.price ?? Infinity) < (best?.price ?? Infinity) ? offer : (best ?? offer),
		undefined,
	);
}
