import { readCatalog, rememberedProducts, type CatalogOffer, type CatalogProduct } from './catalog';
import type { Client } from './client';
import { clock } from '../shared/clock';

/** A quarter of the account's budget, and that once in the time for which pages are remembered. */
export const MOST_LOOKUP_PAGES = 5;
/** Somebody is waiting for the charge. */
const LONGEST_LOOKUP_MS = 10_000;

/** How far the client of a lookup may go: no long wait for the budget, no second try. */
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

/** What a lookup gave; `failed` is that the catalog could not be read. */
export interface Lookup<T> {
	found?: T;
	failed?: boolean;
}

/**
 * Looks things up in the catalog for all items of a run: in what is remembered, else page by page, a
 * few pages. Once that has failed, the run asks no more, so that no item waits for nothing.
 */
export class CatalogLookup {
	private hasFailed = false;

	/** @param client one with {@link LOOKUP_LIMITS} */
	constructor(private readonly client: Client) {}

	/** The first offer that matches. Never throws. */
	async offer(matches: (offer: CatalogOffer) => boolean): Promise<Lookup<FoundOffer>> {
		return await this.first((product) => {
			const offer = product.offers.find(matches);
			return offer && { product, offer };
		});
	}

	/** The first product that matches. Never throws. */
	async product(matches: (product: CatalogProduct) => boolean): Promise<Lookup<CatalogProduct>> {
		return await this.first((product) => (matches(product) ? product : undefined));
	}

	private async first<T>(pick: (product: CatalogProduct) => T | undefined): Promise<Lookup<T>> {
		const found = firstOf(await rememberedProducts(this.client.account), pick);
		if (found !== undefined) return { found };
		if (this.hasFailed) return { failed: true };
		try {
			return { found: await this.firstOnPages(pick) };
		} catch {
			this.hasFailed = true;
			return { failed: true };
		}
	}

	private async firstOnPages<T>(
		pick: (product: CatalogProduct) => T | undefined,
	): Promise<T | undefined> {
		const end = clock.elapsed() + LONGEST_LOOKUP_MS;
		for await (const { items } of readCatalog(this.client, { maxPages: MOST_LOOKUP_PAGES })) {
			const found = firstOf(items, pick);
			if (found !== undefined || clock.elapsed() >= end) return found;
		}
		return undefined;
	}
}

function firstOf<T>(
	products: CatalogProduct[],
	pick: (product: CatalogProduct) => T | undefined,
): T | undefined {
	for (const product of products) {
		const found = pick(product);
		if (found !== undefined) return found;
	}
	return undefined;
}
