import truncate from 'lodash/truncate';
import {
	type ILoadOptionsFunctions,
	type INode,
	type INodeListSearchItems,
	type INodeListSearchResult,
	NodeApiError,
} from 'n8n-workflow';
import { CREDENTIAL_NAME, readAccount } from '../api/account';
import {
	CATALOG_LIMITS,
	MOST_LOOKUP_PAGES,
	readCatalog,
	type CatalogOffer,
	type CatalogProduct,
} from '../api/catalog';
import { Client } from '../api/client';
import { ServiceError } from '../api/serviceError';
import { productStatusName } from '../output/product';
import { PRODUCT_STATUSES } from '../api/schemas/product';
import { formatReais } from '../domain/money';
import { cleanText, textMatcher } from '../domain/text';
import { webAddressIn } from '../domain/webAddress';
import { toFailure, type NodeError } from '../output/errors';

const LONGEST_SEARCH = 200;
const LONGEST_PRODUCT = 25;

/** The searchable list of products: lowest price, unusual status, title. */
export const searchProducts = searchable('products', (product) => {
	const { hash, title, sale_page: url } = product;
	if (hash == null) return [];
	const entry = { name: productLabel(product), value: hash, url: webAddressIn(url) };
	return [{ entry, texts: [title, hash] }];
});

/** The searchable list of offers: price, titles of product and offer, an unusual status of the product. */
export const searchOffers = searchable('offers', (product) =>
	product.offers.flatMap((offer) => {
		const { hash, title, url } = offer;
		if (hash == null) return [];
		const entry = { name: offerLabel(product, offer), value: hash, url: webAddressIn(url) };
		return [{ entry, texts: [title, hash, product.title, product.hash] }];
	}),
);

function productLabel({ title, hash, offers, status }: CatalogProduct): string {
	const prices = offers.map(({ price }) => price).filter((price) => price != null);
	const price = prices.length === 0 ? undefined : formatReais(Math.min(...prices));
	const isOne = new Set(prices).size === 1;
	return label(price && (isOne ? price : `from ${price}`), [title || hash], status);
}

/** Offers of many products have the same name, so the product comes first, cut to leave room for the offer. */
function offerLabel(product: CatalogProduct, { title, price }: CatalogOffer): string {
	const name = product.title || product.hash;
	return label(
		price == null ? undefined : formatReais(price),
		[name && title !== name ? truncate(name, { length: LONGEST_PRODUCT }) : undefined, title],
		product.status,
	);
}

type Part = string | null | undefined;

/**
 * One line of a list. The editor cuts it after about fifty letters, so the price comes first, and a status comes
 * before the titles. Nobody has to read that a product is active.
 */
function label(price: Part, titles: Part[], status: number | null | undefined): string {
	const isUsual = status == null || status === PRODUCT_STATUSES.active;
	const parts = [price, isUsual ? undefined : String(productStatusName(status)), ...titles];
	return parts.filter((part) => part != null && part !== '').join(' · ');
}

/** An entry of a list, and what a search may find of it. */
interface Found {
	entry: INodeListSearchItems;
	texts: Part[];
}

function searchable(what: string, entriesOf: (product: CatalogProduct) => Found[]) {
	return async function (
		this: ILoadOptionsFunctions,
		filter = '',
		paginationToken = '1',
	): Promise<INodeListSearchResult> {
		const search = cleanText(filter.slice(0, LONGEST_SEARCH));
		const isFound = textMatcher(search);
		try {
			const credential = await this.getCredentials(CREDENTIAL_NAME);
			const client = new Client(this, readAccount(credential), CATALOG_LIMITS);
			const from = Number(paginationToken);
			// These pages are remembered, and searched here, so that no word costs a request of its own.
			const reading = readCatalog(client, { from });
			const results: INodeListSearchItems[] = [];
			let nextPage: number | undefined;
			for (let page = await reading.next(); !page.done; page = await reading.next()) {
				const { number, items, hasNext } = page.value;
				const found = items.flatMap(entriesOf).filter(({ texts }) => isFound(texts));
				results.push(...found.map(({ entry }) => entry));
				if (hasNext === false) break;
				const isEnough = search === '' && results.length > 0;
				if (!isEnough && number + 1 < from + MOST_LOOKUP_PAGES) continue;
				// If it cannot be read, asking for it says why.
				const next = hasNext ?? (await reading.next().catch(() => page)).value;
				if (typeof next === 'object' ? next.items.length > 0 : next === true) nextPage = number + 1;
				break;
			}
			if (nextPage !== undefined) {
				if (search === '' || results.length > 0) {
					return { results, paginationToken: String(nextPage) };
				}
				throw listFailure(
					this.getNode(),
					`Not among the ${what} of the first ${MOST_LOOKUP_PAGES} pages`,
					'The list searches no further. Enter the hash with By Hash.',
				);
			}
			if (results.length > 0 || from > 1 || search !== '') return { results };
			throw listFailure(
				this.getNode(),
				`This account has no ${what} yet`,
				`Create one in the service and open the list again, or enter a hash with By Hash. If the account does have ${what}, check which account the credential belongs to.`,
			);
		} catch (error) {
			throw listError(this.getNode(), error);
		}
	};
}

function listError(node: INode, error: unknown): NodeError {
	const isLimited = error instanceof ServiceError && error.outcome.kind === 'rateLimited';
	if (!isLimited) return toFailure(node, error).error;
	return listFailure(
		node,
		'Rate limit reached. Try again in a minute.',
		'The service allows 20 product requests a minute for the whole account, running workflows included. Open the list again in a minute, or enter the hash with By Hash.',
	);
}

/** n8n passes the description of a NodeApiError on to the editor, and of no other error. */
function listFailure(node: INode, message: string, description: string): NodeApiError {
	return new NodeApiError(node, { message }, { message, description, level: 'info' });
}
