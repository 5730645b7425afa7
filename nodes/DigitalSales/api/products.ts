import type { IDataObject } from 'n8n-workflow';
import { hashSegment, textMatcher } from '../domain';
import { BoundedMap, isJsonObject, processState } from '../shared';
import type { Account } from './account';
import type { Client } from './client';
import { readPages } from './pagination';
import { parseResource } from './schemas/answer';
import {
	isOnSale,
	offerSchema,
	type ProductPage,
	productSchema,
	parseProductPage,
} from './schemas/product';

interface ProductQuery {
	/** Words of the title or the hash, by default any. */
	search?: string;
	/** By default any. */
	categories?: number[];
	/** See `PRODUCT_STATUSES`, by default any. */
	status?: number;
	/** By default 100. The document states no maximum. */
	pageSize?: number;
	/** Of the rows of `rowsOf`, after filtering, by default none. */
	limit?: number;
}

/** By offer, as read last while its product was on sale. Not parsed, because a list brings thousands of prices. */
const seenPrices = processState(new BoundedMap<string | number>({ most: 10_000 }));

/**
 * Lists products (API document, Endpoint 4: GET /products).
 *
 * @param rowsOf by default each product is a row
 * @returns the products as the platform sent them, with prices in cents
 * @throws ServiceError
 */
export async function listProducts(
	client: Client,
	query: ProductQuery,
	rowsOf: (product: IDataObject) => IDataObject[] = (product) => [product],
): Promise<{ rows: IDataObject[]; incomplete?: string }> {
	const { limit = Infinity } = query;
	const isWanted = productMatcher(query);
	const rows: IDataObject[] = [];
	const pages = readPages({
		fetchPage: async (page) => await fetchProductPage(client, { ...query, page }),
		itemsWanted: () => limit - rows.length,
	});

	for (;;) {
		const { done, value } = await pages.next();
		if (done) return { rows, incomplete: value };

		for (const row of value.items.filter(isWanted).flatMap(rowsOf)) rows.push(row);
		if (rows.length >= limit) return { rows: rows.slice(0, limit) };
	}
}

/** Only `page` is documented. A platform ignores a parameter that it does not know, so `listProducts` filters again. */
export async function fetchProductPage(
	client: Client,
	{ page, pageSize = 100, search, categories, status }: ProductQuery & { page: number },
): Promise<ProductPage> {
	const fetched = await client.request({
		endpoint: 'GET /products',
		path: '/products',
		query: {
			page,
			per_page: pageSize,
			// Titles are most likely stored as NFC.
			search: search?.normalize() || undefined,
			categories: categories?.join(',') || undefined,
			status,
		},
		parse: parseProductPage,
	});

	for (const product of fetched.data) {
		if (isOnSale(product)) markPricesSeen(client.account, product.offers);
	}
	return fetched;
}

export function markPricesSeen(account: Account, offers: unknown): void {
	if (!Array.isArray(offers)) return;
	for (const { hash, price } of offers.filter(isJsonObject)) {
		const key = `${account.key} ${String(hash)}`;
		if (typeof price === 'string' || typeof price === 'number') seenPrices.set(key, price);
		else seenPrices.delete(key);
	}
}

/** In cents, as this process has read it last. */
export function seenPrice(account: Account, hash: string): number | undefined {
	return offerSchema.shape.price.parse(seenPrices.get(`${account.key} ${hash}`)) ?? undefined;
}

function productMatcher({ search, categories, status }: ProductQuery) {
	const isFound = textMatcher(search ?? '');
	const { shape } = productSchema;

	return (product: IDataObject): boolean => {
		if (status !== undefined && shape.status.parse(product.status) !== status) return false;

		const category = shape.id_category.parse(product.id_category);
		if (categories?.length && !categories.some((wanted) => wanted === category)) return false;

		return !search || isFound([shape.title.parse(product.title), shape.hash.parse(product.hash)]);
	};
}

/**
 * Yields the tries to create an offer (API document, Endpoint 2: POST /products/{hash}/offers).
 *
 * @param body `price` is in integer cents
 */
export function offerTries(client: Client, productHash: string, body: IDataObject) {
	return client.tries({
		endpoint: 'POST /products/{hash}/offers',
		path: `/products/${hashSegment(productHash)}/offers`,
		body,
		parse: parseResource,
	});
}
