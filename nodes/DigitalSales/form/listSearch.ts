import { compact, min, truncate } from 'lodash';
import type {
	ILoadOptionsFunctions,
	INodeListSearchItems,
	INodeListSearchResult,
} from 'n8n-workflow';
import {
	CATALOG_LIMITS,
	Client,
	loadAccount,
	MOST_LOOKUP_PAGES,
	type Offer,
	type Product,
	PRODUCT_STATUSES,
	readCatalog,
} from '../api';
import { productStatusName, toFailure } from '../output';
import { cleanText, formatReais, textMatcher, validWebAddress } from '../domain';

const LONGEST_PRODUCT = 25;

type Text = string | null | undefined;

interface Candidate {
	name: string;
	hash: Text;
	url: Text;
	searched: Text[];
}

export const searchProducts = makeListSearch((product) => [
	{
		name: productLabel(product),
		hash: product.hash,
		url: product.sale_page,
		searched: [product.title, product.hash],
	},
]);

export const searchOffers = makeListSearch((product) =>
	product.offers.map((offer) => ({
		name: offerLabel(product, offer),
		hash: offer.hash,
		url: offer.url,
		searched: [offer.title, offer.hash, product.title, product.hash],
	})),
);

function productLabel({ title, hash, offers, status }: Product): string {
	const prices = offers.map(({ price }) => price).filter((price) => price != null);
	const isOne = new Set(prices).size === 1;
	const lowest = priceLabel(min(prices));
	const price = isOne ? lowest : lowest && `from ${lowest}`;

	return listLabel(price, status, [title || hash]);
}

/** The product comes first, shortened, because offers of many products have the same name. */
function offerLabel(product: Product, { title, price }: Offer): string {
	const name = product.title || product.hash || '';
	const shown = name === title ? '' : truncate(name, { length: LONGEST_PRODUCT });

	return listLabel(priceLabel(price), product.status, [shown, title]);
}

function priceLabel(cents: number | null | undefined): string {
	return cents == null ? '' : formatReais(cents);
}

/** The titles come last, because the editor cuts a line after about fifty letters. */
function listLabel(price: Text, status: number | null | undefined, titles: Text[]): string {
	const isUsual = status == null || status === PRODUCT_STATUSES.active;
	const shownStatus = isUsual ? '' : String(productStatusName(status));

	return compact([price, shownStatus, ...titles]).join(' · ');
}

function makeListSearch(listCandidates: (product: Product) => Candidate[]) {
	return async function (
		this: ILoadOptionsFunctions,
		filter = '',
		paginationToken = '1',
	): Promise<INodeListSearchResult> {
		try {
			const client = new Client(this, await loadAccount(this), CATALOG_LIMITS);
			return await searchCatalog(
				client,
				Number(paginationToken),
				cleanText(filter),
				listCandidates,
			);
		} catch (error) {
			throw toFailure(this.getNode(), error).error;
		}
	};
}

/** The pages are cached, so a keystroke costs no request. Without a search, the first page with entries is enough. */
async function searchCatalog(
	client: Client,
	from: number,
	search: string,
	listCandidates: (product: Product) => Candidate[],
): Promise<INodeListSearchResult> {
	const isMatch = textMatcher(search);
	const results: INodeListSearchItems[] = [];

	for await (const { pageNumber, items, hasNext } of readCatalog(client, { from })) {
		for (const { name, hash, url, searched } of items.flatMap(listCandidates)) {
			if (hash == null || !isMatch(searched)) continue;
			results.push({ name, value: hash, url: validWebAddress(url) });
		}
		if (!hasNext) break;

		const isEnough = search === '' && results.length > 0;
		const isLast = pageNumber + 1 === from + MOST_LOOKUP_PAGES;
		if (isEnough || isLast) return { results, paginationToken: String(pageNumber + 1) };
	}

	return { results };
}
