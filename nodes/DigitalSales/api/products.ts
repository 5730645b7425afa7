import type { IDataObject } from 'n8n-workflow';
import { composed, textMatcher, hashSegment } from '../domain/text';
import type { Client, Send } from './client';
import { pages } from './pagination';
import {
	type ProductPage,
	isSold,
	offerSchema,
	productSchema,
	readProductPage,
} from './schemas/product';
import { ServiceError } from './serviceError';
import { BoundedMap, processState } from '../shared/processState';
import { isJsonObject } from '../shared/json';
import type { Account } from './account';
import { readResource } from './schemas/resource';

/** As the service sent them, by account and offer: of thousands that a list brings, a charge reads one. */
const pricesSeen = processState(new BoundedMap<string | number>({ most: 10_000 }));

/** The hashes of the offers that were seen of a product. */
const seenOffers = processState(new BoundedMap<Set<IDataObject[string]>>({ most: 10_000 }));

/** Remembers the prices of offers of a product that the service just sent. */
export function markPricesSeen(
	account: Account,
	product: IDataObject[string],
	offers: unknown,
): void {
	if (!Array.isArray(offers)) return;
	const known = seenOffers.get(keyOf(account, product)) ?? new Set();
	for (const { hash } of offers.filter(isJsonObject)) known.add(hash);
	seenOffers.set(keyOf(account, product), known);
	for (const { hash, price } of offers.filter(isJsonObject)) {
		const key = keyOf(account, hash);
		if (typeof price !== 'string' && typeof price !== 'number') pricesSeen.delete(key);
		// To move thousands of entries to the end at each list would cost more than it gives.
		else if (pricesSeen.get(key) !== price) pricesSeen.set(key, price);
	}
}

/** The price in cents that this process last saw of an offer. Undefined means unknown, not absent. */
export function seenPrice(account: Account, hash: string): number | undefined {
	return offerSchema.shape.price.parse(pricesSeen.get(keyOf(account, hash))) ?? undefined;
}

/** The prices in cents that this process last saw of the offers of a product. */
export function seenPrices(account: Account, product: string): number[] {
	const offers = seenOffers.get(keyOf(account, product)) ?? [];
	return [...offers].flatMap((hash) => seenPrice(account, String(hash)) ?? []);
}

function keyOf({ key }: Account, hash: IDataObject[string]): string {
	return `${key.slice(0, 16)} ${String(hash)}`;
}

export interface ProductFilters {
	/** Words of the title or the hash. */
	search?: string;
	categories?: number[];
	status?: number;
}

interface ProductQuery extends ProductFilters {
	/** Products per page. */
	pageSize?: number;
}

interface Listing {
	rows: IDataObject[];
	/** Why the list may lack something, in words for the user; undefined if it is complete. */
	incomplete?: string;
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
	const filter = filterOf(query);
	const read = sized(
		async (pageSize, page: number) => await fetchProductPage(client, { ...query, page, pageSize }),
		query.pageSize ?? Math.min(LARGEST_PAGE_SIZE, filter ? Infinity : limit),
	);
	const rows: IDataObject[] = [];
	const reading = pages({ fetchPage: read, wanted: () => limit - rows.length });
	try {
		for (;;) {
			const { done, value } = await reading.next();
			if (done) return { rows, incomplete: value };
			const items = filter ? value.items.filter(filter) : value.items;
			for (const row of items.flatMap(rowsOf)) rows.push(row);
			if (rows.length >= limit) return { rows: rows.slice(0, limit) };
		}
	} finally {
		ending.abort();
	}
}

/**
 * Fetches one page of products. Of the names of the query the API document shows `page` alone; a service
 * ignores those that it does not know.
 */
export async function fetchProductPage(
	client: Client,
	{ page, pageSize, search, categories, status }: ProductQuery & { page: number },
): Promise<ProductPage> {
	const parameters: IDataObject = { page };
	if (pageSize !== undefined) parameters.per_page = pageSize;
	// Titles are most likely stored in this form, whatever the keyboard sends.
	if (search) parameters.search = composed(search);
	if (categories?.length) parameters.categories = categories.join(',');
	if (status !== undefined) parameters.status = status;
	const fetched = await client.request(
		{ endpoint: 'GET /products', path: '/products', query: parameters },
		readProductPage,
	);
	for (const product of fetched.data) {
		if (isSold(product)) markPricesSeen(client.account, product.hash, product.offers);
	}
	return fetched;
}

/** Undefined without filters. What cannot be read does not match. */
function filterOf({ search, categories = [], status }: ProductFilters) {
	if (!search && categories.length === 0 && status === undefined) return undefined;
	const isFound = textMatcher(search ?? '');
	const { shape } = productSchema;
	return (product: IDataObject): boolean => {
		const category = shape.id_category.parse(product.id_category);
		const code = shape.status.parse(product.status);
		return (
			isFound([shape.title.parse(product.title), shape.hash.parse(product.hash)]) &&
			(categories.length === 0 || categories.some((wanted) => wanted === category)) &&
			(status === undefined || code === status)
		);
	};
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

/** Whether the size may be the reason. */
function refusesPageSize(error: unknown): boolean {
	if (!(error instanceof ServiceError)) return false;
	return error.outcome.kind === 'rejected';
}

/**
 * The tries to create an offer of a product (API document, Endpoint 2: POST /products/{hash}/offers), as
 * the service sends it.
 *
 * @param body the documented fields under the service's names; `price` in integer cents
 */
export function offerTries(
	client: Client,
	productHash: string,
	body: IDataObject,
): AsyncGenerator<Send<IDataObject>, void> {
	const path = `/products/${hashSegment(productHash)}/offers`;
	return client.tries({ endpoint: 'POST /products/{hash}/offers', path, body }, readResource);
}
