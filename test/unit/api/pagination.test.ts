import * as fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { readPages } from '../../../nodes/DigitalSales/api/pagination';
import type { ProductPage } from '../../../nodes/DigitalSales/api/schemas/product';
import { sequences } from '../../helpers/extent';

interface ListingOptions {
	limit?: number;
	keep?: (item: IDataObject) => boolean;
	maxPages?: number;
}

/** Lists the rows of pages up to a limit. Of the pages in flight, later pages arrive first. */
async function list(fetchPage: (page: number) => ProductPage, options: ListingOptions = {}) {
	const { limit = Infinity, keep = () => true, maxPages } = options;
	const items: IDataObject[] = [];
	const asked: number[] = [];
	let [underWay, most] = [0, 0];
	const fetching = async (number: number): Promise<ProductPage> => {
		asked.push(number);
		most = Math.max(most, ++underWay);
		for (let turn = number % 6; turn < 6; turn++) await Promise.resolve();
		underWay--;
		return fetchPage(number);
	};
	const reading = readPages({
		fetchPage: fetching,
		maxPages,
		itemsWanted: () => limit - items.length,
	});
	for (;;) {
		const { done, value } = await reading.next();
		if (done) return { items, incomplete: value, asked, most };
		items.push(...value.items.filter(keep));
		if (items.length >= limit) return { items: items.slice(0, limit), asked, most };
	}
}

const hashesOf = (items: IDataObject[]): string => items.map(({ hash }) => hash).join('');
const rowsOf = (hashes: string): IDataObject[] => [...hashes].map((hash) => ({ hash }));

