import * as fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { pages } from '../../../../nodes/DigitalSales/api/pagination';
import {
	readProductPage,
	type ProductPage,
} from '../../../../nodes/DigitalSales/api/schemas/product';

type ProductPageFigures = Omit<ProductPage, 'data'>;

interface Server {
	total: number;
	pageSize: number;
	meta: boolean;
	links: boolean;
}

interface Listing {
	items: IDataObject[];
	incomplete?: string;
}

interface ListingOptions {
	fetchPage: (page: number) => Promise<ProductPage>;
	limit?: number;
	keep: (item: IDataObject) => boolean;
	maxPages?: number;
}

/** All that the pages bring, as far as a limit needs them. */
async function listPages({ limit = Infinity, keep, ...reading }: ListingOptions): Promise<Listing> {
	const items: IDataObject[] = [];
	const read = pages({ ...reading, wanted: () => limit - items.length });
	for (;;) {
		const { done, value } = await read.next();
		if (done) return { items, incomplete: value };
		items.push(...value.items.filter(keep));
		if (items.length >= limit) return { items: items.slice(0, limit) };
	}
}

const catalog = (total: number): IDataObject[] =>
	Array.from({ length: total }, (_, index) => ({ hash: `p${index}`, even: index % 2 === 0 }));

/** A page as a service sends it, read as the package reads it. */
function page(server: Server, items: IDataObject[], number: number): ProductPage {
	const data = items.slice((number - 1) * server.pageSize, number * server.pageSize);
	const last = Math.max(1, Math.ceil(items.length / server.pageSize));
	const read = readProductPage({
		data,
		...(server.meta
			? {
					meta: { last_page: last, per_page: server.pageSize, total: items.length },
				}
			: {}),
		...(server.links ? { links: { next: number < last ? `?page=${number + 1}` : null } } : {}),
	});
	if (!read) throw new Error('The page was not understood');
	return read;
}

const server: fc.Arbitrary<Server> = fc.record({
	total: fc.integer({ min: 0, max: 60 }),
	pageSize: fc.integer({ min: 1, max: 12 }),
	meta: fc.boolean(),
	links: fc.boolean(),
});

/** Answers take a random while, so that later pages may come before earlier ones. */
async function later<T>(value: T, turns: number): Promise<T> {
	for (let turn = 0; turn < turns; turn++) await Promise.resolve();
	return value;
}

