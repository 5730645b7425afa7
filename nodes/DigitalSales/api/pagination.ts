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

		const isComplete = keys.size === total;
		const isShort = total !== undefined && keys.size < total;

		// The last line that applies decides.
		let hasNext = page.hasNext !== false && !(lastPage > 0 && isComplete);
		if (isShort) hasNext = true;
		if (items.length === 0) hasNext = false;
		if (page.hasNext === true || pageNumber < lastPage) hasNext = true;
		// Some platforms link to a next page that does not exist.
		if (page.data.length === 0 && isComplete) hasNext = false;
		yield { pageNumber, items, hasNext };

		if (!hasNext && isShort) return `the platform announced ${total} and sent ${keys.size}`;
		if (!hasNext) return undefined;
		if (pagesWithoutNewRows >= MOST_PAGES_WITHOUT_NEW_ROWS) {
			return 'the platform kept sending pages without anything new';
		}
	}

	return `the node stopped after ${maxPages} pages, and the platform has more`;
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
