import { processWide } from '../shared/processWide';
import { PromiseCache } from '../shared/promiseCache';
import type { Account } from './account';
import type { Client } from './client';
import { pages, type NewItems } from './pagination';
import { fetchProductPage, refusesPageSize } from './products';
import type { Offer } from './schemas/offer';
import { productSchema, type Product, type ProductPage } from './schemas/product';

/** Of a product only what lists and lookups need. */
export type CatalogProduct = Pick<Product, 'hash' | 'title' | 'cover' | 'sale_page' | 'status'> & {
	offers: CatalogOffer[];
};

export type CatalogOffer = Pick<Offer, 'hash' | 'title' | 'price' | 'url' | 'interval'>;

type CatalogPage = ProductPage<CatalogProduct>;

/** Products on one page of what lists show; a service may give fewer. */
const PAGE_SIZE = 100;
/** Long enough to look through a list and come back, short enough to see what was changed meanwhile. */
const REMEMBERED_MS = 45_000;

/**
 * Pages of catalogs by account, search and number.
 *
 * @internal
 */
export const catalogPages = processWide(
	new PromiseCache<CatalogPage>({ most: 60, keptMs: REMEMBERED_MS }),
);

/**
 * The pages of the catalog (API document, Endpoint 4: GET /products), up to the first one without
 * anything new. They are remembered for a moment, so that opening a list again does not spend the
 * account's budget.
 *
 * @throws ServiceError, CanceledError
 */
export function readCatalog(
	client: Client,
	query: { search?: string; from?: number; maxPages?: number } = {},
): AsyncGenerator<NewItems<CatalogProduct>> {
	const { search, ...range } = query;
	const fetchPage = async (page: number): Promise<CatalogPage> => {
		const key = prefixOf(client.account) + JSON.stringify([search, page]);
		return await catalogPages.get(key, async () => await fetchCatalogPage(client, search, page));
	};
	return pages({ ...range, fetchPage, mostBarren: 1 });
}

/** The products that are remembered of an account's catalog, in no certain order. */
export async function rememberedProducts(account: Account): Promise<CatalogProduct[]> {
	const known = await Promise.allSettled(catalogPages.list(prefixOf(account)));
	return known.flatMap((page) => (page.status === 'fulfilled' ? page.value.data : []));
}

/** Forgets an account's catalog, because it was just changed. */
export function forgetCatalog(account: Account): void {
	catalogPages.forget(prefixOf(account));
}

function prefixOf({ key }: Account): string {
	return `${key} `;
}

async function fetchCatalogPage(
	client: Client,
	search: string | undefined,
	page: number,
): Promise<CatalogPage> {
	const sized = fetchProductPage(client, { search }, { page, pageSize: PAGE_SIZE });
	const fetched = await sized.catch(async (error: unknown) => {
		if (!refusesPageSize(error)) throw error;
		return await fetchProductPage(client, { search }, { page });
	});
	return { ...fetched, data: fetched.data.map((item) => shown(productSchema.parse(item))) };
}

function shown({ hash, title, cover, sale_page, status, offers }: Product): CatalogProduct {
	return {
		hash,
		title,
		cover,
		sale_page,
		status,
		offers: offers.map(({ hash, title, price, url, interval }) => ({
			hash,
			title,
			price,
			url,
			interval,
		})),
	};
}
