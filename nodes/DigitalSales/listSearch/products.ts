import type {
	ILoadOptionsFunctions,
	INodeListSearchItems,
	INodeListSearchResult,
} from 'n8n-workflow';
import { hasSearched, readCatalog, type CatalogOffer, type CatalogProduct } from '../api/catalog';
import { productStatusName } from '../output/productStatus';
import { PRODUCT_STATUSES } from '../api/schemas/product';
import { formatReais } from '../domain/money';
import { cleanText, finder } from '../domain/text';
import { emptyList, listClient, listError } from './listClient';

/** A service may ignore the search; then its pages are searched here. */
const MOST_PAGES_A_CALL = 5;
/** It goes into an address. */
const LONGEST_SEARCH = 200;

/** The searchable list of products: lowest price, title, status. */
export async function searchProducts(
	this: ILoadOptionsFunctions,
	filter?: string,
	paginationToken?: string,
): Promise<INodeListSearchResult> {
	return await searchPages(this, 'products', filter, paginationToken, (product) => {
		const { hash, title, sale_page: url } = product;
		if (hash == null) return [];
		const entry = { name: productLabel(product), value: hash, url: url ?? undefined };
		return [{ entry, texts: [title, hash] }];
	});
}

/** The searchable list of offers: price, titles of offer and product, status of the product. */
export async function searchOffers(
	this: ILoadOptionsFunctions,
	filter?: string,
	paginationToken?: string,
): Promise<INodeListSearchResult> {
	return await searchPages(this, 'offers', filter, paginationToken, (product) =>
		product.offers.flatMap((offer) => {
			const { hash, title, url } = offer;
			if (hash == null) return [];
			const entry = { name: offerLabel(product, offer), value: hash, url: url ?? undefined };
			return [{ entry, texts: [title, hash, product.title, product.hash] }];
		}),
	);
}

function productLabel({ title, hash, offers, status }: CatalogProduct): string {
	const prices = offers.map(({ price }) => price).filter((price) => price != null);
	const price = prices.length === 0 ? undefined : formatReais(Math.min(...prices));
	const isOne = new Set(prices).size === 1;
	return label(price && (isOne ? price : `from ${price}`), [title || hash], status);
}

function offerLabel(product: CatalogProduct, { title, price }: CatalogOffer): string {
	return label(
		price == null ? undefined : formatReais(price),
		[title, product.title || product.hash],
		product.status,
	);
}

type Part = string | null | undefined;

/**
 * One line of a list. The editor cuts it after about fifty letters, so the price comes first, and an
 * unusual status comes before the titles.
 */
function label(price: Part, titles: Part[], status: number | null | undefined): string {
	const statusName = status == null ? undefined : String(productStatusName(status));
	const parts =
		status === PRODUCT_STATUSES.active
			? [price, ...titles, statusName]
			: [price, statusName, ...titles];
	return parts.filter((part) => part != null && part !== '').join(' · ');
}

/** An entry of a list, and what a search may find of it. */
interface Found {
	entry: INodeListSearchItems;
	texts: Part[];
}

async function searchPages(
	context: ILoadOptionsFunctions,
	what: 'products' | 'offers',
	filter: string | undefined,
	paginationToken: string | undefined,
	entriesOf: (product: CatalogProduct) => Found[],
): Promise<INodeListSearchResult> {
	const search = cleanText(filter?.slice(0, LONGEST_SEARCH) ?? '') || undefined;
	const isFound = finder(search ?? '');
	try {
		const client = await listClient(context);
		const from = Number(paginationToken ?? 1);
		const reading = readCatalog(client, { search, from });
		for (let page = await reading.next(); !page.done; page = await reading.next()) {
			const { number, items, hasNext } = page.value;
			const results: INodeListSearchItems[] = [];
			for (const all of items.map(entriesOf)) {
				const fitting = all.filter(({ texts }) => isFound(texts));
				// What the service has found by its own rule is shown as well.
				const isOther = fitting.length === 0 && all.length > 0 && search !== undefined;
				const shown = isOther && (await hasSearched(client, search)) ? all : fitting;
				results.push(...shown.map(({ entry }) => entry));
			}
			const mayFollow = hasNext !== false && number + 1 < from + MOST_PAGES_A_CALL;
			if (results.length === 0 && mayFollow) continue;
			if (results.length === 0 && hasNext === false) break;
			return (hasNext ?? (await isFollowed(reading)))
				? { results, paginationToken: String(number + 1) }
				: { results };
		}
		if (from === 1 && search === undefined) throw emptyList(context.getNode(), what);
		return { results: [] };
	} catch (error) {
		throw listError(context.getNode(), error);
	}
}

/** Whether another page follows; if it cannot be read, asking for it says why. */
async function isFollowed(reading: ReturnType<typeof readCatalog>): Promise<boolean> {
	return await reading.next().then(
		({ done, value }) => done !== true && value.items.length > 0,
		() => true,
	);
}
