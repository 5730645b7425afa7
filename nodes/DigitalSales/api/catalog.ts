import pick from 'lodash/pick';
import uniqBy from 'lodash/uniqBy';
import { addressFit } from '../domain/webAddress';
import { PromiseCache, processWide } from '../shared/processWide';
import type { Account } from './account';
import { Client, type ServiceContext } from './client';
import { ServiceError } from './outcome';
import { type NewItems, isSamePage, pages } from './pagination';
import { fetchProductPage, sized } from './products';
import {
	type Offer,
	type Product,
	type ProductPage,
	isSold,
	productSchema,
} from './schemas/product';

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
/** The same for all who ask, because others may wait for the same page. */
export const CATALOG_LIMITS = {
	retry: { maxTries: 2, maxTotalMs: 10_000 },
	timeoutMs: 10_000,
	longestLimiterWaitMs: 10_000,
};
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
 * @param client one with {@link CATALOG_LIMITS} and nobody's signal: others may wait for the same page
 * @throws ServiceError
 */
export function readCatalog(
	client: Client,
	{ search, ...range }: { search?: string; from?: number; maxPages?: number },
): AsyncGenerator<NewItems<CatalogProduct>, string | undefined> {
	const read = pageReader(client);
	return pages({ ...range, fetchPage: async (page) => await read(page, search) });
}

/** Whether the service answers the same without a search: it ignores a name that it does not know. */
export async function ignoresSearch(client: Client, search: string): Promise<boolean> {
	const read = pageReader(client);
	return isSamePage(await read(1, search), await read(1));
}

function pageReader(client: Client) {
	return sized(
		async (pageSize, page: number, search?: string) =>
			await catalogPages.get(
				client.account.key + JSON.stringify({ search, page, pageSize }),
				async () => {
					const { data, ...figures } = await fetchProductPage(client, { search, page, pageSize });
					return { ...figures, data: data.map((item) => toCatalog(productSchema.parse(item))) };
				},
			),
		PAGE_SIZE,
	);
}

/** Forgets an account's catalog, because it was just changed. */
export function forgetCatalog(account: Account): void {
	catalogPages.forget(account.key);
}

function toCatalog(product: Product): CatalogProduct {
	return {
		...pick(product, PRODUCT_FIELDS),
		offers: product.offers.map((offer) => pick(offer, OFFER_FIELDS)),
	};
}

/** A quarter of the account's budget, spent at most once while pages are remembered. */
export const MOST_LOOKUP_PAGES = 5;
/** An offer of the catalog with the product that it sells. */
export interface FoundOffer {
	product: CatalogProduct;
	offer: CatalogOffer;
}

/** What to look up: a hash, or an address at whose end it may stand. */
interface Wanted {
	hash: string;
	address?: string;
}

export interface Lookup<T> {
	found?: T;
	/** What fits equally well, instead of one that is found. */
	several?: T[];
	/** Why the catalog could not be read. */
	failed?: ServiceError;
}

type Fit = 'exact' | 'part' | 'not';
interface Candidate<T> {
	found: T;
	fit: Fit;
	isSold: boolean;
	/** What tells it apart. */
	key: string;
}
type Picker<T> = (product: CatalogProduct) => Array<Candidate<T>>;

/**
 * Looks things up in the catalog for all items of a run, on its first few pages, until one fits exactly.
 * After a failure the run reads no more, so that no item waits for nothing.
 */
export class CatalogLookup {
	private products: CatalogProduct[] = [];
	private readonly reading: ReturnType<typeof readCatalog>;
	private failed?: ServiceError;

	constructor(context: ServiceContext, account: Account) {
		const client = new Client(withoutSignal(context), account, CATALOG_LIMITS);
		this.reading = readCatalog(client, { maxPages: MOST_LOOKUP_PAGES });
	}

	/** @param wanted if its price is given, the catalog's does not tell offers apart */
	async offer(wanted: Wanted & { price?: number }): Promise<Lookup<FoundOffer>> {
		return await this.best((product) =>
			product.offers.flatMap((offer) => {
				const fit = fitOf(wanted, offer.hash, [offer.url]);
				const key = JSON.stringify([offer.hash, wanted.price ?? offer.price]);
				return fit ? [{ found: { product, offer }, fit, isSold: isSold(product), key }] : [];
			}),
		);
	}

	/** A product by its hash, its sales page or the checkout of one of its offers. */
	async product(wanted: Wanted): Promise<Lookup<CatalogProduct>> {
		return await this.best((product) => {
			const pages = [product.sale_page, ...product.offers.map(({ url }) => url)];
			const fit = fitOf(wanted, product.hash, pages);
			const key = String(product.hash);
			return fit ? [{ found: product, fit, isSold: isSold(product), key }] : [];
		});
	}

	private async best<T>(pick: Picker<T>): Promise<Lookup<T>> {
		const candidates = this.products.flatMap(pick);
		while (!candidates.some(isSure)) {
			const more = await this.nextPage();
			if (!more) return { ...chosen(candidates), failed: this.failed };
			candidates.push(...more.flatMap(pick));
		}
		return chosen(candidates);
	}

	/** The products of the next page; undefined if there is none, or it cannot be read. */
	private async nextPage(): Promise<CatalogProduct[] | undefined> {
		const { done, value } = await this.reading.next().catch((error: unknown) => {
			if (!(error instanceof ServiceError)) throw error;
			this.failed = error;
			return { done: true, value: undefined } as const;
		});
		if (done) return undefined;
		this.products = this.products.concat(value.items);
		return value.items;
	}
}

/** A context with which n8n does not end a request when the execution that asked is canceled. */
function withoutSignal(context: ServiceContext): ServiceContext {
	return new Proxy(context, {
		has: (target, name) => name !== 'getExecutionCancelSignal' && name in target,
	});
}

function isSure({ fit, isSold }: Candidate<unknown>): boolean {
	return fit === 'exact' && isSold;
}

/** A hash at the end of an address is only a part of what the address says if it has a query. */
function fitOf(
	{ hash, address }: Wanted,
	known: CatalogOffer['hash'],
	pages: Array<string | null | undefined>,
): Fit | undefined {
	if (address === undefined) return known === hash ? 'exact' : undefined;
	const fits = new Set(pages.map((page) => (page == null ? undefined : addressFit(address, page))));
	if (known === hash) fits.add(address.includes('?') ? 'part' : 'exact');
	return (['exact', 'part', 'not'] as const).find((fit) => fits.has(fit));
}

/** The one that fits best. One that is sold goes before one that is not. */
function chosen<T>(candidates: Array<Candidate<T>>): Lookup<T> {
	const exact = candidates.filter(({ fit }) => fit === 'exact');
	const usable = exact.length > 0 ? exact : candidates.filter(({ fit }) => fit === 'part');
	const sold = usable.filter(({ isSold }) => isSold);
	// Where all contradict the address, none is taken, but they are named.
	const best = usable.length === 0 ? candidates : sold.length > 0 ? sold : usable;
	const different = uniqBy(best, 'key').map(({ found }) => found);
	const [found, ...others] = different;
	if (found === undefined) return {};
	return usable.length > 0 && others.length === 0 ? { found } : { several: different };
}