describe('Pages of a list', () => {
	test('every item comes once and in order, however the service describes its pages', async () => {
		await fc.assert(
			fc.asyncProperty(server, fc.infiniteStream(fc.nat(20)), async (one, turns) => {
				const items = catalog(one.total);
				const listing = await listPages({
					fetchPage: async (number) =>
						await later(page(one, items, number), turns.next().value as number),
					keep: () => true,
				});

				expect(listing).toEqual({ items, incomplete: undefined });
			}),
		);
	});

	test('a limit is met exactly, counted after the filter, without a page more than needed', async () => {
		await fc.assert(
			fc.asyncProperty(
				server,
				fc.integer({ min: 1, max: 40 }),
				fc.boolean(),
				async (one, limit, filtered) => {
					const asked: number[] = [];
					const wanted = catalog(one.total).filter(({ even }) => !filtered || even === true);
					const { items } = await listPages({
						fetchPage: async (number) => {
							asked.push(number);
							return page({ ...one, meta: true }, catalog(one.total), number);
						},
						limit,
						keep: ({ even }) => !filtered || even === true,
					});

					expect(items).toEqual(wanted.slice(0, limit));
					const last = wanted[Math.min(limit, wanted.length) - 1];
					const position = catalog(one.total).findIndex(({ hash }) => hash === last?.hash) + 1;
					const pages = Math.max(1, Math.ceil(one.total / one.pageSize));
					const needed = wanted.length < limit ? pages : Math.ceil(position / one.pageSize);
					expect(asked).toEqual(Array.from({ length: needed }, (_, index) => index + 1));
				},
			),
		);
	});

	test('whatever a service answers, the list ends and holds nothing twice', async () => {
		const lie = fc.record({
			data: fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 8 }),
			lastPage: fc.option(fc.integer({ min: 0, max: 1_000_000 }), { nil: undefined }),
			total: fc.option(fc.integer({ min: 0, max: 1_000_000 }), { nil: undefined }),
			hasNext: fc.option(fc.boolean(), { nil: undefined }),
		});
		await fc.assert(
			fc.asyncProperty(fc.infiniteStream(lie), async (lies) => {
				let asked = 0;
				const { items } = await listPages({
					fetchPage: async () => {
						asked++;
						const { value } = lies.next();
						return { ...value, data: value.data.map((hash: number) => ({ hash: `p${hash}` })) };
					},
					keep: () => true,
					maxPages: 100,
				});

				expect(new Set(items.map(({ hash }) => hash)).size).toBe(items.length);
				expect(asked).toBeLessThanOrEqual(106);
			}),
		);
	});

	test('a server that never ends is left after the most pages, and the list says so', async () => {
		const listing = await listPages({
			fetchPage: async (number) => ({ data: [{ hash: `p${number}` }], lastPage: number + 1 }),
			keep: () => true,
			maxPages: 20,
		});

		expect(listing.items).toHaveLength(20);
		expect(listing.incomplete).toContain('stopped after 20 pages');
	});

	/** Reads pages whose items are given by their hashes; a page beyond the last is like the last. */
	const read = async (
		pages: Array<[string, ProductPageFigures?]>,
		options: Partial<ListingOptions> = {},
	): Promise<{ asked: number; most: number; hashes: string; incomplete?: string }> => {
		let asked = 0;
		let most = 0;
		let underWay = 0;
		const { items, incomplete } = await listPages({
			fetchPage: async (number) => {
				asked++;
				most = Math.max(most, ++underWay);
				await new Promise((resolve) => setImmediate(resolve));
				underWay--;
				const [hashes, figures] = pages[number - 1] ?? pages.at(-1) ?? [''];
				return { data: [...hashes].map((hash) => ({ hash })), ...figures };
			},
			keep: () => true,
			...options,
		});
		return { asked, most, hashes: items.map(({ hash }) => hash).join(''), incomplete };
	};

	test('a row is the same if hash, offer and price are, whatever else has changed meanwhile', async () => {
		const rows: IDataObject[] = [
			{ hash: 'a', price: 1, views: 1 },
			{ hash: 'a', price: 1, views: 2 },
			{ hash: 'a', price: 2, views: 2 },
			{ hash: 'a', price: 2, offer: 'o', views: 2 },
			{ views: 1 },
			{ views: 2 },
		];
		const { items } = await listPages({
			fetchPage: async () => await Promise.resolve({ data: rows, hasNext: false }),
			keep: () => true,
		});

		expect(items.map((item) => rows.indexOf(item))).toEqual([0, 2, 3, 4, 5]);
	});

	const BARREN = 'the service kept sending pages without anything new';

	describe('pages without anything new', () => {
		const announced = { lastPage: 1_000 };
		const same = (times: number): Array<[string, ProductPageFigures]> =>
			Array.from({ length: times }, () => ['a', announced]);

		test('are left after ten in a row where the service announces more', async () => {
			await expect(read(same(1), { limit: 2 })).resolves.toMatchObject({
				asked: 11,
				hashes: 'a',
				incomplete: BARREN,
			});
		});

		test('are counted anew after one that brings something', async () => {
			const one = (hash: string): [string, ProductPageFigures] => [hash, announced];
			const pages = [...same(10), one('b'), ...same(9), one('c')];

			await expect(read(pages, { limit: 3 })).resolves.toMatchObject({
				asked: 21,
				hashes: 'abc',
				incomplete: undefined,
			});
		});

		test.each([
			['its links', { hasNext: true }],
			['its links, behind the last page', { lastPage: 1, hasNext: true }],
		])('are left after ten in a row where more follow by %s', async (_name, more) => {
			await expect(read([['a', more]])).resolves.toMatchObject({
				asked: 11,
				hashes: 'a',
				incomplete: BARREN,
			});
		});

		test('are left after one where nothing says that more follow', async () => {
			await expect(read([['a']])).resolves.toMatchObject({
				asked: 2,
				hashes: 'a',
				incomplete: '1 came more than once',
			});
		});
	});

	test.each<[string, Array<[string, ProductPageFigures?]>, string]>([
		['is full, so another is asked for', [['ab'], ['cd'], ['']], 'abcd'],
		['is short, and another is asked for as well', [['ab'], ['c'], ['de'], ['']], 'abcde'],
		['is empty, so it is the last', [['ab'], [''], ['cd']], 'ab'],
		['is short, but another follows', [['ab'], ['c', { hasNext: true }], ['d'], ['']], 'abcd'],
		['is full, but none follows', [['ab'], ['cd', { hasNext: false }], ['ef']], 'abcd'],
		['is empty, but another follows', [['ab'], ['', { hasNext: true }], ['cd'], ['']], 'abcd'],
	])('where the number of pages is not announced and one %s', async (_name, pages, expected) => {
		await expect(read(pages)).resolves.toMatchObject({
			hashes: expected,
			most: 1,
			incomplete: undefined,
		});
	});

	const MORE = { lastPage: 1, hasNext: true };
	const END = { lastPage: 1, hasNext: false };

	test.each<[string, Array<[string, ProductPageFigures?]>, object]>([
		[
			'a full last page does not end it while less has come than was announced',
			['ab', 'bc', 'd'].map((hashes) => [hashes, { total: 4, lastPage: 2 }]),
			{ asked: 3, most: 1, hashes: 'abcd' },
		],
		[
			'pages behind the last are asked for one by one, and once each',
			[
				['a', MORE],
				['b', MORE],
				['c', END],
			],
			{ asked: 3, most: 1, hashes: 'abc' },
		],
		[
			'an empty page ends it, although a link leads on, once all has come',
			['a', ''].map((hashes) => [hashes, { total: 1, hasNext: true }]),
			{ asked: 2, most: 1, hashes: 'a' },
		],
		[
			'a total alone does not end it',
			[['ab', { total: 2 }], ['cd', { total: 2 }], ['']],
			{ asked: 3, hashes: 'abcd' },
		],
		[
			'a total that is not reached is told, after one more page',
			['abc', 'def', ''].map((hashes) => [hashes, { total: 8, lastPage: 2 }]),
			{ asked: 3, hashes: 'abcdef', incomplete: 'the service announced 8 and sent 6' },
		],
		[
			'an empty first page ends it, whatever total is announced',
			[['', { total: 5 }]],
			{ asked: 1, most: 1, hashes: '', incomplete: 'the service announced 5 and sent 0' },
		],
		[
			'after an empty first page of several, one is asked for at a time',
			[
				['', { lastPage: 3 }],
				['ab', { lastPage: 3 }],
				['c', { lastPage: 3, hasNext: false }],
			],
			{ asked: 3, most: 1, hashes: 'abc' },
		],
		[
			'what was announced holds for pages that say nothing of it',
			[['a', { lastPage: 3, total: 4 }], ['b'], ['c'], ['d']],
			{ hashes: 'abcd' },
		],
		[
			'what came more than once is told beside what is missing',
			[['a', { lastPage: 3, total: 4 }], ['b'], ['b'], ['']],
			{
				asked: 3,
				most: 2,
				hashes: 'ab',
				incomplete: 'the service announced 4 and sent 2, and 1 came more than once',
			},
		],
	])('%s', async (_name, pages, expected) => {
		expect(await read(pages)).toMatchObject({ incomplete: undefined, ...expected });
	});

	test.each([
		['six', undefined, { asked: 9, most: 6 }],
		['the limit still needs', 4, { asked: 4, most: 3 }],
	])('no more pages are under way than %s', async (_name, limit, expected) => {
		const figures = { lastPage: 9, hasNext: false };
		const pages = [...'abcdefghi'].map((hash): [string, ProductPageFigures] => [hash, figures]);

		await expect(read(pages, { limit })).resolves.toMatchObject(expected);
	});

	test.each([
		['grows', 1],
		['shrinks', -1],
	])('a catalog that %s meanwhile is told, but not where the limit is met', async (...given) => {
		const [, change] = given;
		const read = async (limit?: number): Promise<Listing> =>
			await listPages({
				fetchPage: async (number) => ({
					data: catalog(20).slice((number - 1) * 10, number * 10),
					lastPage: 2,
					perPage: 10,
					total: number === 1 ? 20 : 20 + change,
				}),
				limit,
				keep: () => true,
			});

		expect((await read()).incomplete).toBe('the catalog changed while it was being read');
		expect((await read(21)).incomplete).toBe('the catalog changed while it was being read');
		expect((await read(20)).incomplete).toBeUndefined();
	});

	test.each<[string, Partial<ProductPage>, string]>([
		['says that another follows', { hasNext: true }, 'abcd'],
		['says that none follows', { hasNext: false }, 'ab'],
		['says nothing of it', {}, 'abcd'],
		['announces more in all', { total: 4 }, 'abcd'],
		['has sent all that it announces', { total: 2 }, 'ab'],
		['says so of itself alone', { total: 2, hasNext: true }, 'abcd'],
		['leads nowhere, but announces more', { total: 4, hasNext: false }, 'abcd'],
	])('a full page that is called the last and %s decides how it goes on', async (...given) => {
		const [, figures, hashes] = given;
		const last = { lastPage: 1 };

		expect(
			await read([
				['ab', { ...last, ...figures }],
				['cd', last],
				['', last],
			]),
		).toMatchObject({ hashes, incomplete: undefined });
	});

	test('items without a hash are told by all that they say', async () => {
		const data = [{ title: 'A' }, { title: 'B' }, { hash: null }, { hash: 'a' }, { title: 'A' }];

		const { items, incomplete } = await listPages({
			fetchPage: async (number) => ({ data: number === 1 ? data : [], lastPage: 1, total: 5 }),
			keep: () => true,
		});

		expect(items).toEqual(data.slice(0, 4));
		expect(incomplete).toBe('the service announced 5 and sent 4, and 1 came more than once');
	});

	test('the first failure in the order of pages is the one that is told', async () => {
		const failing = listPages({
			fetchPage: async (number) => {
				if (number >= 3) throw new Error(`page ${number}`);
				return page({ total: 50, pageSize: 10, meta: true, links: false }, catalog(50), number);
			},
			keep: () => true,
		});

		await expect(failing).rejects.toThrow('page 3');
	});
});

describe('Reading a page', () => {
	test('nothing makes it throw, and unknown fields stay', () => {
		fc.assert(
			fc.property(fc.anything(), (body) => {
				readProductPage(body);
			}),
		);
		fc.assert(
			fc.property(fc.array(fc.dictionary(fc.string(), fc.jsonValue())), (data) => {
				const text = JSON.stringify({ data });
				expect(JSON.stringify({ data: readProductPage(JSON.parse(text))?.data })).toBe(text);
			}),
		);
	});
});
