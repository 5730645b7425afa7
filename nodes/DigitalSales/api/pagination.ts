import type { IDataObject } from 'n8n-workflow';
import type { ProductPage } from './schemas/product';

export interface Listing {
	items: IDataObject[];
	/** Why the list may lack something, in words for the user; undefined where it is complete. */
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

/** As many as a browser has under way with one host. */
const PAGES_AT_ONCE = 6;
const DEFAULT_MAX_PAGES = 2_000;
/** Pages in a row without anything new after which a service that claims to have more is left. */
const MOST_BARREN_PAGES = 10;
/** The same where the service does not say how many pages there are. */
const MOST_BARREN_PAGES_UNANNOUNCED = 3;

/**
 * Reads the pages of a list in order and gives the items once each.
 *
 * Page 1 tells the page size that the service really applied and how many pages there are. The rest
 * are fetched a few at a time, never more than the limit still needs. Where the service announces no
 * number of pages they are read one after the other until one is short or empty. Whatever a service
 * does wrong, the list ends, and `incomplete` says where it may lack something.
 */
export async function listPages(options: ListingOptions): Promise<Listing> {
	const run = new ListingRun(options);
	return await run.result();
}

class ListingRun {
	private readonly items: IDataObject[] = [];
	private readonly seenHashes = new Set<string>();
	private readonly underWay = new Map<number, Promise<ProductPage>>();
	private seen = 0;
	private repeated = 0;
	private barrenInARow = 0;
	/** How many items a full page holds: what page 1 really brought, not what was asked for. */
	private pageSize = 0;
	private lastPage: number | undefined;
	private total: number | undefined;
	private catalogChanged = false;
	private ending: string | undefined;

	constructor(private readonly options: ListingOptions) {}

	async result(): Promise<Listing> {
		const maxPages = this.options.maxPages ?? DEFAULT_MAX_PAGES;
		for (let current = 1, next = 1; ; current++) {
			const most = Math.min(maxPages, this.lastPage ?? current);
			while (next <= most && next < current + this.pagesAtOnce()) this.start(next++);
			if (next === current) this.start(next++);
			const page = await this.underWay.get(current);
			this.underWay.delete(current);
			if (page === undefined || this.take(page, current)) break;
			if (current >= maxPages) {
				this.ending = `the service has more pages than the ${maxPages} that the node reads at most`;
				break;
			}
		}
		return { items: this.items, incomplete: this.incomplete() };
	}

	private start(page: number): void {
		const request = this.options.fetchPage(page);
		// Awaited in order; a failure of a later page must not surface before its turn.
		request.catch(() => undefined);
		this.underWay.set(page, request);
	}

	private pagesAtOnce(): number {
		if (this.lastPage === undefined || this.pageSize === 0) return 1;
		const { limit } = this.options;
		if (limit === undefined) return PAGES_AT_ONCE;
		return Math.min(PAGES_AT_ONCE, Math.ceil((limit - this.items.length) / this.pageSize));
	}

	/** Takes in a page and says whether it was the last one needed. */
	private take(page: ProductPage, number: number): boolean {
		if (number === 1) this.pageSize = appliedPageSize(page);
		this.noteNumbers(page);
		const newItems = this.addNew(page.data);
		this.barrenInARow = newItems === 0 ? this.barrenInARow + 1 : 0;
		const { limit } = this.options;
		if (limit !== undefined && this.items.length >= limit) {
			this.items.length = limit;
			return true;
		}
		return this.isEnd(page, number);
	}

	private isEnd(page: ProductPage, number: number): boolean {
		const full = page.data.length >= this.pageSize && page.data.length > 0;
		if (this.lastPage !== undefined) {
			if (number < this.lastPage) return this.gaveUp(MOST_BARREN_PAGES);
			const mayHoldMore =
				full && (this.total === undefined ? page.hasNext === true : this.seen < this.total);
			return !mayHoldMore || this.gaveUp(1);
		}
		if (page.hasNext === false || page.data.length === 0) return true;
		if (page.hasNext === undefined && !full) return true;
		return this.gaveUp(MOST_BARREN_PAGES_UNANNOUNCED);
	}

	private gaveUp(mostBarren: number): boolean {
		if (this.barrenInARow < mostBarren) return false;
		this.ending = 'the service kept sending pages without anything new';
		return true;
	}

	private noteNumbers(page: ProductPage): void {
		if (page.total !== undefined) {
			if (this.total !== undefined && this.total !== page.total) this.catalogChanged = true;
			this.total = page.total;
		}
		const fromTotal =
			page.total !== undefined && this.pageSize > 0
				? Math.ceil(page.total / this.pageSize)
				: undefined;
		const announced = Math.max(page.lastPage ?? 0, fromTotal ?? 0);
		if (announced > 0) this.lastPage = announced;
	}

	private addNew(data: IDataObject[]): number {
		let added = 0;
		for (const item of data) {
			const { hash } = item;
			if (typeof hash === 'string' || typeof hash === 'number') {
				const key = String(hash);
				if (this.seenHashes.has(key)) {
					this.repeated++;
					continue;
				}
				this.seenHashes.add(key);
			}
			added++;
			if (this.options.keep(item)) this.items.push(item);
		}
		this.seen += added;
		return added;
	}

	private incomplete(): string | undefined {
		const { limit } = this.options;
		if (limit !== undefined && this.items.length >= limit) return undefined;
		if (this.ending !== undefined) return this.ending;
		if (this.catalogChanged) return 'the catalog changed while it was being read';
		if (this.total !== undefined && this.seen < this.total) {
			const repeats = this.repeated > 0 ? `, and ${this.repeated} came more than once` : '';
			return `the service announced ${this.total} and sent ${this.seen}${repeats}`;
		}
		return undefined;
	}
}

/**
 * How many items a full page holds. The number the service states counts only where its own figures
 * agree with each other; else what page 1 really brought.
 */
function appliedPageSize({ data, perPage, total, lastPage }: ProductPage): number {
	const agrees =
		perPage !== undefined && total !== undefined && Math.ceil(total / perPage) === lastPage;
	return agrees ? perPage : data.length;
}
