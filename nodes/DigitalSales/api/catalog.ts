import type { Account } from './account';
import type { CatalogPage, CatalogProduct } from './catalogPage';
import type { Client } from './client';
import { processWide } from '../shared/processWide';
import { PromiseCache } from '../shared/promiseCache';
import { fetchProductPage, refusesPageSize } from './products';
import { productSchema, type Product, type ProductPage } from './schemas/product';

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
 * One page of the catalog (API document, Endpoint 4: GET /products). Pages are remembered for a
 * moment, so that opening a list again does not spend the account's budget.
 *
 * @throws ServiceError, CanceledError
 */
export async function catalogPage(
	client: Client,
	search: string | undefined,
	page: number,
): Promise<CatalogPage> {
	const key = prefixOf(client.account) + JSON.stringify([search, page]);
	return await catalogPages.get(key, async () => await readPage(client, search, page));
}

/** The products that are remembered of an account's catalog, in no certain order. */
export async function rememberedProducts(account: Account): Promise<CatalogProduct[]> {
	const pages = await Promise.allSettled(catalogPages.list(prefixOf(account)));
	return pages.flatMap((page) => (page.status === 'fulfilled' ? page.value.products : []));
}

/** Forgets an account's catalog, because it was just changed. */
export function forgetCatalog(account: Account): void {
	catalogPages.forget(prefixOf(account));
}

function prefixOf({ key }: Account): string {
	return `${key} `;
}

async function readPage(
	client: Client,
	search: string | undefined,
	page: number,
): Promise<CatalogPage> {
	const { data, lastPage, hasNext } = await fetchPage(client, search, page);
	const isLast = data.length === 0 || (lastPage == null ? hasNext !== true : page >= lastPage);
	return { products: data.map((item) => shown(productSchema.parse(item))), isLast };
}

async function fetchPage(
	client: Client,
	search: string | undefined,
	page: number,
): Promise<ProductPage> {
	const sized = fetchProductPage(client, { search }, { page, pageSize: PAGE_SIZE });
	return await sized.catch(async (error: unknown) => {
		if (!refusesPageSize(error)) throw error;
		return await fetchProductPage(client, { search }, { page });
	});
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
