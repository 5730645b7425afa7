import { compact, min, truncate } from 'lodash';
import {
	type ILoadOptionsFunctions,
	type INode,
	type INodeListSearchItems,
	type INodeListSearchResult,
	NodeApiError,
	type NodeError,
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
import { productStatusName, toFailure } from '../output';
import { cleanText, formatReais, textMatcher, validWebAddress } from '../domain';

const LONGEST_SEARCH = 200;
const LONGEST_PRODUCT = 25;

type Text = string | null | undefined;

interface Candidate {
	label: string;
	value: Text;
	url: Text;
	searched: Text[];
}

type ListCandidates = (product: Product) => Candidate[];

export const searchProducts = makeListSearch('products', (product) => {
	const { hash, title } = product;
	const label = productLabel(product);

	return [{ label, value: hash, url: product.sale_page, searched: [title, hash] }];
});

export const searchOffers = makeListSearch('offers', (product) =>
	product.offers.map((offer) => {
		const { hash, title, url } = offer;
		const searched = [title, hash, product.title, product.hash];

		return { label: offerLabel(product, offer), value: hash, url, searched };
	}),
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

function makeListSearch(plural: string, listCandidates: ListCandidates) {
	return async function (
		this: ILoadOptionsFunctions,
		filter = '',
		paginationToken = '1',
	): Promise<INodeListSearchResult> {
		const search = cleanText(filter.slice(0, LONGEST_SEARCH));
		const from = Number(paginationToken);

		let found: INodeListSearchResult;
		try {
			const client = new Client(this, await loadAccount(this), CATALOG_LIMITS);
			found = await searchCatalog(client, from, search, listCandidates);
		} catch (error) {
			throw toListError(this.getNode(), error);
		}

		const hasMore = found.paginationToken !== undefined;
		if (found.results.length > 0) return found;

		if (search !== '' && hasMore) {
			throw buildListError(
				this.getNode(),
				`No match on pages ${from} to ${from + MOST_LOOKUP_PAGES - 1} of ${plural}`,
				'The list searches no further. Enter the hash with By Hash.',
			);
		}
		if (search !== '' || hasMore || from > 1) return found;

		throw buildListError(
			this.getNode(),
			`This account has no ${plural} yet`,
			`Create one on your platform and open the list again, or enter a hash with By Hash. If the account does have ${plural}, check which account the credential belongs to.`,
		);
	};
}

/** The pages are cached, so a keystroke costs no request. Without a search, the first page with entries is enough. */
async function searchCatalog(
	client: Client,
	from: number,
	search: string,
	listCandidates: ListCandidates,
): Promise<INodeListSearchResult> {
	const isMatch = textMatcher(search);
	const results: INodeListSearchItems[] = [];

	for await (const { pageNumber, items, hasNext } of readCatalog(client, { from })) {
		for (const { label, value, url, searched } of items.flatMap(listCandidates)) {
			if (value == null || !isMatch(searched)) continue;
			results.push({ name: label, value, url: validWebAddress(url) });
		}
		if (!hasNext) break;

		const isEnough = search === '' && results.length > 0;
		const isLast = pageNumber + 1 === from + MOST_LOOKUP_PAGES;
		if (isEnough || isLast) return { results, paginationToken: String(pageNumber + 1) };
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
