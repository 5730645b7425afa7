import type { Offer } from './schemas/offer';
import type { Product } from './schemas/product';

/** One page of the catalog, of each product only what lists and lookups need. */
export interface CatalogPage {
	products: CatalogProduct[];
	isLast: boolean;
}

export type CatalogProduct = Pick<Product, 'hash' | 'title' | 'cover' | 'sale_page' | 'status'> & {
	offers: CatalogOffer[];
};

export type CatalogOffer = Pick<Offer, 'hash' | 'title' | 'price' | 'url' | 'interval'>;
