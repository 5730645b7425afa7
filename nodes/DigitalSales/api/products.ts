import type { IDataObject } from 'n8n-workflow';
import { composed, finder } from '../domain/text';
import type { Client, Recording } from './client';
import { isSamePage, pages } from './pagination';
import {
	type ProductPage,
	isSold,
	offerSchema,
	productSchema,
	readProductPage,
} from './schemas/product';
import { ServiceError } from './outcome';
import { BoundedMap, processWide } from '../shared/processWide';
import { isJsonObject } from '../shared/json';
import type { Account } from './account';
import { hashSegment } from '../domain/hash';
import { readResource } from './schemas/lenient';

/** As the service sent them, by account and offer: of thousands that a list brings, a charge reads one. */
const seenPrices = processWide(new BoundedMap<string | number>({ most: 10_000 }));

/** Remembers the prices of offers that the service just sent. */
export function markPricesSeen(account: Account, offers: unknown): void {
	if (!Array.isArray(offers)) return;
	for (const { hash, price } of offers.filter(isJsonObject)) {
		const key = keyOf(account, hash);
		if (typeof price !== 'string' && typeof price !== 'number') seenPrices.delete(key);
		// To move thousands of entries to the end at each list would cost more than it gives.
		else if (seenPrices.get(key) !== price) seenPrices.set(key, price);
	}
}

/** The price in cents that this process last saw of an offer. Undefined means unknown, not absent. */
export function seenPrice(account: Account, hash: string): number | undefined {
	return offerSchema.shape.price.parse(seenPrices.get(keyOf(account, hash))) ?? undefined;
}

function keyOf({ key }: Account, hash: IDataObject[string]): string {
	return `${key.slice(0, 16)} ${String(hash)}`;
}

/**
 * The likely names: the API document (Endpoint 4) shows none. A service ignores a wrong name silently,
 * so filters are applied here if it does.
 */
export const DEFAULT_QUERY_NAMES = {
	search: 'search',
	categories: 'categories',
	status: 'status',
	pageSize: 'per_page',
	page: 'page',
};

export type QueryNames = typeof DEFAULT_QUERY_NAMES;

export interface ProductFilters {
	/** What the service finds; words in the title or the hash if it ignores the search. */
	search?: string;
	categories?: number[];
	status?: number;
}

interface ProductQuery extends ProductFilters {
	/** Products per page. */
	pageSize?: number;
	queryNames?: QueryNames;
}

interface Listing {
	rows: IDataObject[];
	/** Why the list may lack something, in words for the user; undefined if it is complete. */
	incomplete?: string;
	/** The filters that make no difference to the service, and were applied here. */
	ignored: Array<keyof ProductFilters>;
}

/** The service's own maximum is not documented. */
const LARGEST_PAGE_SIZE = 250;

/**
 * Lists products (API document, Endpoint 4: GET /products), page by page within the budget.
 *
 * @param clientUntil gives a client that waits no longer once the signal says that the listing has
 * ended: behind a page that failed, those in line would only spend the budget
 * @param query `limit` counts rows, after the filters; without a page size as many are asked for as are useful
 * @param rowsOf what to give of a product
 * @returns the products as the service sent them; offers' prices are in cents
 * @throws ServiceError
 */
export async function listProducts(
	clientUntil: (ended: AbortSignal) => Client,
	{ limit = Infinity, ...query }: ProductQuery & { limit?: number },
	rowsOf: (product: IDataObject) => IDataObject[] = (product) => [product],
): Promise<Listing> {
	const ending = new AbortController();
	const client = clientUntil(ending.signal);
	const filters = filtersOf(query);
	const read = sized(
		async (pageSize, page: number, asked: ProductQuery) =>
			await fetchProductPage(client, { ...asked, page, pageSize }),
		query.pageSize ?? Math.min(LARGEST_PAGE_SIZE, filters.size > 0 ? Infinity : limit),
	);
	let first: ProductPage | undefined;
	const ignored: Listing['ignored'] = [];
	const filtered = applied(filters, async (name) => {
		const without = await read(1, { ...query, [name]: undefined });
		const isIgnored = first !== undefined && isSamePage(first, without);
		if (isIgnored) ignored.push(name);
		return isIgnored;
	});
	const rows: IDataObject[] = [];
	const reading = pages({
		fetchPage: async (page) => await read(page, query),
		wanted: () => limit - rows.length,
	});
	try {
		for (;;) {
			const { done, value } = await reading.next();
			if (done) return { rows, incomplete: value, ignored };
			first ??= value.page;
			for (const row of (await filtered(value.items)).flatMap(rowsOf)) rows.push(row);
			if (rows.length >= limit) return { rows: rows.slice(0, limit), ignored };
		}
	} finally {
		ending.abort();
	}
}

/**
 * Applies filters to what came back, each from the first page on that holds something else, if the
 * service turns out to ignore it. Else its answer counts: how it compares is not documented.
 */
export function applied<T, N>(
	filters: Map<N, (product: T) => boolean>,
	isIgnored: (name: N) => Promise<boolean>,
): (products: T[]) => Promise<T[]> {
	const applying: Array<(product: T) => boolean> = [];
	return async (products) => {
		for (const [name, matches] of filters) {
			if (products.every(matches)) continue;
			filters.delete(name);
			if (await isIgnored(name)) applying.push(matches);
		}
		return products.filter((product) => applying.every((matches) => matches(product)));
	};
}

/** Fetches one page of products, unfiltered beyond what the service itself does. */
export async function fetchProductPage(
	client: Client,
	{ page, pageSize, ...query }: ProductQuery & { page: number },
): Promise<ProductPage> {
	const names = query.queryNames ?? DEFAULT_QUERY_NAMES;
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

/** What cannot be read does not match. */
function filtersOf({ search, categories, status }: ProductFilters) {
	const { title, hash, id_category: category, status: code } = productSchema.shape;
	const filters = new Map<keyof ProductFilters, (product: IDataObject) => boolean>();
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

/**
 * Reads pages of a size, or of the service's own if it refuses the first one: which sizes are allowed
 * is not documented.
 */
export function sized<A extends unknown[], T>(
	read: (pageSize: number | undefined, ...asked: A) => Promise<T>,
	pageSize: number,
): (...asked: A) => Promise<T> {
	let size: number | undefined = pageSize;
	let isFirst = true;
	return async (...asked) => {
		const mayRefuse = isFirst;
		isFirst = false;
		return await read(size, ...asked).catch(async (error: unknown) => {
			if (!mayRefuse || !refusesPageSize(error)) throw error;
			size = undefined;
			return await read(size, ...asked);
		});
	};
}

/** Whether the size may be the reason: not if the address is. */
function refusesPageSize(error: unknown): boolean {
	if (!(error instanceof ServiceError)) return false;
	const { kind, status } = error.outcome;
	return kind === 'rejected' && status !== 405;
}

/**
 * Creates an offer of a product (API document, Endpoint 2: POST /products/{hash}/offers).
 *
 * @param body the documented fields under the service's names; `price` in integer cents
 * @param record what is sent only while it is recorded
 * @returns the offer as the service sent it
 * @throws ServiceError, with `isInDoubt` if the offer may exist although no usable answer came
 */
export async function createOffer(
	client: Client,
	productHash: string,
	body: IDataObject,
	record?: Recording,
): Promise<IDataObject> {
	return await client.request(
		{
			endpoint: 'POST /products/{hash}/offers',
			path: `/products/${hashSegment(productHash)}/offers`,
			body,
		},
		readResource,
		record,
	);
}
