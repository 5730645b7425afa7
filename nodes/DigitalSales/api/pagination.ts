import type { ProductPage } from './schemas/product';

export interface NewItems<T> {
	pageNumber: number;
	items: T[];
	/** Also if the platform does not say. */
	hasNext: boolean;
}

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
const DEFAULT_MAX_PAGES = 2_000;
const MOST_PAGES_WITHOUT_NEW_ROWS = 10;

/**
 * Reads pages until a link or the figures say that the list ends, or nothing new comes. A row that came before is
 * dropped.
 *
 * @returns why rows may be missing, for the user; undefined if the list is complete
 */
export async function* readPages<T extends object>(
	options: PageOptions<T>,
): AsyncGenerator<NewItems<T>, string | undefined, void> {
	const { fetchPage, from = 1, maxPages = DEFAULT_MAX_PAGES, itemsWanted = () => 1 } = options;
	const progress = new ListProgress(from === 1);
	const underWay: Array<Promise<ProductPage<T>>> = [];
	const lastAllowed = from + maxPages - 1;

	for (let pageNumber = from; ; pageNumber++) {
		const lastWanted = pageNumber - 1 + progress.pagesAtOnce(itemsWanted());
		const lastToFetch = Math.min(lastAllowed, progress.lastKnownPage, lastWanted);
		// Reads ahead only as far as pages are announced.
		while (pageNumber + underWay.length <= lastToFetch) {
			const fetching = fetchPage(pageNumber + underWay.length);
			// If an earlier page fails, nobody awaits this page.
			fetching.catch(() => undefined);
			underWay.push(fetching);
		}

		const page = await (underWay.shift() ?? fetchPage(pageNumber));
		const items = progress.addPage(page);
		const hasNext = progress.hasNext(page, pageNumber);
		yield { pageNumber, items, hasNext };

		if (!hasNext) return progress.whyIncomplete();
		if (progress.pagesWithoutNewRows >= MOST_PAGES_WITHOUT_NEW_ROWS) {
			return 'the platform kept sending pages without anything new';
		}
		if (pageNumber >= lastAllowed) {
			return `the node stopped after ${maxPages} pages, and the platform has more`;
		}
	}
}

class ListProgress {
	pagesWithoutNewRows = 0;
	lastKnownPage = 0;
	private readonly keys = new Set<string>();
	private total?: number;
	private firstPageSize?: number;

	/** @param isFromStart otherwise the total counts rows that are not read */
	constructor(private readonly isFromStart: boolean) {}

	pagesAtOnce(items: number): number {
		return Math.min(PAGES_AT_ONCE, this.firstPageSize ? Math.ceil(items / this.firstPageSize) : 1);
	}

	/** @returns the rows that did not come before */
	addPage<T extends object>({ data, total, lastPage }: ProductPage<T>): T[] {
		this.firstPageSize ??= data.length;
		this.lastKnownPage = lastPage ?? this.lastKnownPage;
		if (this.isFromStart) this.total = total ?? this.total;

		const items = data.filter((row) => {
			const { size } = this.keys;
			return this.keys.add(rowKey(row)).size > size;
		});

		this.pagesWithoutNewRows = items.length === 0 ? this.pagesWithoutNewRows + 1 : 0;
		return items;
	}

	hasNext({ data, hasNext }: ProductPage<object>, pageNumber: number): boolean {
		const { size } = this.keys;

		// Some platforms link to a next page that does not exist.
		if (data.length === 0 && size === this.total) return false;
		if (hasNext === true || pageNumber < this.lastKnownPage) return true;
		if (this.pagesWithoutNewRows > 0) return false;
		if (this.total !== undefined && size < this.total) return true;
		return hasNext !== false && !(this.lastKnownPage > 0 && size === this.total);
	}

	whyIncomplete(): string | undefined {
		const { total = 0, keys } = this;
		if (keys.size >= total) return undefined;
		return `the platform announced ${total} and sent ${keys.size}`;
	}
}

/** `JSON.stringify` keeps only these fields, at every level. */
const IDENTIFYING_FIELDS = ['hash', 'offer', 'offers', 'price'];

/** Some platforms send one row per offer, so offer and price are part of the key. */
function rowKey(row: { hash?: unknown }): string {
	return JSON.stringify(row, row.hash == null ? null : IDENTIFYING_FIELDS);
}
