import type { IDataObject } from 'n8n-workflow';
import type { ProductPage } from './schemas/product';

/** The items of a page that came on no page before. */
export interface NewItems<T> {
	/** The number of the page. */
	number: number;
	items: T[];
	/** Whether another page follows; undefined if only asking for it can tell. */
	hasNext?: boolean;
}

interface PageOptions<T> {
	fetchPage: (page: number) => Promise<ProductPage<T>>;
	/** Tells a repeated item by its key; an item without one is always new. */
	keyOf: (item: T) => string | undefined;
	/** The first page to read. */
	from?: number;
	maxPages?: number;
	/** {@link MOST_BARREN_PAGES_UNANNOUNCED}, if it is to be less. */
	mostBarrenUnannounced?: number;
	/** How many items are still wanted, which decides how many pages are fetched at once; else one. */
	wanted?: () => number;
}

/** As many as a browser has under way with one host. */
const PAGES_AT_ONCE = 6;
const DEFAULT_MAX_PAGES = 2_000;
/** Pages in a row without anything new, although the service announces more. */
const MOST_BARREN_PAGES = 10;
/** The same if the service does not announce how many pages there are. */
const MOST_BARREN_PAGES_UNANNOUNCED = 3;

/**
 * Reads the pages of a list in order and yields what is new on them; it alone decides when a list
 * ends, whatever a service does wrong.
 *
 * Page 1 tells the page size that the service really applied and how many pages there are. If none
 * are announced, pages are read one after the other until one is short or empty.
 *
 * @returns why the list may lack something, in words for the user; undefined if it is complete
 */
export async function* pages<T>(
	options: PageOptions<T>,
): AsyncGenerator<NewItems<T>, string | undefined, void> {
	const { fetchPage, keyOf, from = 1, maxPages = DEFAULT_MAX_PAGES, wanted } = options;
	const progress = new Progress(from, options.mostBarrenUnannounced);
	const underWay = new Map<number, Promise<ProductPage<T>>>();
	const most = from + maxPages - 1;
	for (let number = from, next = from; ; number++) {
		const last = Math.min(most, progress.lastPage ?? number);
		const atOnce = wanted ? progress.pagesFor(wanted()) : 1;
		while (next === number || (next <= last && next < number + atOnce)) {
			const fetching = fetchPage(next);
			// Awaited in order; a failure of a later page must not surface before its turn.
			fetching.catch(() => undefined);
			underWay.set(next++, fetching);
		}
		const page = await underWay.get(number);
		underWay.delete(number);
		if (!page) return undefined;
		const items = progress.enter(page, number, keyOf);
		const hasNext = progress.hasNext(page, number);
		if (items.length > 0) yield { number, items, hasNext };
		if (hasNext === false) return progress.incomplete();
		if (progress.barrenPages >= progress.mostBarren(number)) {
			return 'the service kept sending pages without anything new';
		}
		if (number >= most) {
			return `the node stopped after ${maxPages} pages, and the service has more`;
		}
	}
}

/** What the pages read so far tell of a list. */
class Progress {
	/** Pages without anything new, in a row up to the latest. */
	barrenPages = 0;
	lastPage?: number;
	private readonly seenKeys = new Set<string>();
	private seen: number;
	private repeated = 0;
	/** How many items a full page holds, which may be fewer than were asked for. */
	private pageSize = 0;
	private total?: number;
	private hasChanged = false;

	constructor(
		private readonly from: number,
		private readonly mostBarrenUnannounced = MOST_BARREN_PAGES_UNANNOUNCED,
	) {
		// A list that is not read from its beginning cannot be compared with its total.
		this.seen = from === 1 ? 0 : Infinity;
	}

	/** How many pages may be fetched at once for so many items. */
	pagesFor(items: number): number {
		if (this.lastPage === undefined || this.pageSize === 0) return 1;
		return Math.min(PAGES_AT_ONCE, Math.ceil(items / this.pageSize));
	}

	/** Takes in a page and gives what is new on it. */
	enter<T>(page: ProductPage<T>, number: number, keyOf: PageOptions<T>['keyOf']): T[] {
		if (number === this.from) this.pageSize = appliedPageSize(page, number);
		this.noteFigures(page);
		const items = page.data.filter((item) => this.isNew(keyOf(item)));
		this.barrenPages = items.length === 0 ? this.barrenPages + 1 : 0;
		this.seen += items.length;
		return items;
	}

	hasNext({ data, hasNext }: ProductPage<unknown>, number: number): boolean | undefined {
		const isFull = data.length >= this.pageSize && data.length > 0;
		if (this.lastPage === undefined) {
			if (data.length === 0) return false;
			return hasNext ?? (isFull ? undefined : false);
		}
		if (number < this.lastPage) return true;
		return isFull && (this.total === undefined ? hasNext === true : this.seen < this.total);
	}

	mostBarren(number: number): number {
		if (this.lastPage === undefined) return this.mostBarrenUnannounced;
		return number < this.lastPage ? MOST_BARREN_PAGES : 1;
	}

	incomplete(): string | undefined {
		if (this.hasChanged) return 'the catalog changed while it was being read';
		if (this.total === undefined || this.seen >= this.total) return undefined;
		const repeats = this.repeated > 0 ? `, and ${this.repeated} came more than once` : '';
		return `the service announced ${this.total} and sent ${this.seen}${repeats}`;
	}

	private noteFigures({ total, lastPage }: ProductPage<unknown>): void {
		if (total !== undefined) {
			if (this.total !== undefined && this.total !== total) this.hasChanged = true;
			this.total = total;
		}
		const fromTotal = total !== undefined && this.pageSize > 0 ? total / this.pageSize : 0;
		const announced = Math.max(lastPage ?? 0, Math.ceil(fromTotal));
		if (announced > 0) this.lastPage = announced;
	}

	private isNew(key: string | undefined): boolean {
		if (key === undefined) return true;
		if (this.seenKeys.has(key)) {
			this.repeated++;
			return false;
		}
		this.seenKeys.add(key);
		return true;
	}
}

/** What the service states, if its own figures agree; else what page 1 brought; 0 if unknown. */
function appliedPageSize(page: ProductPage<unknown>, number: number): number {
	const { data, perPage, total, lastPage } = page;
	if (perPage !== undefined && Math.ceil((total ?? NaN) / perPage) === lastPage) return perPage;
	return number === 1 ? data.length : 0;
}

export interface Listing {
	items: IDataObject[];
	/** Why the list may lack something, in words for the user; undefined if it is complete. */
	incomplete?: string;
}

export interface ListingOptions {
	fetchPage: (page: number) => Promise<ProductPage>;
	/** How many items to keep at most, counted after `keep`. */
	limit?: number;
	/** The filters, applied to what came back. */
	keep: (item: IDataObject) => boolean;
	maxPages?: number;
}

/** Reads a list as far as its limit needs. */
export async function listPages(options: ListingOptions): Promise<Listing> {
	const { limit = Infinity, keep, fetchPage, maxPages } = options;
	const items: IDataObject[] = [];
	const reading = pages({
		fetchPage,
		// Two items without a hash that look alike may be two.
		keyOf: ({ hash }) =>
			typeof hash === 'string' || typeof hash === 'number' ? String(hash) : undefined,
		maxPages,
		wanted: () => limit - items.length,
	});
	for (;;) {
		const page = await reading.next();
		if (page.done) return { items, incomplete: page.value };
		for (const item of page.value.items) if (keep(item)) items.push(item);
		if (items.length >= limit) {
			items.length = limit;
			return { items };
		}
	}
}
