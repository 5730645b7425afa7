import type {
	ILoadOptionsFunctions,
	INodeListSearchItems,
	INodeListSearchResult,
} from 'n8n-workflow';
import { readCatalog, type CatalogOffer, type CatalogProduct } from '../api/catalog';
import { productStatusName } from '../output/productStatus';
import { PRODUCT_STATUSES } from '../api/schemas/product';
import { formatReais } from '../domain/money';
import { cleanText, searchKey } from '../domain/text';
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
	return await searchPages(this, 'products', filter, paginationToken, (product, isWanted) => {
		if (product.hash == null || !isWanted(product.title, product.hash)) return [];
		return [
			{ name: productLabel(product), value: product.hash, url: product.sale_page ?? undefined },
		];
	});
}

/** The searchable list of offers: price, titles of offer and product, status of the product. */
export async function searchOffers(
	this: ILoadOptionsFunctions,
	filter?: string,
	paginationToken?: string,
): Promise<INodeListSearchResult> {
	return await searchPages(this, 'offers', filter, paginationToken, (product, isWanted) => {
		const isWholeProduct = isWanted(product.title, product.hash);
		return product.offers.flatMap((offer) => {
			if (offer.hash == null) return [];
			if (!isWholeProduct && !isWanted(offer.title, offer.hash)) return [];
			return [{ name: offerLabel(product, offer), value: offer.hash, url: offer.url ?? undefined }];
		});
	});
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

type Wish = (title: string | null | undefined, hash: string | null | undefined) => boolean;

/** Results are searched again, because a service ignores query names that it does not know. */
function wishFor(search: string | undefined): Wish {
	if (search === undefined) return () => true;
	const wanted = searchKey(search);
	return (title, hash) => hash === search || searchKey(title ?? '').includes(wanted);
}

async function searchPages(
	context: ILoadOptionsFunctions,
	what: 'products' | 'offers',
	filter: string | undefined,
	paginationToken: string | undefined,
	entriesOf: (product: CatalogProduct, isWanted: Wish) => INodeListSearchItems[],
): Promise<INodeListSearchResult> {
	const search = cleanText(filter?.slice(0, LONGEST_SEARCH) ?? '') || undefined;
	const isWanted = wishFor(search);
	try {
		const client = await listClient(context);
		const from = Number(paginationToken ?? 1);
		const reading = readCatalog(client, { search, from });
		for (let page = await reading.next(); !page.done; page = await reading.next()) {
			const { number, items, hasNext } = page.value;
			const results = items.flatMap((product) => entriesOf(product, isWanted));
			if (results.length === 0 && number + 1 < from + MOST_PAGES_A_CALL) continue;
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
		({ done }) => done !== true,
		() => true,
	);
}
