import * as fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { useTimeLapse } from '../../../support/timeLapse';
import { openCatalogService, type CatalogService } from '../support/catalogService';

const ALL = { returnAll: true };

const RUNS = Number(process.env.MODEL_RUNS ?? 80);

describe('Product > Get Many of a service that', () => {
	let service: CatalogService;

	useTimeLapse();
	beforeAll(async () => {
		service = await openCatalogService();
	});
	afterAll(async () => await service.close());

	const rows = (...hashes: string[]): IDataObject[] => hashes.map((hash) => ({ hash }));
	const hashes = (json: IDataObject[]): string =>
		json.map((product) => String(product.hash)).join('');
	const next = (more: boolean): IDataObject => ({
		next: more ? 'https://other.test/?page=9' : null,
	});

	describe('has rows of another kind', () => {
		const offer = (hash: string): IDataObject => ({ hash, title: null, price: 100 });

		test.each(['offers', 'offer'])('one for each offer, under %s, are all given', async (name) => {
			const data = ['o1', 'o2'].map((hash) => ({
				hash: 'p1',
				[name]: name === 'offer' ? offer(hash) : [offer(hash)],
			}));
			service.answers(() => ({ body: { data, meta: { total: 2, last_page: 1 } } }));

			await expect(service.list(ALL)).resolves.toEqual({ json: data, hints: [] });
		});

		test('a null among the offers hides no other, split or not', async () => {
			const product = { hash: 'p1', offers: [null, offer('o1'), offer('o2')] };
			service.answers(() => ({ body: { data: [product], links: { next: null } } }));

			expect((await service.list({ simplify: true })).json).toMatchObject([
				{ offer_hash: 'o1', offers: 2 },
			]);
			const options = { splitOffers: true };
			expect((await service.list({ simplify: true, options })).json).toMatchObject([
				{ offer_hash: 'o1' },
				{ offer_hash: 'o2' },
			]);
			expect((await service.list({ options })).json).toEqual([
				{ hash: 'p1', offer: offer('o1') },
				{ hash: 'p1', offer: offer('o2') },
			]);
		});

		test('a field offer of a product is not taken for the offer of a split row', async () => {
			const product = { hash: 'p1', offer: { price: 1 }, offers: [{ hash: 'o1', price: 4700 }] };
			service.answers(() => ({ body: { data: [product], links: { next: null } } }));

			expect((await service.list({ simplify: true })).json).toMatchObject([
				{ offer_hash: 'o1', price_reais: 47, offers: 1 },
			]);
		});
	});

	test('filters nothing: a limit counts what the node leaves, so it is read on until it is full', async () => {
		const offers = [{ hash: 'o1' }, { hash: 'o2' }];
		const pages = ['ab', 'c', 'de', 'f'].map((hashes) =>
			[...hashes].map((hash) => ({ hash, offers, status: 'abe'.includes(hash) ? 1 : 2 })),
		);
		service.answers(({ page }) => ({
			body: { data: pages[Number(page) - 1], meta: { last_page: 4 }, links: next(page !== '4') },
		}));

		const { json } = await service.list({ limit: 3, filters: { status: 1 } });
		expect(hashes(json)).toBe('abe');
		const split = { splitOffers: true };
		const rows = await service.list({ limit: 5, filters: { status: 1 }, options: split });
		expect(hashes(rows.json)).toBe('aabbe');
	});

	test.each<[number, IDataObject]>([
		[422, { errors: { per_page: ['max 50'] } }],
		[200, { success: false, message: 'per_page must be at most 50' }],
	])('refuses the page size by %i %j is asked without one from then on', async (status, body) => {
		service.answers(({ page, per_page: size }) => {
			if (size !== undefined) return { status, body };
			const data = rows(...(page === '1' ? 'ab' : 'cd'));
			return { body: { data, links: next(page === '1') } };
		});

		const { json } = await service.list();

		expect(hashes(json)).toBe('abcd');
		expect(service.asked.map(({ page, per_page: size }) => [page, size])).toEqual([
			['1', '50'],
			['1', undefined],
			['2', undefined],
		]);
	});

	describe('may do anything', () => {
		const WORDS = ['Curso', 'Guia', 'Noite', 'curso noite'];
		const SEARCH = 'noite CURSO';

		const model = fc
			.record({
				/** Titles; a product with two has a row for each of two offers. */
				catalog: fc.array(fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 2 }), {
					maxLength: 9,
				}),
				/** How many rows the pages hold, in turn, whatever size is asked for. */
				lengths: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }),
				ignoresPage: fc.boolean(),
				/** A page that comes again, or an empty one, is put behind the first. */
				inserted: fc.constantFrom('nothing', 'repeated', 'empty'),
				beyond: fc.constantFrom('empty', 'last page'),
				hasLinks: fc.boolean(),
				lastPage: fc.constantFrom('none', 'right', 'low', 'high'),
				total: fc.constantFrom('none', 'right', 'zero', 'page', 'high'),
				/** What the service finds: by its own rule each product whose number is here. */
				search: fc.constantFrom('none', 'ignored', 'own'),
				found: fc.uniqueArray(fc.nat(8)),
			})
			// If all that is said agrees on a wrong end, nobody can tell.
			.filter(({ hasLinks, total, lastPage, inserted, ignoresPage }) => {
				const isFirstPageAll = total === 'page' && !hasLinks;
				const isEndAfterEmpty = !hasLinks && lastPage !== 'right' && lastPage !== 'high';
				if (inserted === 'empty' && (total === 'page' || (isEndAfterEmpty && total !== 'right')))
					return false;
				return !isFirstPageAll || (lastPage !== 'low' && inserted === 'nothing' && !ignoresPage);
			});
		type Model = typeof model extends fc.Arbitrary<infer M> ? M : never;

		const rowsIn = ({ catalog }: Model): Array<IDataObject & { product: number }> =>
			catalog.flatMap((titles, product) =>
				titles.map((title, offer) => ({
					hash: `p${product}`,
					title,
					offers: [{ hash: `o${product}${offer}` }],
					product,
				})),
			);
		const served = (one: Model, query: IDataObject): IDataObject[] =>
			rowsIn(one).filter(
				({ product }) =>
					query.search === undefined || one.search !== 'own' || one.found.includes(product),
			);
		const wanted = (one: Model): IDataObject[] =>
			served(one, { search: SEARCH }).filter(
				({ title }) => one.search === 'none' || title === 'curso noite',
			);
		const pagesOf = (one: Model, list: IDataObject[]): IDataObject[][] => {
			const pages: IDataObject[][] = [];
			for (let from = 0; from < list.length; from += pages.at(-1)?.length ?? 0) {
				pages.push(list.slice(from, from + (one.lengths[pages.length % one.lengths.length] ?? 1)));
			}
			const [first] = pages;
			if (first && pages.length > 1 && one.inserted !== 'nothing') {
				pages.splice(1, 0, one.inserted === 'empty' ? [] : first);
			}
			return pages;
		};
		const answer = (one: Model, query: IDataObject): IDataObject => {
			const list = served(one, query);
			const pages = pagesOf(one, list);
			const page = one.ignoresPage ? 1 : Number(query.page);
			const last = Math.max(1, pages.length);
			const beyond = one.beyond === 'empty' ? [] : (pages.at(-1) ?? []);
			const lastPage = { none: undefined, right: last, low: 1, high: last + 2 }[one.lastPage];
			const first = pages[0]?.length ?? 0;
			const total = {
				none: undefined,
				right: list.length,
				zero: 0,
				page: first,
				high: list.length + 3,
			};
			return {
				data: pages[page - 1] ?? beyond,
				meta: { last_page: lastPage, total: total[one.total] },
				...(one.hasLinks && { links: next(page < last) }),
			};
		};
		const listed = async (one: Model) => {
			service.answers((query) => ({ body: answer(one, query) }));
			const filters = one.search === 'none' ? {} : { search: SEARCH };
			return await service.list({ ...ALL, filters });
		};

		test('and its list is whole, or a hint says that it may not be, in few requests', async () => {
			await fc.assert(
				fc.asyncProperty(model, async (one) => {
					const { json, hints } = await listed(one);

					expect(hints.length > 0 ? wanted(one) : json).toEqual(wanted(one));
					expect(new Set(json.map((row) => JSON.stringify(row))).size).toBe(json.length);
					const pages = pagesOf(one, served(one, {})).length;
					expect(service.asked.length).toBeLessThanOrEqual(one.ignoresPage ? 13 : pages + 5);
				}),
				{ numRuns: RUNS },
			);
		});

		test.each<[string, Partial<Model>, number]>([
			['documents its pages', { hasLinks: true, lastPage: 'right', total: 'right' }, 0],
			['has figures alone', { hasLinks: false, lastPage: 'right', total: 'right' }, 0],
			['has links alone', { hasLinks: true, lastPage: 'none', total: 'none' }, 0],
			['says nothing', { hasLinks: false, lastPage: 'none', total: 'none', beyond: 'empty' }, 1],
		])('but if it %s, the list is whole and no hint is given', async (_name, honest, more) => {
			const fixed = { ...honest, ignoresPage: false, inserted: 'nothing', search: 'none' } as const;
			await fc.assert(
				fc.asyncProperty(model, async (any) => {
					const one = { ...any, ...fixed };

					await expect(listed(one)).resolves.toEqual({ json: rowsIn(one), hints: [] });
					const pages = pagesOf(one, rowsIn(one)).length;
					expect(service.asked).toHaveLength(Math.max(1, pages + (pages > 0 ? more : 0)));
				}),
				{ numRuns: RUNS / 4 },
			);
		});
	});
});
