import { uniqBy } from 'lodash';
import { BoundedMap, CanceledError, processState } from '../shared';
import type { Client, ClientOptions } from './client';
import { type NewItems, readPages } from './pagination';
import { fetchProductPage, withPageSizeFallback } from './products';
import {
	isOnSale,
	type Offer,
	type Product,
	type ProductPage,
	productSchema,
} from './schemas/product';
import { ServiceError } from './serviceError';

/* The products behind lists and charges: which pages are read again, and which offer a hash means. */

export const CATALOG_LIMITS: ClientOptions = {
	retry: { maxTries: 2, maxTotalMs: 10_000 },
	timeoutMs: 10_000,
	longestLimiterWaitMs: 10_000,
	isUrgent: true,
};
/** A charge rather waits for its turn than fails. */
export const CHARGE_LOOKUP_LIMITS: ClientOptions = {
	...CATALOG_LIMITS,
	longestLimiterWaitMs: 30_000,
};

/** Also holds the reads that are running. */
export const catalogPages = processState(
	new BoundedMap<Promise<ProductPage<Product>>>({ most: 60, keptMs: 45_000 }),
);

/**
 * Reads the catalog (API document, Endpoint 4: GET /products). Its pages are remembered, so that opening a
 * list again costs no request.
 *
 * @throws ServiceError
 */
export function readCatalog(
	client: Client,
	range: { from?: number; maxPages?: number },
): AsyncGenerator<NewItems<Product>, string | undefined> {
	const read = withPageSizeFallback(async (query) => await readPage(client, query));
	return readPages({ ...range, fetchPage: read });
}

/** Charges that start together share one read, so that they spend the rate of one. */
async function readPage(
	client: Client,
	query: { page: number; pageSize?: number },
): Promise<ProductPage<Product>> {
	const key = client.account.key + JSON.stringify(query);
	let failures = 0;

	for (;;) {
		const shared = catalogPages.get(key);
		if (!shared) break;

		const page = await shared.catch((error: unknown) => {
			// Only the execution that was reading is canceled. One bad answer must not fail all that wait for it.
			if (!(error instanceof CanceledError)) failures++;
			if (failures > 1) throw error;
		});
		if (page) return page;
	}

	const reading = fetchPage(client, query);
	catalogPages.set(key, reading);
	return await reading.catch((error: unknown) => {
		catalogPages.delete(key);
		throw error;
	});
}

async function fetchPage(
	client: Client,
	query: { page: number; pageSize?: number },
): Promise<ProductPage<Product>> {
	const { data, ...figures } = await fetchProductPage(client, query);
	// Drops all other fields, because a product may be large.
	return { ...figures, data: data.map((item) => productSchema.parse(item)) };
}

/** A quarter of the documented requests per minute. */
export const MOST_LOOKUP_PAGES = 5;

export interface FoundOffer {
	product: Product;
	offer: Offer;
}

export interface Lookup {
	found?: FoundOffer;
	several?: FoundOffer[];
	failed?: ServiceError;
}

export class CatalogLookup {
	private products: Product[] = [];
	private readonly pages: ReturnType<typeof readCatalog>;
	private failed?: ServiceError;

	constructor(client: Client) {
		this.pages = readCatalog(client, { maxPages: MOST_LOOKUP_PAGES });
	}

	/**
	 * Prefers a product on sale.
	 *
	 * @param isPriced the item has its own price, so any offer with the hash will do
	 */
	async findOffer(hash: string, { isPriced }: { isPriced: boolean }): Promise<Lookup> {
		for (;;) {
			const found = offersWithHash(this.products, hash);
			if (found.some(({ product }) => isOnSale(product))) return chooseOffer(found, isPriced);

			const hasMore = await this.readNextPage();
			if (!hasMore) return { ...chooseOffer(found, isPriced), failed: this.failed };
		}
	}

	private async readNextPage(): Promise<boolean> {
		const { done, value } = await this.pages.next().catch((error: unknown) => {
			if (!(error instanceof ServiceError)) throw error;
			this.failed = error;
			return { done: true, value: undefined } as const;
		});

		if (!done) this.products = this.products.concat(value.items);
		return !done;
	}
}

function offersWithHash(products: Product[], hash: string): FoundOffer[] {
	return products.flatMap((product) =>
		product.offers.filter((offer) => offer.hash === hash).map((offer) => ({ product, offer })),
	);
}

function chooseOffer(all: FoundOffer[], isPriced: boolean): Lookup {
	const onSale = all.filter(({ product }) => isOnSale(product));
	const candidates = onSale.length > 0 ? onSale : all;
	const different = isPriced ? candidates.slice(0, 1) : uniqBy(candidates, 'offer.price');

	if (different.length > 1) return { several: different };
	return { found: different[0] };
}
