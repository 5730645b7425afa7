import { openAccount, type Account } from '../support/account';

const PARAMETERS = { resource: 'product', operation: 'getAll', simplify: false };

describe('Product > Get Many', () => {
	let account: Account;

	beforeAll(async () => {
		account = await openAccount({ maxPageSize: 30 });
	});
	beforeEach(() => account.reset());
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
			options: { queryParameterNames: { names: { search: 'unknown_name' } } },
		});

		expect(json.map(({ hash }) => hash)).toContain(accented?.hash);
		expect(json.length).toBeLessThan(account.sandbox.products.length);
	});

	test('finds a product by its exact hash', async () => {
		const hash = account.sandbox.products[77]?.hash ?? '';

		const { json } = await account.run({ ...PARAMETERS, filters: { search: hash } });

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
