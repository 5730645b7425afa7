import type { IDataObject } from 'n8n-workflow';
import { composed, searchKey } from '../domain/text';
import type { Client } from './client';
import { listPages, type Listing } from './pagination';
import { isSold, productSchema, readProductPage, type ProductPage } from './schemas/product';
import { markPricesSeen } from './seenPrices';
import { ServiceError } from './outcome';

/**
 * The likely names: the API document (Endpoint 4) shows none. A service ignores a wrong name silently,
 * so filters are applied again here.
 */
const DEFAULT_QUERY_NAMES = {
	search: 'search',
	categories: 'categories',
	status: 'status',
	pageSize: 'per_page',
	page: 'page',
} as const;

export type QueryNames = Record<keyof typeof DEFAULT_QUERY_NAMES, string>;

export interface ProductFilters {
	/** A part of the title (case and accents ignored) or the exact hash. */
	search?: string;
	categories?: number[];
	status?: number;
}

export interface ProductQuery extends ProductFilters {
	/** How many products to give at most, counted after the filters; undefined gives all. */
	limit?: number;
	/** Products per page; undefined asks for as many as are useful. */
	pageSize?: number;
	queryNames?: Partial<QueryNames>;
}

/** The service's own maximum is not documented. */
const LARGEST_PAGE_SIZE = 250;

/**
 * Lists products (API document, Endpoint 4: GET /products), page by page within the budget.
 *
 * @param clientUntil gives a client that waits no longer once the signal says that the listing has
 * ended: behind a page that failed, those in line would only spend the budget
 * @returns the products as the service sent them; offers' prices are in cents
 * @throws ServiceError
 */
export async function listProducts(
	clientUntil: (ended: AbortSignal) => Client,
	query: ProductQuery,
): Promise<Listing> {
	const ending = new AbortController();
	const client = clientUntil(ending.signal);
	let pageSize = query.pageSize ?? usefulPageSize(query);
	const fetchPage = async (page: number): Promise<ProductPage> =>
		await fetchProductPage(client, query, { page, pageSize }).catch(async (error: unknown) => {
			if (page > 1 || query.pageSize !== undefined || !refusesPageSize(error)) throw error;
			// Which sizes are allowed is not documented: without one the service takes its own.
			pageSize = undefined;
			return await fetchProductPage(client, query, { page });
		});
	const listing = listPages({ fetchPage, limit: query.limit, keep: productFilter(query) });
	return await listing.finally(() => ending.abort());
}

/** Fetches one page of products, unfiltered beyond what the service itself does. */
export async function fetchProductPage(
	client: Client,
	query: ProductQuery,
	{ page, pageSize }: { page: number; pageSize?: number },
): Promise<ProductPage> {
	const names = { ...DEFAULT_QUERY_NAMES, ...query.queryNames };
	const parameters: IDataObject = { [names.page]: page };
	if (pageSize !== undefined) parameters[names.pageSize] = pageSize;
	// Titles are most likely stored in this form, whatever the keyboard sends.
	if (query.search) parameters[names.search] = composed(query.search);
	if (query.categories?.length) parameters[names.categories] = query.categories.join(',');
	if (query.status !== undefined) parameters[names.status] = query.status;
	const fetched = await client.request(
		{ endpoint: 'GET /products', path: '/products', query: parameters },
		readProductPage,
	);
	for (const product of fetched.data) {
		if (isSold(product)) markPricesSeen(client.account, product.offers);
	}
	return fetched;
}

/** Decides whether a product matches, whatever the service did with the filters. */
function productFilter(filters: ProductFilters): (item: IDataObject) => boolean {
	const { search, categories, status } = filters;
	if (!search && !categories?.length && status === undefined) return () => true;
	const wanted = search ? searchKey(search) : undefined;
	return (item) => {
		const { title, hash, id_category, status: productStatus } = productSchema.parse(item);
		if (wanted && hash !== search && !searchKey(title ?? '').includes(wanted)) return false;
		if (categories?.length && !categories.some((id) => id === id_category)) return false;
		return status === undefined || productStatus === status;
	};
}

function usefulPageSize(query: ProductQuery): number | undefined {
	const filtered = query.search || query.categories?.length || query.status !== undefined;
	if (query.limit === undefined || filtered) return LARGEST_PAGE_SIZE;
	return Math.min(LARGEST_PAGE_SIZE, query.limit);
}

/** Whether the service refused a page for its size: which sizes are allowed is not documented. */
export function refusesPageSize(error: unknown): boolean {
	return (
		error instanceof ServiceError && (error.outcome.status === 400 || error.outcome.status === 422)
	);
}