describe('Pages of a list, from a platform that', () => {
	const service = fc
		.record({
			rows: fc.nat(30),
			/** How many rows the pages hold, in turn. */
			lengths: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }),
			ignoresPage: fc.boolean(),
			/** A repeated or empty page follows the first page. */
			inserted: fc.constantFrom('nothing', 'repeated', 'empty'),
			beyond: fc.constantFrom('empty', 'last page'),
			hasLinks: fc.boolean(),
			lastPage: fc.constantFrom('none', 'right', 'low', 'high'),
			total: fc.constantFrom('none', 'right', 'zero', 'page', 'high'),
		})
		// If all figures agree on a wrong end, no client can notice.
		.filter(({ hasLinks, total, lastPage, inserted, ignoresPage }) => {
			const isFirstPageAll = total === 'page' && !hasLinks;
			const isEndAfterEmpty = !hasLinks && lastPage !== 'right' && lastPage !== 'high';
			if (inserted === 'empty' && (total === 'page' || (isEndAfterEmpty && total !== 'right')))
				return false;
			return !isFirstPageAll || (lastPage !== 'low' && inserted === 'nothing' && !ignoresPage);
		});
	type Service = typeof service extends fc.Arbitrary<infer S> ? S : never;

	const catalogOf = ({ rows }: Service): IDataObject[] =>
		Array.from({ length: rows }, (_, nth) => ({ hash: `p${nth}`, isEven: nth % 2 === 0 }));
	const pagesOf = (one: Service): IDataObject[][] => {
		const catalog = catalogOf(one);
		const all: IDataObject[][] = [];
		for (let from = 0; from < catalog.length; from += all.at(-1)?.length ?? 0) {
			all.push(catalog.slice(from, from + (one.lengths[all.length % one.lengths.length] ?? 1)));
		}
		const [first] = all;
		if (first && all.length > 1 && one.inserted !== 'nothing') {
			all.splice(1, 0, one.inserted === 'empty' ? [] : first);
		}
		return all;
	};
	const answering = (one: Service): ((page: number) => ProductPage) => {
		const all = pagesOf(one);
		const last = Math.max(1, all.length);
		const lastPages = { none: undefined, right: last, low: 1, high: last + 2 };
		const first = all[0]?.length ?? 0;
		const { rows } = one;
		const totals = { none: undefined, right: rows, zero: 0, page: first, high: rows + 3 };
		return (asked) => {
			const number = one.ignoresPage ? 1 : asked;
			return {
				data: all[number - 1] ?? (one.beyond === 'empty' ? [] : (all.at(-1) ?? [])),
				lastPage: lastPages[one.lastPage],
				total: totals[one.total],
				...(one.hasLinks && { hasNext: number < last }),
			};
		};
	};

	test('may do anything: the list is complete or says that rows are missing, with few requests', async () => {
		await fc.assert(
			fc.asyncProperty(service, async (one) => {
				const { items, incomplete, asked } = await list(answering(one));

				// Only a total shows that rows are missing because others came twice.
				const repeats = one.inserted === 'repeated' || one.ignoresPage;
				const isTold = !repeats || one.total === 'right' || one.total === 'high';
				expect(incomplete === undefined && isTold ? items : catalogOf(one)).toEqual(catalogOf(one));
				expect(new Set(items).size).toBe(items.length);
				// After the first page, ten pages contain nothing new, while five more are in flight.
				const most = one.ignoresPage ? 1 + 10 + 5 : pagesOf(one).length + 5;
				expect(asked.length).toBeLessThanOrEqual(most);
			}),
			{ numRuns: sequences(100, 300) },
		);
	});

	const HONEST = { ignoresPage: false, inserted: 'nothing' } as const;

	test.each<[string, Partial<Service>, number]>([
		['documents its pages', { hasLinks: true, lastPage: 'right', total: 'right' }, 0],
		['has only figures', { hasLinks: false, lastPage: 'right', total: 'right' }, 0],
		['has only links', { hasLinks: true, lastPage: 'none', total: 'none' }, 0],
		['says nothing', { hasLinks: false, lastPage: 'none', total: 'none', beyond: 'empty' }, 1],
	])('%s: every item comes once and in order, without a hint', async (_name, says, more) => {
		await fc.assert(
			fc.asyncProperty(service, async (any) => {
				const one = { ...any, ...HONEST, ...says };

				const { items, incomplete, asked } = await list(answering(one));

				expect([items, incomplete]).toEqual([catalogOf(one), undefined]);
				const { length } = pagesOf(one);
				expect(asked).toHaveLength(Math.max(1, length + (length > 0 ? more : 0)));
			}),
		);
	});

	test('has more rows than the limit: no page more than needed is read, also with a filter', async () => {
		await fc.assert(
			fc.asyncProperty(
				service,
				fc.integer({ min: 1, max: 40 }),
				fc.boolean(),
				async (any, limit, isFiltered) => {
					const [size = 1] = any.lengths;
					const says = { lastPage: 'right', total: 'right' } as const;
					const one: Service = { ...any, ...HONEST, ...says, lengths: [size] };
					const keep = ({ isEven }: IDataObject): boolean => !isFiltered || isEven === true;
					const wanted = catalogOf(one).filter(keep);

					const { items, asked } = await list(answering(one), { limit, keep });

					expect(items).toEqual(wanted.slice(0, limit));
					const last = wanted[limit - 1];
					const row = catalogOf(one).findIndex(({ hash }) => hash === last?.hash);
					const needed = last ? Math.floor(row / size) + 1 : Math.max(1, pagesOf(one).length);
					expect(asked).toEqual(Array.from({ length: needed }, (_, index) => index + 1));
				},
			),
		);
	});

	test('never ends: reading stops after the most pages, and the list says so', async () => {
		const endless = (number: number): ProductPage => ({
			data: [{ hash: `p${number}` }],
			lastPage: number + 1,
		});

		const { items, incomplete } = await list(endless, { maxPages: 20 });

		expect(items).toHaveLength(20);
		expect(incomplete).toContain('stopped after 20 pages');
	});

	test('fails at several pages: the failure of the first page is thrown', async () => {
		const failing = list((number) => {
			if (number >= 3) throw new Error(`page ${number}`);
			return { data: [{ hash: `p${number}` }], lastPage: 9 };
		});

		await expect(failing).rejects.toThrow('page 3');
	});
});

