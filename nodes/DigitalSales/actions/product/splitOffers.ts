import type { IDataObject } from 'n8n-workflow';

/** One row per offer of a product, the offer under `offer`; a product without offers keeps its row. */
export function splitOffers(product: IDataObject): IDataObject[] {
	const { offers, ...rest } = product;
	if (!Array.isArray(offers) || offers.length === 0) return [{ ...rest, offer: null }];
	return offers.map((offer) => ({ ...rest, offer }));
}
