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
}

/**
 * One page of the list (section "GET /products"). The links carry the page number alone, as the
 * document shows them: filters and page size are dropped.
 */
export function paginate(products: readonly Product[], request: PageRequest): ProductPage {
	const { page, perPage, path } = request;
	const from = (page - 1) * perPage;
	const data = products.slice(from, from + perPage);
	const lastPage = Math.max(1, Math.ceil(products.length / perPage));
	const url = (number: number): string => `${path}?page=${number}`;
	const prev = page > 1 ? url(page - 1) : null;
	const next = page < lastPage ? url(page + 1) : null;
	const numbers = shownPages(page, lastPage).map((number) => ({
		url: number === null ? null : url(number),
		label: number === null ? '...' : String(number),
		active: number === page,
	}));
	return {
		data,
		links: { first: url(1), last: url(lastPage), prev, next },
		meta: {
			current_page: page,
			from: data.length > 0 ? from + 1 : null,
			last_page: lastPage,
			links: [
				{ url: prev, label: 'pagination.previous', active: false },
				...numbers,
				{ url: next, label: 'pagination.next', active: false },
			],
			path,
			per_page: perPage,
			to: data.length > 0 ? from + data.length : null,
			total: products.length,
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
