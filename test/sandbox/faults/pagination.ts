import { frame, paginate, type PageRequest, type ProductPage } from '../api/paginate';
import type { Product } from '../types';
import type { PaginationFault } from './types';

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
