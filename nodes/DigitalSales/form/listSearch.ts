import { truncate } from 'lodash';
import {
	type ILoadOptionsFunctions,
	type INode,
	type INodeListSearchItems,
	type INodeListSearchResult,
	NodeApiError,
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
	ServiceError,
} from '../api';
import { type NodeError, productStatusName, toFailure } from '../output';
import { cleanText, formatReais, textMatcher, validWebAddress } from '../domain';

const LONGEST_SEARCH = 200;
const LONGEST_PRODUCT = 25;

export const searchProducts = makeListSearch('products', (product) => {
	const { hash, title, sale_page: url } = product;
	if (hash == null) return [];
	const entry = { name: productLabel(product), value: hash, url: validWebAddress(url) };
	return [{ entry, searched: [title, hash] }];
});

export const searchOffers = makeListSearch('offers', (product) =>
	product.offers.flatMap((offer) => {
		const { hash, title, url } = offer;
		if (hash == null) return [];
		const entry = { name: offerLabel(product, offer), value: hash, url: validWebAddress(url) };
		return [{ entry, searched: [title, hash, product.title, product.hash] }];
	}),
);

function productLabel({ title, hash, offers, status }: Product): string {
	const prices = offers.map(({ price }) => price).filter((price) => price != null);
	const price = prices.length === 0 ? undefined : formatReais(Math.min(...prices));
	const isOne = new Set(prices).size === 1;
	return listLabel(price && (isOne ? price : `from ${price}`), [title || hash], status);
}

/** The product comes first, shortened, because offers of many products have the same name. */
function offerLabel(product: Product, { title, price }: Offer): string {
	const name = product.title || product.hash;
	return listLabel(
		price == null ? undefined : formatReais(price),
		[name && title !== name ? truncate(name, { length: LONGEST_PRODUCT }) : undefined, title],
		product.status,
	);
}

type Part = string | null | undefined;

/** The titles come last, because the editor cuts a line after about fifty letters. */
function listLabel(price: Part, titles: Part[], status: number | null | undefined): string {
	const isUsual = status == null || status === PRODUCT_STATUSES.active;
	const parts = [price, isUsual ? undefined : String(productStatusName(status)), ...titles];
	return parts.filter((part) => part != null && part !== '').join(' · ');
}

interface Candidate {
	entry: INodeListSearchItems;
	searched: Part[];
}

type ListCandidates = (product: Product) => Candidate[];

function makeListSearch(plural: string, listCandidates: ListCandidates) {
	return async function (
		this: ILoadOptionsFunctions,
		filter = '',
		paginationToken = '1',
	): Promise<INodeListSearchResult> {
		const search = cleanText(filter.slice(0, LONGEST_SEARCH));
		const from = Number(paginationToken);
		try {
			const client = new Client(this, await loadAccount(this), CATALOG_LIMITS);
			const { results, nextPage } = await searchCatalog(client, from, search, listCandidates);
			if (results.length === 0 && search !== '' && nextPage !== undefined) {
				throw buildListError(
					this.getNode(),
					`No match on pages ${from} to ${from + MOST_LOOKUP_PAGES - 1} of ${plural}`,
					'The list searches no further. Enter the hash with By Hash.',
				);
			}
			if (results.length > 0 || search !== '' || from > 1 || nextPage !== undefined) {
				return { results, paginationToken: nextPage };
			}
			throw buildListError(
				this.getNode(),
				`This account has no ${plural} yet`,
				`Create one on your platform and open the list again, or enter a hash with By Hash. If the account does have ${plural}, check which account the credential belongs to.`,
			);
		} catch (error) {
			throw toListError(this.getNode(), error);
		}
	};
}

/** The pages are cached, so a keystroke costs no request. Without a search, the first page with entries is enough. */
async function searchCatalog(
	client: Client,
	from: number,
	search: string,
	listCandidates: ListCandidates,
): Promise<{ results: INodeListSearchItems[]; nextPage?: string }> {
	const isMatch = textMatcher(search);
	const results: INodeListSearchItems[] = [];
	for await (const { pageNumber, items, hasNext } of readCatalog(client, { from })) {
		const found = items.flatMap(listCandidates).filter(({ searched }) => isMatch(searched));
		results.push(...found.map(({ entry }) => entry));
		if (hasNext === false) break;
		const isEnough = search === '' && results.length > 0;
		const isLast = pageNumber + 1 === from + MOST_LOOKUP_PAGES;
		if (isEnough || isLast) return { results, nextPage: String(pageNumber + 1) };
	}
	return { results };
}

function toListError(node: INode, error: unknown): NodeError {
	const isLimited = error instanceof ServiceError && error.outcome.kind === 'rateLimited';
	if (!isLimited) return toFailure(node, error).error;
	return buildListError(
		node,
		'Rate limit reached. Try again in a minute.',
		'The platform allows 20 product requests a minute for the whole account, running workflows included. Open the list again in a minute, or enter the hash with By Hash.',
	);
}

/** The editor shows the description only of a NodeApiError. */
function buildListError(node: INode, message: string, description: string): NodeApiError {
	return new NodeApiError(node, { message }, { message, description, level: 'info' });
}
