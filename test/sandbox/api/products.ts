import { lyingPage } from '../faults/pagination';
import type { Product } from '../types';
import { json, type Answer } from './answer';
import { CatalogSearch } from './catalogSearch';
import type { ApiRequest, SandboxParts } from './context';
import { paginate, type PageRequest, type ProductPage } from './paginate';

const DEFAULT_PAGE_SIZE = 30;

/** Section "GET /products": the list with its filters; unknown query names change nothing. */
export function listProducts(parts: SandboxParts): (request: ApiRequest) => Answer {
	const { settings, state } = parts;
	const search = new CatalogSearch(state);
	const serialized = new SerializedProducts();
	const names = settings.queryNames;

	return ({ query, faults }) => {
		const found = search.find({
			search: query[names.search],
			categories: query[names.categories],
			status: query[names.status],
		});
		const request: PageRequest = {
			page: positive(query[names.page], 1),
			perPage: Math.min(positive(query[names.perPage], DEFAULT_PAGE_SIZE), settings.maxPageSize),
			path: `${parts.origin()}${settings.basePath}/products`,
			pageName: names.page,
		};
		const lie = faults.of('paginationLies');
		if (lie) return json(200, lyingPage(found, request, lie));
		const page = paginate(found, request);
		return { ...json(200, page), text: () => serialized.page(page) };
	};
}

/** Anything but a positive integer counts as absent, as in Laravel's paginator. */
function positive(text: string | undefined, fallback: number): number {
	const value = text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : 0;
	return value >= 1 ? value : fallback;
}

/** Products as JSON text, made once: benchmarks read the catalog many times over. */
class SerializedProducts {
	private readonly texts = new WeakMap<Product, { offers: number; text: string }>();

	page({ data, links, meta }: ProductPage): string {
		const products = data.map((product) => this.product(product)).join(',');
		return `{"data":[${products}],"links":${JSON.stringify(links)},"meta":${JSON.stringify(meta)}}`;
	}

	private product(product: Product): string {
		const known = this.texts.get(product);
		// Offers are only ever added, so their number tells whether the text is still true.
		if (known && known.offers === product.offers.length) return known.text;
		const text = JSON.stringify(product);
		this.texts.set(product, { offers: product.offers.length, text });
		return text;
	}
}
