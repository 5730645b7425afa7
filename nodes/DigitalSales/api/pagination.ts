import type { ProductPage } from './schemas/product';

interface PageOptions<T> {
	fetchPage: (page: number) => Promise<ProductPage<T>>;
	/** By default 1. */
	from?: number;
	/** By default 2,000. */
	maxPages?: number;
	/** How many are still wanted, by default 1, so that one page is read at a time. */
	itemsWanted?: () => number;
}

const PAGES_AT_ONCE = 6;
const MOST_PAGES_WITHOUT_NEW_ROWS = 10;

/**
 * Reads pages until a link or the figures say that the list ends, or nothing new comes. A row that came before is
 * dropped.
 *
 * @yields the new items of a page, and whether a page follows
 * @returns why rows may be missing, for the user; undefined if the list is complete
 */
export async function* readPages<T extends object>(options: PageOptions<T>) {
	const { fetchPage, from = 1, maxPages = 2_000, itemsWanted = () => 1 } = options;
	const keys = new Set<string>();
	const underWay: Array<Promise<ProductPage<T>>> = [];
	let [pageSize, lastPage, pagesWithoutNewRows] = [0, 0, 0];
	let total: number | undefined;

	for (let pageNumber = from; pageNumber < from + maxPages; pageNumber++) {
		// Reads ahead only as far as pages are announced.
		const announced = Math.min(lastPage + 1, from + maxPages) - pageNumber;
		const wanted = pageSize && Math.ceil(itemsWanted() / pageSize);
		while (underWay.length < Math.min(PAGES_AT_ONCE, announced, wanted)) {
			const fetching = fetchPage(pageNumber + underWay.length);
			// If an earlier page fails, nobody awaits this page.
			fetching.catch(() => undefined);
			underWay.push(fetching);
		}

		const page = await (underWay.shift() ?? fetchPage(pageNumber));
		if (pageNumber === from) pageSize = page.data.length;
		lastPage = page.lastPage ?? lastPage;
		// Otherwise the total counts rows that are not read.
		if (from === 1) total = page.total ?? total;
		const items = page.data.filter((row) => addKey(keys, row));
		pagesWithoutNewRows = items.length === 0 ? pagesWithoutNewRows + 1 : 0;

		const missing = total === undefined ? undefined : total - keys.size;
		const isShort = missing !== undefined && missing > 0;
		const hasNext = hasNextPage(page, { pageNumber, lastPage, missing, isNew: items.length > 0 });
		yield { pageNumber, items, hasNext };

		if (!hasNext && isShort) return `the platform announced ${total} and sent ${keys.size}`;
		if (!hasNext) return undefined;
		if (pagesWithoutNewRows >= MOST_PAGES_WITHOUT_NEW_ROWS) {
			return 'the platform kept sending pages without anything new';
		}
	}

	return `the node stopped after ${maxPages} pages, and the platform has more`;
}

interface Progress {
	pageNumber: number;
	/** 0 if none is announced. */
	lastPage: number;
	/** Rows of the total that have not come, if a total is announced. */
	missing: number | undefined;
	/** Whether the page has a row that did not come before. */
	isNew: boolean;
}

/** In doubt another page is read, because rows must not be missing. */
function hasNextPage({ data, hasNext }: ProductPage<object>, progress: Progress): boolean {
	const { pageNumber, lastPage, missing, isNew } = progress;
	// Some platforms link to a next page that does not exist.
	if (data.length === 0 && missing === 0) return false;
	if (hasNext === true || pageNumber < lastPage) return true;
	// Nothing announces another page, and a platform may repeat its last one for ever.
	if (!isNew) return false;

	// Some platforms announce too few pages, or link nowhere.
	if (missing !== undefined && missing > 0) return true;
	// Only with a number of pages, because the total may be that of the page.
	const isComplete = lastPage > 0 && missing === 0;
	return hasNext !== false && !isComplete;
}

/** `JSON.stringify` keeps only these fields, at every level. */
const IDENTIFYING_FIELDS = ['hash', 'offer', 'offers', 'price'];

/**
 * Some platforms send one row per offer, so offer and price are part of the key.
 *
 * @returns whether the row did not come before
 */
function addKey(keys: Set<string>, row: { hash?: unknown }): boolean {
	const { size } = keys;
	keys.add(JSON.stringify(row, row.hash == null ? null : IDENTIFYING_FIELDS));
	return keys.size > size;
}
