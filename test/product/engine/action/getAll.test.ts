import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { useTimeLapse } from '../../../support/timeLapse';
import { type Account, openAccount } from '../support/account';

const PARAMETERS = { resource: 'product', operation: 'getAll', simplify: false };

describe('Product > Get Many', () => {
	let account: Account;

	useTimeLapse();
	beforeAll(async () => {
		account = await openAccount({ maxPageSize: 30 });
	});
	beforeEach(async () => {
		// Time passes only once what the test before has left on its way is there.
		await clock.sleep(1);
		account.reset();
	});
	afterAll(async () => await account.sandbox.close());

	const sent = (): Array<Record<string, unknown>> =>
		account.sandbox.requests.map(({ query }) => query);

	test('lists the whole catalog in order, with as few requests as the page size allows', async () => {
		const { json } = await account.run({ ...PARAMETERS, returnAll: true });

		expect(json.map(({ hash }) => hash)).toEqual(account.sandbox.products.map(({ hash }) => hash));
		expect(json[0]).toEqual(account.sandbox.products[0]);
		expect(account.sandbox.requests).toHaveLength(5);
	});

	test('asks only for the pages that the limit needs', async () => {
		const { json } = await account.run({ ...PARAMETERS, returnAll: false, limit: 40 });

		expect(json).toHaveLength(40);
		expect(sent().map(({ page }) => page)).toEqual(['1', '2']);
	});

	test('asks for no larger page than the limit', async () => {
		const { json } = await account.run({ ...PARAMETERS, returnAll: false, limit: 5 });

		expect(json).toHaveLength(5);
		expect(sent()).toEqual([{ page: '1', per_page: '5' }]);
	});

	test('sends the filters under their names and applies them again', async () => {
		const wanted = account.sandbox.products.filter(
			({ status, id_category: category }) => status === 1 && [2, 3].includes(category),
		);

		const { json } = await account.run({
			...PARAMETERS,
			returnAll: true,
			filters: { categories: '2, 3', status: 1 },
		});

		expect(wanted.length).toBeGreaterThan(0);
		expect(json.map(({ hash }) => hash)).toEqual(wanted.map(({ hash }) => hash));
		expect(sent()[0]).toMatchObject({ categories: '2,3', status: '1' });
	});

	test('finds a part of a title whatever its case and accents', async () => {
		const accented = account.sandbox.products.find(({ title }) => /[áéíóúãõç]/.test(title));
		const word = accented?.title.split(' ').find((part) => /[áéíóúãõç]/.test(part)) ?? '';
		const plain = word.normalize('NFD').replace(/[\u0300-\u036f]/g, '');

		const { json } = await account.run({
			...PARAMETERS,
			returnAll: true,
			filters: { search: plain.toUpperCase() },
			options: { queryParameterNames: 'search=unknown_name' },
		});

		expect(json.map(({ hash }) => hash)).toContain(accented?.hash);
		expect(json.length).toBeLessThan(account.sandbox.products.length);
	});

	test('asks the service for a word as it is usually stored, whatever the keyboard sends', async () => {
		const search = 'Fotografia à mão';

		await account.run({ ...PARAMETERS, filters: { search: search.normalize('NFD') } });

		expect(sent()[0]).toMatchObject({ search: search.normalize('NFC') });
	});

	test.each([
		['its exact hash', (hash: string) => hash],
		['a part of it, in upper case', (hash: string) => hash.slice(1, -1).toUpperCase()],
	])('finds a product by %s', async (_name, searched) => {
		const hash = account.sandbox.products[77]?.hash ?? '';

		const { json } = await account.run({ ...PARAMETERS, filters: { search: searched(hash) } });

		expect(json.map((product) => product.hash)).toEqual([hash]);
	});

	test('gives one row per offer on request', async () => {
		const offers = account.sandbox.products.flatMap((product) => product.offers);

		const { json } = await account.run({
			...PARAMETERS,
			returnAll: true,
			options: { splitOffers: true },
		});

		expect(json.map(({ offer }) => offer)).toEqual(offers);
	});

	test('keeps the row of a product that has no offers', async () => {
		const [first, second, third] = account.sandbox.products;
		if (!first || !second || !third) throw new Error('The catalog is too small');
		first.offers = [];

		const { json } = await account.run({
			...PARAMETERS,
			limit: 1 + second.offers.length,
			options: { splitOffers: true },
		});

		const { offers: _none, ...withoutOffers } = first;
		const { offers, ...product } = second;
		expect(json).toEqual([
			{ ...withoutOffers, offer: null },
			...offers.map((offer) => ({ ...product, offer })),
		]);
	});

	test('gives fifty where the limit is left blank', async () => {
		const { json } = await account.run({ ...PARAMETERS, limit: '={{ "" }}' });

		expect(json).toHaveLength(50);
		expect(sent()).toEqual([
			{ page: '1', per_page: '50' },
			{ page: '2', per_page: '50' },
		]);
	});

	test.each([
		['a text', '2, 3'],
		['a list', '={{ [2, "3"] }}'],
		['a text with gaps', ' ,2,,3 '],
	])('takes categories as %s', async (_name, categories) => {
		await account.run({ ...PARAMETERS, filters: { categories } });

		expect(sent()[0]).toMatchObject({ categories: '2,3' });
	});

	test.each(['2, cursos', '2a', 'a2'])(
		'refuses categories that are no numbers: %s',
		async (categories) => {
			const failure = await account.fail({ ...PARAMETERS, filters: { categories } });

			expect(failure.message).toBe(
				'Filters > Category IDs must be whole numbers separated by commas, for example 3, 7',
			);
			expect(account.sandbox.requests).toEqual([]);
		},
	);

	describe('of a service that ignores the filters', () => {
		const data = [
			{ hash: 'p1', title: 'Curso de Fotografia', id_category: 1, status: 1 },
			{ hash: 'p2', title: 'Guia', id_category: '2', status: '2' },
			{ hash: 'p3' },
			{ title: 'Curso sem hash', id_category: null, status: null },
			{ hash: 'curso', title: null, id_category: 12, status: 12 },
		];

		test.each([
			[{ search: 'CURSO' }, [0, 3, 4]],
			[{ search: 'Hash CURSO' }, [3]],
			[{ search: ' p3 ' }, [2]],
			[{ search: 'curso' }, [0, 3, 4]],
			[{ categories: '1' }, [0]],
			[{ categories: '2, 12' }, [1, 4]],
			[{ status: 1 }, [0]],
			[{ status: 2 }, [1]],
			[{ search: 'curso', categories: '1', status: 2 }, []],
			[{ search: ' ', categories: '' }, [0, 1, 2, 3, 4]],
		])('%j keeps only what matches', async (filters, expected) => {
			const set = { data, meta: null, links: { next: null } };
			account.sandbox.addFault({ kind: 'patchBody', set, times: 'always' });

			const { json } = await account.run({ ...PARAMETERS, returnAll: true, filters });

			expect(json).toEqual(expected.map((index) => data[index]));
		});
	});

	test('says nothing of what it has created, since it creates nothing', async () => {
		const fault = { endpoint: 'GET /products', kind: 'status', status: 403 } as const;
		account.sandbox.addFault({ ...fault, after: 1 });

		const failure = await account.fail(
			{ ...PARAMETERS, returnAll: false, limit: 1 },
			{ items: [{}, {}] },
		);

		expect(failure.itemIndex).toBe(1);
		expect(failure.message).toContain('(403)');
		expect(failure.description).not.toContain('Already done');
	});

	test('simplifies to at most ten flat fields', async () => {
		const { json } = await account.run({ ...PARAMETERS, simplify: true, limit: 3 });

		for (const row of json) {
			expect(Object.keys(row).length).toBeLessThanOrEqual(10);
			expect(
				Object.values(row).filter((value) => typeof value === 'object' && value !== null),
			).toEqual([]);
		}
		expect(json[0]).toMatchObject({
			product_hash: account.sandbox.products[0]?.hash,
			title: account.sandbox.products[0]?.title,
		});
	});

	test('keeps fields that nobody has listed, and pairs every item', async () => {
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

	test.each([
		['numbers sent as texts', { lie: 'numbersAsStrings' }],
		['meta left out', { lie: 'metaMissing' }],
		['meta and links left out', { lie: 'metaAndLinksMissing' }],
		['a repeated page', { lie: 'repeatedPage' }],
		['an empty page in the middle', { lie: 'emptyPage' }],
		['a last page that is too low', { lie: 'lastPageTooLow' }],
		['a last page that is too high', { lie: 'lastPageTooHigh' }],
		['a last page that shrinks meanwhile', { lie: 'shrinking' }],
	] as const)('gives the whole catalog once despite %s', async (_name, lie) => {
		account.sandbox.addFault({
			endpoint: 'GET /products',
			kind: 'paginationLies',
			times: 'always',
			...lie,
		});

		const { json } = await account.run({ ...PARAMETERS, returnAll: true });

		expect(json.map(({ hash }) => hash)).toEqual(account.sandbox.products.map(({ hash }) => hash));
	});

	test.each([
		['ignores the page', { lie: 'ignoresPage' }],
		['never ends', { lie: 'neverEnding' }],
	] as const)('comes to an end when the service %s, and says so', async (_name, lie) => {
		account.sandbox.addFault({
			endpoint: 'GET /products',
			kind: 'paginationLies',
			times: 'always',
			...lie,
		});

		const { json, hints } = await account.run({ ...PARAMETERS, returnAll: true });

		expect(new Set(json.map(({ hash }) => hash)).size).toBe(json.length);
		expect(JSON.stringify(hints)).toContain('may be incomplete');
		expect(account.sandbox.requests.length).toBeLessThan(40);
	});
});
