import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { useAccount } from '../../helpers/account';

const PARAMETERS = { resource: 'product', operation: 'getAll', simplify: false };

describe('Product > Get Many', () => {
	const account = useAccount({ maxPageSize: 30 });

	const sent = (): unknown[] => account.sandbox.requests.map(({ query }) => query);

	test('lists the whole catalog in order, with as few requests as the page size allows', async () => {
		const { json } = await account.run({ ...PARAMETERS, returnAll: true });

		expect(json.map(({ hash }) => hash)).toEqual(account.sandbox.products.map(({ hash }) => hash));
		expect(json[0]).toEqual(account.sandbox.products[0]);
		expect(account.sandbox.requests).toHaveLength(5);
	});

	test('sends filters under their likely names, and composes the accents of a search', async () => {
		const search = 'Fotografia à mão';
		const filters = { search: search.normalize('NFD'), categories: '2, 3', status: 1 };

		await account.run({ ...PARAMETERS, filters });

		expect(sent()[0]).toMatchObject({
			search: search.normalize('NFC'),
			categories: '2,3',
			status: '1',
		});
	});

	test('keeps the row of a product that has no offers', async () => {
		const [first, second] = account.sandbox.products;
		if (!first || !second) throw new Error('The catalog is too small');
		first.offers = [];

		const { json } = await account.run({
			...PARAMETERS,
			limit: 1 + second.offers.length,
			splitOffers: true,
		});

		const { offers: _none, ...withoutOffers } = first;
		const { offers, ...product } = second;
		expect(json).toEqual([
			{ ...withoutOffers, offer: null },
			...offers.map((offer) => ({ ...product, offer })),
		]);
	});

	test('returns fifty products if the limit is blank', async () => {
		const { json } = await account.run({ ...PARAMETERS, limit: '={{ "" }}' });

		expect(json).toHaveLength(50);
		expect(sent()).toEqual([
			{ page: '1', per_page: '100' },
			{ page: '2', per_page: '100' },
		]);
	});

	test.each([
		['a list', '={{ [2, "3"] }}'],
		['a text with gaps', ' ,2,,3 '],
	])('accepts categories as %s', async (_name, categories) => {
		await account.run({ ...PARAMETERS, filters: { categories } });

		expect(sent()[0]).toMatchObject({ categories: '2,3' });
	});

	test.each(['2, cursos', '2a', 'a2'])(
		'refuses categories that are not numbers: %s',
		async (categories) => {
			const failure = await account.fail({ ...PARAMETERS, filters: { categories } });

			expect(failure.message).toBe(
				'Filters > Category IDs must be whole numbers separated by commas, for example 3, 7',
			);
			expect(account.sandbox.requests).toEqual([]);
		},
	);

	test.each([',', '={{ [] }}'])(
		'refuses categories of which none is left: %s',
		async (categories) => {
			const failure = await account.fail({ ...PARAMETERS, filters: { categories } });

			expect(failure.message).toBe('Filters > Category IDs is empty; fill it in');
		},
	);

	/** Sets the answer of the platform to requests for every page, or for one page. */
	const answer = (data: unknown[], more: IDataObject = {}, query?: { page: string }): void => {
		const set = { data, meta: null, links: { next: null }, ...more };
		account.sandbox.addFault({ kind: 'patchBody', set, query, times: 'always' });
	};

	describe('of a platform that ignores the filters', () => {
		const data = [
			{ hash: 'p1', title: 'Curso de Fotografia à mão', id_category: 1, status: 1 },
			{ hash: 'p2', title: 'Guia', id_category: '2', status: '2' },
			{ hash: 'p3', status: 'In_Review' },
			{ title: 'Curso sem hash', id_category: null, status: null },
			{ hash: 'curso', title: null, id_category: 12, status: 12 },
		];

		test.each([
			[{ search: 'CURSO' }, [0, 3, 4]],
			[{ search: 'MAO fotografia' }, [0]],
			[{ search: 'Hash CURSO' }, [3]],
			[{ search: ' P3 ' }, [2]],
			[{ search: 'URS' }, [0, 3, 4]],
			[{ search: 'cur\u200bso' }, [0, 3, 4]],
			[{ categories: '1' }, [0]],
			[{ categories: '2, 12' }, [1, 4]],
			[{ status: 1 }, [0]],
			[{ status: 2 }, [1]],
			[{ status: 3 }, [2]],
			[{ search: 'curso', categories: '1', status: 2 }, []],
			[{ search: ' ', categories: '' }, [0, 1, 2, 3, 4]],
		])('%j keeps only what matches, in one request', async (filters, expected) => {
			answer(data);

			const { json } = await account.run({ ...PARAMETERS, returnAll: true, filters });

			expect(json).toEqual(expected.map((index) => data[index]));
			expect(account.sandbox.requests).toHaveLength(1);
		});
	});

	test('counts only matching products towards the limit, and reads on until it is full', async () => {
		const offers = [{ hash: 'o1' }, { hash: 'o2' }];
		for (const [index, hashes] of ['ab', 'c', 'de', 'f'].entries()) {
			const data = [...hashes].map((hash) => ({
				...{ hash, offers, status: 'abe'.includes(hash) ? 1 : 2 },
			}));
			answer(data, { meta: { last_page: 4 } }, { page: String(index + 1) });
		}
		const list = async (limit: number, splitOffers: boolean): Promise<string> => {
			const parameters = { ...PARAMETERS, limit, filters: { status: 1 }, splitOffers };
			const { json } = await account.run(parameters);
			return json.map(({ hash }) => hash).join('');
		};

		await expect(list(3, false)).resolves.toBe('abe');
		await expect(list(5, true)).resolves.toBe('aabbe');
	});

	describe('of a platform with rows of another kind', () => {
		const offer = (hash: string): IDataObject => ({ hash, title: null, price: 100 });

		test.each(['offers', 'offer'])('returns one row for each offer, under %s', async (name) => {
			const data = ['o1', 'o2'].map((hash) => ({
				hash: 'p1',
				[name]: name === 'offer' ? offer(hash) : [offer(hash)],
			}));
			answer(data, { meta: { total: 2 } });

			const { json, hints } = await account.run({ ...PARAMETERS, returnAll: true });

			expect([json, hints]).toEqual([data, []]);
		});

		test('keeps the offers next to a null, split or not', async () => {
			answer([{ hash: 'p1', offers: [null, offer('o1'), offer('o2')] }]);
			const list = async (simplify: boolean, splitOffers: boolean): Promise<IDataObject[]> =>
				(await account.run({ ...PARAMETERS, simplify, splitOffers })).json;

			expect(await list(true, false)).toMatchObject([{ offer_hash: 'o1', offers: 2 }]);
			expect(await list(true, true)).toMatchObject([{ offer_hash: 'o1' }, { offer_hash: 'o2' }]);
			expect(await list(false, true)).toEqual([
				{ hash: 'p1', offer: offer('o1') },
				{ hash: 'p1', offer: offer('o2') },
			]);
		});

		test('does not use a field "offer" of a product as the offer of a split row', async () => {
			answer([{ hash: 'p1', offer: { price: 1 }, offers: [{ hash: 'o1', price: 4700 }] }]);

			const { json } = await account.run({ ...PARAMETERS, simplify: true });

			expect(json).toMatchObject([{ offer_hash: 'o1', price_reais: 47, offers: 1 }]);
		});
	});

	test('shows a hint if the list may be incomplete', async () => {
		answer([{ hash: 'p1' }], { meta: { total: 3 } });

		const { hints } = await account.run(PARAMETERS);

		expect(hints.map(({ message }) => message)).toEqual([
			'The list of products may be incomplete: the platform announced 3 and sent 1.',
		]);
	});

	test('keeps unknown fields, and pairs every item', async () => {
		const { items } = await account.run(
			{ ...PARAMETERS, limit: 2 },
			{ items: [{ row: 1 }, { row: 2 }] },
		);

		expect(items.map(({ pairedItem }) => pairedItem)).toEqual([
			{ item: 0 },
			{ item: 0 },
			{ item: 1 },
			{ item: 1 },
		]);
		expect(items[0]?.json).toHaveProperty('guaranted_days');
	});

	test.each<[string, INodeParameters, string]>([
		['100', { returnAll: true }, '100'],
		['100 even for a smaller limit', { limit: 5 }, '100'],
		['the Page Size of the form', { limit: 5, options: { pageSize: 7 } }, '7'],
	])('asks for pages of %s', async (_name, parameters, expected) => {
		await account.run({ ...PARAMETERS, ...parameters });

		expect(sent()[0]).toMatchObject({ page: '1', per_page: expected });
	});

	test.each<[string, number, INodeParameters, number]>([
		['it refuses the account', 403, {}, 0],
		['does not accept the page size', 422, {}, 0],
		['it has accepted an earlier page', 422, { limit: 50 }, 1],
	])('asks only once if the platform refuses and %s', async (_name, status, parameters, after) => {
		account.sandbox.addFault({ kind: 'status', status, after });

		const failure = await account.fail({ ...PARAMETERS, ...parameters });

		expect(failure.httpCode).toBe(String(status));
		expect(account.sandbox.requests).toHaveLength(after + 1);
	});

	test('keeps to twenty requests a minute, and says once that it has waited', async () => {
		const startedAt = clock.elapsed();
		const options = { pageSize: 5 };

		const { json, hints } = await account.run({ ...PARAMETERS, returnAll: true, options });

		expect(json).toHaveLength(account.sandbox.products.length);
		expect(account.sandbox.requests.length).toBeGreaterThan(20);
		expect(hints).toEqual([
			expect.objectContaining({ message: expect.stringContaining('so this run waited') }),
		]);
		const waitedMs = clock.elapsed() - startedAt;
		expect(waitedMs).toBeGreaterThan(55_000);
		expect(waitedMs).toBeLessThan(65_000);
	});
});