describe('A list', () => {
	type Figures = Omit<ProductPage, 'data'>;
	/** The hashes on a page, one letter each, and the figures of the page. */
	type Page = [hashes: string, figures?: Figures];

	/** Reads pages. Further pages repeat the last page. */
	const read = async (all: Page[], options?: ListingOptions) => {
		const answer = (number: number): ProductPage => {
			const [hashes, figures] = all[number - 1] ?? all.at(-1) ?? [''];
			return { data: rowsOf(hashes), ...figures };
		};
		const { items, asked, ...others } = await list(answer, options);
		return { incomplete: undefined, ...others, hashes: hashesOf(items), asked: asked.length };
	};
	/** Pages with the same figures. */
	const alike = (figures: Figures, ...all: string[]): Page[] =>
		all.map((hashes) => [hashes, figures]);

	const BARREN = 'the platform kept sending pages without anything new';

	test.each<[string, Page[], object]>([
		[
			'goes on after an empty page if another page follows',
			[['ab'], ['', { hasNext: true }], ['cd'], ['']],
			{ hashes: 'abcd', most: 1 },
		],
		[
			'ends at the tenth page in a row without a new row, even if a link leads on',
			[['a', { lastPage: 1, hasNext: true }]],
			{ asked: 11, hashes: 'a', incomplete: BARREN },
		],
		[
			'goes on if one of ten pages has a new row',
			[...alike({ hasNext: true }, ...'aaaaaaaaaabbbbbbbbbb'), ['c', { hasNext: false }]],
			{ asked: 21, hashes: 'abc' },
		],
		[
			'goes on after a full last page while rows of the total are missing',
			alike({ total: 4, lastPage: 2 }, 'ab', 'bc', 'd'),
			{ asked: 3, most: 1, hashes: 'abcd' },
		],
		[
			'reads pages after the announced last page one at a time, each once',
			[...alike({ lastPage: 1, hasNext: true }, 'a', 'b'), ['c', { lastPage: 1, hasNext: false }]],
			{ asked: 3, most: 1, hashes: 'abc' },
		],
		[
			'ends at an empty page once the total has come, although a link leads on',
			alike({ total: 1, hasNext: true }, 'a', ''),
			{ asked: 2, most: 1, hashes: 'a' },
		],
		[
			'does not end because of a total alone',
			[...alike({ total: 2 }, 'ab', 'cd'), ['']],
			{ asked: 3, hashes: 'abcd' },
		],
		[
			'reads one more page if rows of the total are missing, then says so',
			alike({ total: 8, lastPage: 2 }, 'abc', 'def', ''),
			{ asked: 3, incomplete: 'the platform announced 8 and sent 6' },
		],
		[
			'ends at an empty first page, whatever total is announced',
			[['', { total: 5 }]],
			{ asked: 1, most: 1, incomplete: 'the platform announced 5 and sent 0' },
		],
		[
			'reads one page at a time after an empty first page',
			[...alike({ lastPage: 3 }, '', 'ab'), ['c', { lastPage: 3, hasNext: false }]],
			{ asked: 3, most: 1, hashes: 'abc' },
		],
		[
			'says how many are missing if rows came more than once',
			[['a', { lastPage: 3, total: 4 }], ['b'], ['b'], ['']],
			{
				asked: 3,
				most: 2,
				hashes: 'ab',
				incomplete: 'the platform announced 4 and sent 2',
			},
		],
	])('%s', async (_name, all, expected) => {
		expect(await read(all)).toMatchObject({ incomplete: undefined, ...expected });
	});

	test.each<[string, Figures, string]>([
		['says that another follows', { hasNext: true }, 'abcd'],
		['says that none follows', { hasNext: false }, 'ab'],
		['does not say whether another follows', {}, 'abcd'],
		['announces more in all', { total: 4 }, 'abcd'],
		['has sent all that it announces', { total: 2 }, 'ab'],
		['says only itself that another follows', { total: 2, hasNext: true }, 'abcd'],
		['leads nowhere, but announces more', { total: 4, hasNext: false }, 'abcd'],
	])('whose last page is full and %s has the rows of %j: %s', async (_name, figures, hashes) => {
		const all: Page[] = [['ab', { lastPage: 1, ...figures }], ...alike({ lastPage: 1 }, 'cd', '')];

		expect(await read(all)).toMatchObject({ hashes, incomplete: undefined });
	});

	test.each([
		['six', undefined, { asked: 9, most: 6 }],
		['the limit still needs', 4, { asked: 4, most: 3 }],
	])('has no more pages under way than %s', async (_name, limit, expected) => {
		const all = alike({ lastPage: 9, hasNext: false }, ...'abcdefghi');

		await expect(read(all, { limit })).resolves.toMatchObject(expected);
	});

	test('has a row once if hash, offer and price are the same, or the whole row if it has no hash', async () => {
		const rows: IDataObject[] = [
			{ hash: 'a', price: 1, views: 1 },
			{ hash: 'a', price: 1, views: 2 },
			{ hash: 'a', price: 2, views: 2 },
			{ hash: 'a', price: 2, offer: 'o', views: 2 },
			{ views: 1 },
			{ views: 2 },
			{ hash: null, views: 2 },
			{ views: 1 },
		];

		const { items, incomplete } = await list((number) => ({
			data: number === 1 ? rows : [],
			lastPage: 1,
			total: 8,
		}));

		expect(items.map((item) => rows.indexOf(item))).toEqual([0, 2, 3, 4, 5, 6]);
		expect(incomplete).toBe('the platform announced 8 and sent 6');
	});
});
