import { uniqBy } from 'lodash';
import { BoundedMap, CanceledError, processState } from '../shared';
import type { Client, ClientOptions } from './client';
import { readPages } from './pagination';
import { fetchProductPage } from './products';
import {
	isOnSale,
	type Offer,
	type Product,
	type ProductPage,
	productSchema,
} from './schemas/product';
import { ServiceError } from './serviceError';

/* The products behind lists and charges: which pages are read again, and which offer a hash means. */

/** For a list in the editor, where a person waits. */
export const CATALOG_LIMITS: ClientOptions = {
	maxTries: 2,
	startWithinMs: 10_000,
	timeoutMs: 10_000,
	priority: 'urgent',
};
/** A charge rather waits for its turn than fails, even if a list has just used up the rate. */
export const CHARGE_LOOKUP_LIMITS: ClientOptions = { ...CATALOG_LIMITS, startWithinMs: 65_000 };

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
export function readCatalog(client: Client, range: { from?: number; maxPages?: number }) {
	return readPages({ ...range, fetchPage: async (page) => await readPage(client, page) });
}

/** Charges that start together share one read, so that they spend the rate of one. */
async function readPage(client: Client, page: number): Promise<ProductPage<Product>> {
	const key = `${client.account.key} ${page}`;
	let failures = 0;

	for (;;) {
		const running = catalogPages.get(key);
		if (!running) break;

		const shared = await running.catch((error: unknown) => {
			// A cancellation was the reader's own. After one failure this execution asks itself, after a second it fails, too.
			if (!(error instanceof CanceledError)) failures++;
			if (failures > 1) throw error;
		});
		if (shared) return shared;
	}

	const reading = fetchPage(client, page);
	catalogPages.set(key, reading);
	reading.catch(() => {
		if (catalogPages.get(key) === reading) catalogPages.delete(key);
	});
	return await reading;
}

async function fetchPage(client: Client, page: number): Promise<ProductPage<Product>> {
	const { data, ...figures } = await fetchProductPage(client, { page });
	// Drops all other fields, because a product may be large.
	return { ...figures, data: data.map((item) => productSchema.parse(item)) };
}

/** A quarter of the documented requests per minute. */
export const MOST_LOOKUP_PAGES = 5;

export interface FoundOffer {
	product: Product;
	offer: Offer;
}

/** Nothing is found if products have different prices for the offer. */
export interface Lookup {
	found?: FoundOffer;
	hasSeveralPrices?: boolean;
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
			const onSale = found.filter(({ product }) => isOnSale(product));
			if (onSale.length > 0) return chooseOffer(onSale, isPriced);

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

function chooseOffer(candidates: FoundOffer[], isPriced: boolean): Lookup {
	if (isPriced || uniqBy(candidates, 'offer.price').length < 2) return { found: candidates[0] };
	return { hasSeveralPrices: true };
}
