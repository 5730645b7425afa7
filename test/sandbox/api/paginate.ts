import type { PaginationFault } from '../faults';
import type { Product } from '../types';

export interface PageLink {
	url: string | null;
	label: string;
	active: boolean;
}

export interface ProductPage {
	data: Product[];
	links: { first: string; last: string; prev: string | null; next: string | null };
	meta: {
		current_page: number;
		from: number | null;
		last_page: number;
		links: PageLink[];
		path: string;
		per_page: number;
		to: number | null;
		total: number;
	};
}

export interface PageRequest {
	page: number;
	perPage: number;
	/** Address of the list without a query. */
	path: string;
	/** What this deployment calls the page number. */
	pageName: string;
}

/**
 * One page of the list (section "GET /products"). The links carry the page number alone, as the
 * document shows them: filters and page size are dropped.
 */
export function paginate(products: readonly Product[], request: PageRequest): ProductPage {
	const { page, perPage } = request;
	const from = (page - 1) * perPage;
	const data = products.slice(from, from + perPage);
	const lastPage = Math.max(1, Math.ceil(products.length / perPage));
	return {
		data,
		...frame(request, lastPage, {
			from: data.length > 0 ? from + 1 : null,
			to: data.length > 0 ? from + data.length : null,
			total: products.length,
		}),
	};
}

/** Links and meta around the data of a page. */
function frame(
	request: PageRequest,
	lastPage: number,
	counts: { from: number | null; to: number | null; total: number },
): Omit<ProductPage, 'data'> {
	const { page, perPage, path, pageName } = request;
	const url = (number: number): string => `${path}?${encodeURIComponent(pageName)}=${number}`;
	const prev = page > 1 ? url(page - 1) : null;
	const next = page < lastPage ? url(page + 1) : null;
	const numbers = shownPages(page, lastPage).map((number) => ({
		url: number === null ? null : url(number),
		label: number === null ? '...' : String(number),
		active: number === page,
	}));
	return {
		links: { first: url(1), last: url(lastPage), prev, next },
		meta: {
			current_page: page,
			from: counts.from,
			last_page: lastPage,
			links: [
				{ url: prev, label: 'pagination.previous', active: false },
				...numbers,
				{ url: next, label: 'pagination.next', active: false },
			],
			path,
			per_page: perPage,
			to: counts.to,
			total: counts.total,
		},
	};
}

/** Laravel leaves numbers out of the middle once there are many pages; null stands for "...". */
function shownPages(page: number, lastPage: number): Array<number | null> {
	const range = (first: number, last: number): number[] =>
		Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
	if (lastPage < 14) return range(1, lastPage);
	if (page <= 7) return [...range(1, 10), null, ...range(lastPage - 1, lastPage)];
	if (page >= lastPage - 6) return [1, 2, null, ...range(lastPage - 9, lastPage)];
	return [1, 2, null, ...range(page - 3, page + 3), null, ...range(lastPage - 1, lastPage)];
}

/** A page of the list as a service with this fault would give it. */
export function lyingPage(
	products: readonly Product[],
	request: PageRequest,
	fault: PaginationFault,
): unknown {
	const honest = paginate(products, request);
	const { page } = request;
	const { last_page: lastPage } = honest.meta;
	const begin = fault.page ?? 2;
	const shifted = page < begin ? page : page - 1;
	switch (fault.lie) {
		case 'lastPageTooLow':
			return reframe(honest, request, 1);
		case 'lastPageTooHigh':
			return reframe(honest, request, lastPage + 5);
		case 'metaMissing':
			return { data: honest.data, links: honest.links };
		case 'metaAndLinksMissing':
			return { data: honest.data };
		case 'numbersAsStrings':
			return { ...honest, meta: stringify(honest.meta) };
		case 'repeatedPage':
			return reframe(paginate(products, { ...request, page: shifted }), request, lastPage + 1);
		case 'ignoresPage':
			return paginate(products, { ...request, page: 1 });
		case 'emptyPage': {
			const shown = paginate(products, { ...request, page: shifted });
			const page_ = page === begin ? { ...shown, data: [] } : shown;
			return reframe(page_, request, lastPage + 1);
		}
		case 'neverEnding':
			return reframe(endless(products, request, fault.fresh ?? false), request, page + 1);
		case 'shrinking':
			return page < begin ? honest : reframe(honest, request, page);
	}
}

function reframe(shown: ProductPage, request: PageRequest, lastPage: number): ProductPage {
	const { from, to, total } = shown.meta;
	const counts = shown.data.length > 0 ? { from, to, total } : { from: null, to: null, total };
	return { data: shown.data, ...frame(request, lastPage, counts) };
}

function endless(products: readonly Product[], request: PageRequest, fresh: boolean): ProductPage {
	const pages = Math.max(1, Math.ceil(products.length / request.perPage));
	const round = Math.floor((request.page - 1) / pages);
	const shown = paginate(products, { ...request, page: ((request.page - 1) % pages) + 1 });
	if (!fresh || round === 0) return shown;
	const data = shown.data.map((product) => ({ ...product, hash: `${product.hash}x${round}` }));
	return { ...shown, data };
}

function stringify(meta: ProductPage['meta']): Record<string, unknown> {
	return Object.fromEntries(
		Object.entries(meta).map(([name, value]) => [
			name,
			typeof value === 'number' ? String(value) : value,
		]),
	);
}
