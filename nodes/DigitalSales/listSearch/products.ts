import type {
	ILoadOptionsFunctions,
	INodeListSearchItems,
	INodeListSearchResult,
} from 'n8n-workflow';
import { CREDENTIAL_NAME, readAccount } from '../api/account';
import { Client } from '../api/client';
import { toNodeError } from '../api/errors';
import { fetchProductPage, productFilter } from '../api/products';
import { productStatusName } from '../api/productStatus';
import { productSchema, type Product } from '../api/schemas/product';
import { formatReais } from '../domain/money';

const PAGE_SIZE = 100;
/** A service that ignores the search is searched here, page by page, but not without end. */
const MOST_PAGES_A_CALL = 5;

/** The searchable list of products. */
export async function searchProducts(
	this: ILoadOptionsFunctions,
	filter?: string,
	paginationToken?: string,
): Promise<INodeListSearchResult> {
	return await searchPages(this, filter, paginationToken, (product) =>
		product.hash == null
			? []
			: [{ name: productLabel(product), value: product.hash, url: product.sale_page ?? undefined }],
	);
}

/** The offers of the searchable list of products. */
export async function searchOffers(
	this: ILoadOptionsFunctions,
	filter?: string,
	paginationToken?: string,
): Promise<INodeListSearchResult> {
	return await searchPages(this, filter, paginationToken, (product) =>
		(product.offers ?? []).flatMap((offer) =>
			offer.hash == null
				? []
				: [
						{
							name: [
								product.title ?? product.hash,
								offer.title,
								offer.price == null ? undefined : formatReais(offer.price),
							]
								.filter((part) => part != null && part !== '')
								.join(' - '),
							value: offer.hash,
							url: offer.url ?? undefined,
						},
					],
		),
	);
}

function productLabel(product: Product): string {
	const prices = (product.offers ?? []).map(({ price }) => price).filter((price) => price != null);
	return [
		product.title ?? product.hash,
		prices.length === 0 ? undefined : `from ${formatReais(Math.min(...prices))}`,
		product.status == null ? undefined : productStatusName(product.status),
	]
		.filter((part) => part !== undefined)
		.join(' - ');
}

async function searchPages(
	context: ILoadOptionsFunctions,
	filter: string | undefined,
	paginationToken: string | undefined,
	entries: (product: Product) => INodeListSearchItems[],
): Promise<INodeListSearchResult> {
	try {
		const credential = await context.getCredentials(CREDENTIAL_NAME);
		const client = new Client(context, readAccount(credential), {
			retry: { maxTries: 2, maxTotalMs: 15_000 },
			timeoutMs: 20_000,
		});
		const search = filter?.trim() === '' ? undefined : filter?.trim();
		const matches = productFilter({ search });
		const results: INodeListSearchItems[] = [];
		let page = Number(paginationToken ?? 1);
		for (let read = 0; read < MOST_PAGES_A_CALL; read++, page++) {
			const { data, lastPage = 1 } = await fetchProductPage(
				client,
				{ search },
				{ page, pageSize: PAGE_SIZE },
			);
			for (const item of data.filter(matches)) {
				const product = productSchema.safeParse(item);
				if (product.success) results.push(...entries(product.data));
			}
			if (page >= lastPage) return { results };
			if (results.length > 0) return { results, paginationToken: String(page + 1) };
		}
		return { results, paginationToken: String(page) };
	} catch (error) {
		throw toNodeError(context.getNode(), error, {});
	}
}
