import type { IDataObject } from 'n8n-workflow';
import isEqual from 'lodash/isEqual';
import { isJsonObject } from '../shared/json';
import type { ProductPage } from './schemas/product';

/** A page, without the rows that came on a page before. */
export interface NewItems<T> {
	number: number;
	items: T[];
	/** Whether another page follows; undefined if only asking for it can tell. */
	hasNext?: boolean;
}

interface PageOptions<T> {
	fetchPage: (page: number) => Promise<ProductPage<T>>;
	/** The first page to read. */
	from?: number;
	maxPages?: number;
	/** How many items are still wanted, which decides how many pages are fetched at once; else one. */
	wanted?: () => number;
}

/** As many as a browser has under way with one host. */
const PAGES_AT_ONCE = 6;
const DEFAULT_MAX_PAGES = 2_000;
/** Pages in a row without anything new, before the last one that is announced. */
const MOST_BARREN_PAGES = 10;
/** The same if only links say that more follow. */
const MOST_BARREN_PAGES_UNANNOUNCED = 3;

/**
 * Reads the pages of a list in order; it alone decides when a list ends, whatever a service does
 * wrong. An end is believed if a link says so, or both figures; else another page is asked for, until
 * one brings nothing new.
 *
 * @returns why the list may lack something, in words for the user; undefined if it is complete
 */
export async function* pages<T extends Row>(
	options: PageOptions<T>,
): AsyncGenerator<NewItems<T>, string | undefined, void> {
	const { fetchPage, from = 1, maxPages = DEFAULT_MAX_PAGES, wanted = () => 1 } = options;
	const progress = new Progress(from === 1);
	const underWay = new Map<number, Promise<ProductPage<T>>>();
	const most = from + maxPages - 1;
	for (let number = from, next = from; ; number++) {
		const last = Math.min(most, progress.lastPage, number - 1 + progress.pagesFor(wanted()));
		while (next <= Math.max(number, last)) {
			const fetching = fetchPage(next);
			// Awaited in order; a failure of a later page must not surface before its turn.
			fetching.catch(() => undefined);
			underWay.set(next++, fetching);
		}
		const page = await underWay.get(number);
		underWay.delete(number);
		if (!page) return undefined;
		const items = progress.enter(page);
		const hasNext = progress.hasNext(page, number);
		yield { number, items, hasNext };
		if (hasNext === false) return progress.incomplete();
		const isAnnounced = number < progress.lastPage;
		if (progress.barren >= (isAnnounced ? MOST_BARREN_PAGES : MOST_BARREN_PAGES_UNANNOUNCED)) {
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
	barren = 0;
	/** As the service states it; 0 if it does not. */
	lastPage = 0;
	private readonly keys = new Set<string>();
	private repeated = 0;
	private total?: number;
	private hasChanged = false;
	private rowsOfFirst?: number;

	/** @param isFromStart else nothing can be compared with the total */
	constructor(private readonly isFromStart: boolean) {}

	/** How many pages may be fetched at once for so many items. */
	pagesFor(items: number): number {
		return Math.min(PAGES_AT_ONCE, this.rowsOfFirst ? Math.ceil(items / this.rowsOfFirst) : 1);
	}

	/** Takes in a page and gives what is new on it. */
	enter<T extends Row>({ data, total, lastPage }: ProductPage<T>): T[] {
		this.rowsOfFirst ??= data.length;
		this.lastPage = lastPage ?? this.lastPage;
		if (this.isFromStart && total !== undefined) {
			this.hasChanged ||= total !== (this.total ?? total);
			this.total = total;
		}
		const items = data.filter((row) => {
			const { size } = this.keys;
			return this.keys.add(rowKey(row)).size > size;
		});
		this.repeated += data.length - items.length;
		this.barren = items.length === 0 ? this.barren + 1 : 0;
		return items;
	}

	hasNext({ data, hasNext }: ProductPage<Row>, number: number): boolean | undefined {
		const { size } = this.keys;
		// Figures and an empty page outweigh a link that always leads on.
		if (data.length === 0 && size === this.total) return false;
		if (hasNext === true || number < this.lastPage) return true;
		if (this.barren > 0) return false;
		if (this.total !== undefined && size < this.total) return true;
		return hasNext === false || (this.lastPage > 0 && size === this.total) ? false : undefined;
	}

	incomplete(): string | undefined {
		const { total = 0, repeated } = this;
		const { size } = this.keys;
		if (this.hasChanged) return 'the catalog changed while it was being read';
		const parts = [
			...(size < total ? [`the service announced ${total} and sent ${size}`] : []),
			...(size !== total && repeated > 0 ? [`${repeated} came more than once`] : []),
		];
		return parts.length > 0 ? parts.join(', and ') : undefined;
	}
}

/** What a row is told from others by; a product without a hash by all that it says. */
interface Row {
	hash?: unknown;
	offers?: unknown;
	offer?: unknown;
}

/** A service may send a row for each offer of a product. */
function rowKey(row: Row): string {
	const { hash, offers, offer } = row;
	if (typeof hash !== 'string' && typeof hash !== 'number') return JSON.stringify(row);
	const sold = [offers, offer]
		.flat()
		.map((one) => (isJsonObject(one) ? [one.hash, one.price] : one));
	return JSON.stringify([String(hash), sold]);
}

/** Whether two answers hold the same, so that what they were asked makes no difference. */
export function isSamePage(one: ProductPage<Row>, other: ProductPage<Row>): boolean {
	return one.total === other.total && isEqual(one.data.map(rowKey), other.data.map(rowKey));
}

export interface Listing {
	items: IDataObject[];
	/** Why the list may lack something, in words for the user; undefined if it is complete. */
	incomplete?: string;
}

export interface ListingOptions {
	fetchPage: (page: number) => Promise<ProductPage>;
	/** How many rows to give at most. */
	limit?: number;
	/** What to give of the products of a page. */
	rowsOf: (products: IDataObject[]) => Promise<IDataObject[]>;
	maxPages?: number;
}

/** Reads a list as far as its limit needs. */
export async function listPages(options: ListingOptions): Promise<Listing> {
	const { limit = Infinity, rowsOf, ...reading } = options;
	const items: IDataObject[] = [];
	const read = pages({ ...reading, wanted: () => limit - items.length });
	for (;;) {
		const page = await read.next();
		if (page.done) return { items, incomplete: page.value };
		for (const row of await rowsOf(page.value.items)) items.push(row);
		if (items.length >= limit) {
			items.length = limit;
			return { items };
		}
	}
}
