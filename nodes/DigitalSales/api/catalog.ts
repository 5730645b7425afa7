import pick from 'lodash/pick';
import { clock } from '../shared/clock';
import { processWide } from '../shared/processWide';
import { PromiseCache } from '../shared/promiseCache';
import type { Account } from './account';
import type { Client } from './client';
import { pages, type NewItems } from './pagination';
import { fetchProductPage, refusesPageSize } from './products';
import type { Offer } from './schemas/offer';
import { productSchema, type Product, type ProductPage } from './schemas/product';

const PRODUCT_FIELDS = ['hash', 'title', 'cover', 'sale_page', 'status'] as const;
const OFFER_FIELDS = ['hash', 'title', 'price', 'url', 'interval'] as const;

/** Of a product only what lists and lookups need. */
export type CatalogProduct = Pick<Product, (typeof PRODUCT_FIELDS)[number]> & {
	offers: CatalogOffer[];
};

export type CatalogOffer = Pick<Offer, (typeof OFFER_FIELDS)[number]>;

type CatalogPage = ProductPage<CatalogProduct>;

/** Products on one page; a service may give fewer. */
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
 * The pages of the catalog (API document, Endpoint 4: GET /products). They are remembered for a moment,
 * so that opening a list again does not spend the account's budget.
 *
 * @throws ServiceError, CanceledError
 */
export function readCatalog(
	client: Client,
	query: { search?: string; from?: number; maxPages?: number },
): AsyncGenerator<NewItems<CatalogProduct>> {
	const { search, ...range } = query;
	const fetchPage = async (page: number): Promise<CatalogPage> => {
		const key = prefixOf(client.account) + JSON.stringify([search, page]);
		return await catalogPages.get(key, async () => await fetchCatalogPage(client, search, page));
	};
	// A product that comes again with other offers is read again; a hash may stand for several.
	return pages({ ...range, fetchPage, keyOf: JSON.stringify, mostBarrenUnannounced: 1 });
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
	// A page without products is the last one, whatever is announced.
	if (fetched.data.length === 0) return { data: [] };
	return { ...fetched, data: fetched.data.map((item) => toCatalog(productSchema.parse(item))) };
}

function toCatalog(product: Product): CatalogProduct {
	return {
		...pick(product, PRODUCT_FIELDS),
		offers: product.offers.map((offer) => pick(offer, OFFER_FIELDS)),
	};
}

/** A quarter of the account's budget, spent at most once while pages are remembered. */
export const MOST_LOOKUP_PAGES = 5;
/** Somebody is waiting for the charge. */
const LONGEST_LOOKUP_MS = 10_000;

/** For the client of a lookup: no long wait for the budget, no second try. */
export const LOOKUP_LIMITS = {
	retry: { maxTries: 1, maxTotalMs: 0 },
	timeoutMs: 5_000,
	longestLimiterWaitMs: 1_000,
};

/** An offer of the catalog with the product that it sells. */
export interface FoundOffer {
	product: CatalogProduct;
	offer: CatalogOffer;
}

export interface Lookup<T> {
	found?: T;
	/** Whether the catalog could not be read. */
	failed?: boolean;
}

type Picker<T> = (product: CatalogProduct) => T | undefined;

/**
 * Looks things up in the catalog for all items of a run: in the remembered pages, else on the first
 * few. After a failure the run reads no more, so that no item waits for nothing. Never throws.
 */
export class CatalogLookup {
	private hasFailed = false;

	/** @param client one with {@link LOOKUP_LIMITS} */
	constructor(private readonly client: Client) {}

	/** The first offer that matches. */
	async offer(matches: (offer: CatalogOffer) => boolean): Promise<Lookup<FoundOffer>> {
		return await this.first((product) => {
			const offer = product.offers.find(matches);
			return offer && { product, offer };
		});
	}

	/** The first product that matches. */
	async product(matches: (product: CatalogProduct) => boolean): Promise<Lookup<CatalogProduct>> {
		return await this.first((product) => (matches(product) ? product : undefined));
	}

	private async first<T>(pick: Picker<T>): Promise<Lookup<T>> {
		const remembered = await Promise.allSettled(catalogPages.list(prefixOf(this.client.account)));
		const products = remembered.flatMap((page) =>
			page.status === 'fulfilled' ? page.value.data : [],
		);
		const found = firstOf(products, pick);
		if (found !== undefined) return { found };
		if (this.hasFailed) return { failed: true };
		try {
			return { found: await this.firstOnPages(pick) };
		} catch {
			this.hasFailed = true;
			return { failed: true };
		}
	}

	private async firstOnPages<T>(pick: Picker<T>): Promise<T | undefined> {
		const end = clock.elapsed() + LONGEST_LOOKUP_MS;
		for await (const { items } of readCatalog(this.client, { maxPages: MOST_LOOKUP_PAGES })) {
			const found = firstOf(items, pick);
			if (found !== undefined || clock.elapsed() >= end) return found;
		}
		return undefined;
	}
}

function firstOf<T>(products: CatalogProduct[], pick: Picker<T>): T | undefined {
	for (const product of products) {
		const found = pick(product);
		if (found !== undefined) return found;
	}
	return undefined;
}
