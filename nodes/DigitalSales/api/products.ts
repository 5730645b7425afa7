import type { IDataObject } from 'n8n-workflow';
import { composed, finder } from '../domain/text';
import type { Client } from './client';
import { isSamePage, listPages, type Listing } from './pagination';
import { isSold, productSchema, readProductPage, type ProductPage } from './schemas/product';
import { markPricesSeen } from './seenPrices';
import { ServiceError, type FailedOutcome } from './outcome';

/**
 * The likely names: the API document (Endpoint 4) shows none. A service ignores a wrong name silently,
 * so filters are applied here if it does.
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
	/** What the service finds; words in the title or the hash if it ignores the search. */
	search?: string;
	categories?: number[];
	status?: number;
}

interface ProductQuery extends ProductFilters {
	queryNames?: Partial<QueryNames>;
}

interface ListQuery extends ProductQuery {
	/** How many rows to give at most, counted after the filters; undefined gives all. */
	limit?: number;
	/** Products per page; undefined asks for as many as are useful. */
	pageSize?: number;
}

export interface ProductListing extends Listing {
	/** The filters that make no difference to the service, and were applied here. */
	ignored: Array<keyof ProductFilters>;
}

/** The service's own maximum is not documented. */
const LARGEST_PAGE_SIZE = 250;

/**
 * Lists products (API document, Endpoint 4: GET /products), page by page within the budget. Where the
 * service has filtered, its answer counts, since how it compares is not documented.
 *
 * @param clientUntil gives a client that waits no longer once the signal says that the listing has
 * ended: behind a page that failed, those in line would only spend the budget
 * @param rowsOf what to give of a product
 * @returns the products as the service sent them; offers' prices are in cents
 * @throws ServiceError
 */
export async function listProducts(
	clientUntil: (ended: AbortSignal) => Client,
	query: ListQuery,
	rowsOf: (product: IDataObject) => IDataObject[] = (product) => [product],
): Promise<ProductListing> {
	const ending = new AbortController();
	const client = clientUntil(ending.signal);
	const filters = filtersOf(query);
	const fetch = sized(
		async (pageSize, page: number, asked: ProductQuery) =>
			await fetchProductPage(client, asked, { page, pageSize }),
		query.pageSize ?? (filters.size > 0 ? LARGEST_PAGE_SIZE : usefulPageSize(query)),
	);
	let first: ProductPage = { data: [] };
	const fetchPage = async (page: number): Promise<ProductPage> => {
		const fetched = await fetch(page, query);
		if (page === 1) first = fetched;
		return fetched;
	};
	const ignored: ProductListing['ignored'] = [];
	const applied: Filter[] = [];
	const filtered = async (products: IDataObject[]): Promise<IDataObject[]> => {
		for (const [name, matches] of filters) {
			if (products.every(matches)) continue;
			filters.delete(name);
			if (!isSamePage(first, await fetch(1, { ...query, [name]: undefined }))) continue;
			ignored.push(name);
			applied.push(matches);
		}
		return products.filter((product) => applied.every((matches) => matches(product)));
	};
	const listing = listPages({
		fetchPage,
		limit: query.limit,
		rowsOf: async (products) => (await filtered(products)).flatMap(rowsOf),
	});
	return { ...(await listing.finally(() => ending.abort())), ignored };
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
	// Titles are usually stored in this form, whatever the keyboard sends.
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

type Filter = (product: IDataObject) => boolean;

/** The filters that are set, as they are applied here. What cannot be read does not match. */
function filtersOf(query: ProductFilters): Map<keyof ProductFilters, Filter> {
	const { search, categories, status } = query;
	const { title, hash, id_category: category, status: code } = productSchema.shape;
	const filters = new Map<keyof ProductFilters, Filter>();
	if (search) {
		const isFound = finder(search);
		filters.set('search', (one) => isFound([title.parse(one.title), hash.parse(one.hash)]));
	}
	if (categories?.length) {
		filters.set('categories', (one) =>
			categories.some((id) => id === category.parse(one.id_category)),
		);
	}
	if (status !== undefined) filters.set('status', (one) => code.parse(one.status) === status);
	return filters;
}

function usefulPageSize({ limit = Infinity }: ListQuery): number {
	return Math.min(LARGEST_PAGE_SIZE, limit);
}

/**
 * Reads pages of a size, or of the service's own if it refuses the first one: which sizes are allowed
 * is not documented.
 */
export function sized<A extends unknown[], T>(
	fetch: (pageSize: number | undefined, ...asked: A) => Promise<T>,
	pageSize: number,
): (...asked: A) => Promise<T> {
	let size: number | undefined = pageSize;
	let isTaken = false;
	return async (...asked) => {
		const fetched = await fetch(size, ...asked).catch(async (error: unknown) => {
			const isRefused = error instanceof ServiceError && refusesPageSize(error.outcome);
			if (isTaken || !isRefused) throw error;
			isTaken = true;
			size = undefined;
			return await fetch(size, ...asked);
		});
		isTaken = true;
		return fetched;
	};
}

/** Whether the size may be the reason: not if the token or the address is. */
function refusesPageSize({ kind, status = 0 }: FailedOutcome): boolean {
	return kind === 'rejected' && ![401, 403, 404, 405].includes(status);
}
