import { runListSearch, TRIGGER_TYPE } from './harness';
import { type Account, openAccount, useAccount } from './support/account';

/** As a Brazilian writes it, by the runtime's own rules instead of the package's. */
function reais(cents: number): string {
	return (cents / 100)
		.toLocaleString('pt-BR', { style: 'currency', currency: 'BRL' })
		.replace(/\s/g, ' ');
}

describe('Searchable lists', () => {
	const account = useAccount();

	test.each(['searchProducts', 'searchOffers'])(
		'are the same in the filters of the trigger: %s',
		async (name) => {
			const { credentials } = account;

			const inFilter = await runListSearch(name, { credentials, type: TRIGGER_TYPE });

			expect(inFilter.results.length).toBeGreaterThan(0);
			expect(inFilter).toEqual(await runListSearch(name, { credentials }));
		},
	);

	test('show the price before the title, and a status that is not the usual one before it, too', async () => {
		const { results } = await runListSearch('searchProducts', {
			credentials: account.credentials,
		});

		const lines = results.map(({ name }) => name);
		const products = account.sandbox.products.slice(0, lines.length);
		const NAMES = ['active', 'inactive', 'in review', 'blocked'];
		const shownStatuses = new Set<string>();
		products.forEach(({ title, status, offers }, index) => {
			const prices = offers.map(({ price }) => price);
			const price = `${new Set(prices).size > 1 ? 'from ' : ''}${reais(Math.min(...prices))}`;
			const name = NAMES[status - 1] ?? '';
			shownStatuses.add(name);
			expect(lines[index]).toBe(
				name === 'active' ? `${price} · ${title} · active` : `${price} · ${name} · ${title}`,
			);
		});
		expect([...shownStatuses].sort()).toEqual([...NAMES].sort());
	});

	describe('of a large catalog', () => {
		let large: Account;

		beforeAll(async () => {
			large = await openAccount({ products: 630 });
		});
		beforeEach(() => large.reset());
		afterAll(async () => await large.sandbox.close());

		const find = async (name: string, filter: string): Promise<unknown[]> => {
			const { credentials } = large;
			const { results } = await runListSearch(name, { credentials, filter });
			return results.map(({ value }) => value);
		};
		const pages = (): unknown[] => large.sandbox.requests.map(({ query }) => query.page);

		test('find all that is searched on the first five pages, and ask once for all searches', async () => {
			const wanted = [130, 499].map((nth) => large.sandbox.products[nth]);
			for (const product of wanted) if (product) product.title = 'Promoção ímpar';

			expect(await find('searchProducts', 'impar promoção')).toEqual(
				wanted.map((one) => one?.hash),
			);
			expect(await find('searchProducts', wanted[0]?.hash ?? '')).toEqual([wanted[0]?.hash]);
			expect(await find('searchOffers', wanted[1]?.hash ?? '')).toEqual(
				wanted[1]?.offers.map(({ hash }) => hash),
			);
			expect(pages()).toEqual(['1', '2', '3', '4', '5']);
		});

		test('say that they search no further', async () => {
			const hash = large.sandbox.products[620]?.hash ?? '';

			await expect(find('searchProducts', hash)).rejects.toMatchObject({
				message: 'Not among the products of the first 5 pages',
				description: expect.stringContaining('By Hash') as string,
			});
			expect(pages()).toHaveLength(5);
		});

		test('find an offer by its own hash or title among the offers of its product', async () => {
			const several = large.sandbox.products.find(({ offers }) => offers.length > 1);
			const [, wanted] = several?.offers ?? [];
			if (!wanted) throw new Error('No product has several offers');
			wanted.title = 'Promoção ímpar';

			const part = wanted.hash.slice(1).toUpperCase();
			for (const filter of [wanted.hash, part, 'PROMOCAO IMPAR', 'impar promoção']) {
				expect(await find('searchOffers', filter)).toEqual([wanted.hash]);
			}
		});
	});

	test.each([
		['javascript:alert(1)', undefined],
		['https://www.example.com/p1', 'https://www.example.com/p1'],
	])('lead to a page of the web and nowhere else: %s', async (address, url) => {
		const offers = [{ hash: 'o1', url: address }];
		const data = [{ hash: 'p1', sale_page: address, offers }];
		account.sandbox.addFault({ kind: 'patchBody', set: { data, links: null }, times: 'always' });

		for (const name of ['searchProducts', 'searchOffers']) {
			const { results } = await runListSearch(name, { credentials: account.credentials });
			expect(results[0]?.url).toBe(url);
		}
	});

	describe('of a service that says little', () => {
		const data = [
			{
				hash: 'p1',
				title: 'Curso',
				offers: [{ hash: 'o1', title: '', price: 100 }, { title: 'no hash' }],
			},
			{ hash: 'p2', status: 9, sale_page: 'https://example.com/p2' },
			{ hash: 'p3', title: '', status: 1, offers: [{ hash: 'o3', title: 'Oferta', price: null }] },
			{ title: 'no hash', offers: [{ hash: 'o4', url: 'https://pay.example.com/o4' }] },
		];

		beforeEach(() => {
			const set = { data, meta: null, links: null };
			account.sandbox.addFault({ kind: 'patchBody', set, times: 'always' });
		});

		test.each([
			[
				'searchProducts',
				[
					{ name: 'R$ 1,00 · Curso', value: 'p1', url: undefined },
					{ name: '9 · p2', value: 'p2', url: 'https://example.com/p2' },
					{ name: 'p3 · active', value: 'p3', url: undefined },
				],
			],
			[
				'searchOffers',
				[
					{ name: 'R$ 1,00 · Curso', value: 'o1', url: undefined },
					{ name: 'Oferta · p3 · active', value: 'o3', url: undefined },
					{ name: 'no hash', value: 'o4', url: 'https://pay.example.com/o4' },
				],
			],
		])('%s shows what there is', async (name, results) => {
			await expect(
				runListSearch(name, { credentials: account.credentials, filter: '  ' }),
			).resolves.toEqual({ results });
		});

		test.each([
			['searchProducts', ' p2 ', ['p2']],
			['searchOffers', 'no hash', ['o4']],
		])('%s finds by "%s" %j', async (name, filter, expected) => {
			const { results } = await runListSearch(name, { credentials: account.credentials, filter });

			expect(results.map(({ value }) => value)).toEqual(expected);
		});
	});

	test.each([
		['a next page', { meta: null, links: { next: 'https://api.example.com/?page=2' } }, '2'],
		['no next page', { meta: null, links: { next: null } }, undefined],
		['one page and no links', { meta: { last_page: 1 }, links: null }, '2'],
	])('go on by what a service announces: %s', async (_name, set, expected) => {
		account.sandbox.addFault({ endpoint: 'GET /products', kind: 'patchBody', set });

		const { results, paginationToken } = await runListSearch('searchProducts', {
			credentials: account.credentials,
		});

		expect(results).toHaveLength(100);
		expect(paginationToken).toBe(expected);
	});

	describe('of a service that says nothing of its pages', () => {
		const set = { meta: null, links: null };
		const open = async (paginationToken?: string) =>
			await runListSearch('searchProducts', {
				credentials: account.credentials,
				paginationToken,
			});

		test('go on until a page brings nothing new', async () => {
			account.sandbox.addFault({ kind: 'patchBody', set, times: 'always' });

			const first = await open();
			const second = await open(first.paginationToken);

			expect(first.paginationToken).toBe('2');
			const hashes = [...first.results, ...second.results].map(({ value }) => value);
			expect(hashes).toEqual(account.sandbox.products.map(({ hash }) => hash));
			expect(second.paginationToken).toBeUndefined();
			expect(account.sandbox.requests.map(({ query }) => query.page)).toEqual(['1', '2', '3']);
		});

		test('show the first page although the next one cannot be read', async () => {
			account.sandbox.addFault({ kind: 'patchBody', set });
			account.sandbox.addFault({ kind: 'status', status: 403, after: 1 });

			const { results, paginationToken } = await open();

			expect(results).toHaveLength(100);
			expect(paginationToken).toBe('2');
		});
	});

	test('go on behind a page without products while more are announced, five pages at a time', async () => {
		const set = { data: [], meta: { last_page: 9 } };
		account.sandbox.addFault({ kind: 'patchBody', set, times: 'always' });
		const { credentials } = account;
		const open = async (paginationToken: string) =>
			await runListSearch('searchProducts', { credentials, paginationToken });

		await expect(open('2')).resolves.toEqual({ results: [], paginationToken: '7' });
		expect(account.sandbox.requests).toHaveLength(5);
		await expect(open('7')).resolves.toEqual({ results: [] });
	});

	test('ask without a page size where the service refuses it', async () => {
		account.sandbox.addFault({ endpoint: 'GET /products', kind: 'status', status: 422 });

		const { credentials } = account;
		const { results } = await runListSearch('searchProducts', { credentials });

		expect(results).not.toEqual([]);
		expect(account.sandbox.requests.map(({ query }) => query)).toEqual([
			{ page: '1', per_page: '100' },
			{ page: '1' },
		]);
	});

	describe('say inside the list', () => {
		const failure = async (
			name = 'searchProducts',
			{ credentials } = account,
		): Promise<Record<string, unknown>> =>
			await runListSearch(name, { credentials }).then(
				() => {
					throw new Error('The list did not fail');
				},
				(error: Record<string, unknown>) => error,
			);

		test('what the service said, the field by its own name', async () => {
			const body = { message: 'Bad', errors: { page: ['is wrong'] } };
			account.sandbox.addFault({ endpoint: 'GET /products', kind: 'status', status: 409, body });

			await expect(failure()).resolves.toMatchObject({
				description:
					'The service said: Bad | page: is wrong.\nTry again later.\nRequest: GET /products.',
			});
		});

		test('that the service fails, after a second try', async () => {
			const endpoint = 'GET /products';
			account.sandbox.addFault({ endpoint, kind: 'status', status: 503, times: 'always' });

			await expect(failure()).resolves.toMatchObject({ httpCode: '503' });
			expect(account.sandbox.requests).toHaveLength(2);
		});

		test('that the account has no products', async () => {
			const empty = await openAccount({ products: 0 });

			await expect(failure('searchProducts', empty)).resolves.toMatchObject({
				level: 'info',
				message: 'This account has no products yet',
				description: expect.stringContaining('By Hash') as string,
			});
			await expect(failure('searchOffers', empty)).resolves.toMatchObject({
				message: 'This account has no offers yet',
			});
			await empty.sandbox.close();
		});

		test('that the limit is used up, without making anybody wait for a minute', async () => {
			account.sandbox.addFault({
				endpoint: 'GET /products',
				kind: 'retryAfter',
				seconds: 60,
				times: 'always',
			});

			const started = Date.now();
			const atTheService = await failure();
			const inThisProcess = await failure();

			for (const { message, description } of [atTheService, inThisProcess]) {
				expect(message).toBe('Rate limit reached. Try again in a minute.');
				expect(description).toContain('By Hash');
			}
			expect(account.sandbox.requests).toHaveLength(1);
			expect(Date.now() - started).toBeLessThan(8_000);
		});
	});

	test('are no failure where a search finds nothing', async () => {
		const { results } = await runListSearch('searchProducts', {
			credentials: account.credentials,
			filter: 'there is no such product',
		});

		expect(results).toEqual([]);
	});
});
