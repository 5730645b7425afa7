import type { IDataObject } from 'n8n-workflow';
import { clock } from '../../nodes/DigitalSales/shared/clock';
import { runListSearch, TRIGGER_TYPE } from '../helpers/engine';
import { type Account, openAccount, useAccount } from '../helpers/account';

/** An amount as Node.js writes it for Brazil, without the package. */
function reais(cents: number): string {
	return (cents / 100)
		.toLocaleString('pt-BR', { style: 'currency', currency: 'BRL' })
		.replace(/\s/g, ' ');
}

type List = 'searchProducts' | 'searchOffers';

describe('Searchable lists', () => {
	const account = useAccount();

	const search = async (name: List, options: Parameters<typeof runListSearch>[1] = {}) =>
		await runListSearch(name, { credentials: account.credentials, ...options });
	/** Sets the answer of the platform to each request for a page. */
	const sends = (set: IDataObject): void =>
		account.fault('list', { kind: 'patchBody', set }, 'always');

	test.each(['searchProducts', 'searchOffers'] as const)(
		'are the same in the filters of the trigger: %s',
		async (name) => {
			const inFilter = await search(name, { type: TRIGGER_TYPE });

			expect(inFilter.results.length).toBeGreaterThan(0);
			expect(inFilter).toEqual(await search(name));
		},
	);

	test('show the price, and a status other than active, before the title', async () => {
		const { results } = await search('searchProducts');

		const lines = results.map(({ name }) => name);
		const products = account.sandbox.products.slice(0, lines.length);
		const NAMES = ['active', 'inactive', 'in review', 'blocked'];
		const expected = products.map(({ title, status, offers }) => {
			const prices = offers.map(({ price }) => price);
			const price = `${new Set(prices).size > 1 ? 'from ' : ''}${reais(Math.min(...prices))}`;
			const name = NAMES[status - 1];
			return name === 'active' ? `${price} · ${title}` : `${price} · ${name} · ${title}`;
		});
		expect(lines).toEqual(expected);
		expect(new Set(products.map(({ status }) => status)).size).toBe(NAMES.length);
	});

	describe('of a large catalog', () => {
		let large: Account;

		beforeAll(async () => {
			large = await openAccount({ products: 630 });
		});
		beforeEach(() => large.reset());
		afterAll(async () => await large.sandbox.close());

		const find = async (name: List, filter: string): Promise<unknown[]> => {
			const { results } = await search(name, { credentials: large.credentials, filter });
			return results.map(({ value }) => value);
		};
		const pages = (): unknown[] => large.sandbox.requests.map(({ query }) => query.page);

		test('find every match on the first five pages, and request each page once for all searches', async () => {
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

		test('search the first five pages only', async () => {
			const hash = large.sandbox.products[620]?.hash ?? '';

			expect(await find('searchProducts', hash)).toEqual([]);
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
	])('link to web addresses only: %s', async (address, url) => {
		account.sells({
			hash: 'p1',
			sale_page: address,
			offers: [{ hash: 'o1', url: address }],
		});

		expect((await search('searchProducts')).results[0]?.url).toBe(url);
		expect((await search('searchOffers')).results[0]?.url).toBe(url);
	});

	test('show the product of an offer first, shortened so that the title of the offer is visible', async () => {
		const title = 'Curso completo de fotografia para iniciantes';
		const offers = ['Black Friday', title].map((name) => ({
			hash: name,
			title: name,
			price: 9700,
		}));
		account.sells({ hash: 'p1', title, status: 1, offers });

		const { results } = await search('searchOffers');

		expect(results.map(({ name }) => name)).toEqual([
			'R$ 97,00 · Curso completo de foto... · Black Friday',
			`R$ 97,00 · ${title}`,
		]);
	});

	describe('of a platform that leaves out data', () => {
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

		beforeEach(() => sends({ data, meta: null, links: null }));

		test.each([
			[
				'searchProducts',
				[
					{ name: 'R$ 1,00 · Curso', value: 'p1', url: undefined },
					{ name: '9 · p2', value: 'p2', url: 'https://example.com/p2' },
					{ name: 'p3', value: 'p3', url: undefined },
				],
			],
			[
				'searchOffers',
				[
					{ name: 'R$ 1,00 · Curso', value: 'o1', url: undefined },
					{ name: 'p3 · Oferta', value: 'o3', url: undefined },
					{ name: 'no hash', value: 'o4', url: 'https://pay.example.com/o4' },
				],
			],
		] as const)('%s shows the data that exists', async (name, results) => {
			expect((await search(name, { filter: '  ' })).results).toEqual(results);
		});

		test.each([
			['searchProducts', ' p2 ', ['p2']],
			['searchOffers', 'no hash', ['o4']],
		] as const)('%s finds with "%s" %j', async (name, filter, expected) => {
			const { results } = await search(name, { filter });

			expect(results.map(({ value }) => value)).toEqual(expected);
		});
	});

	test.each([
		['a next page', { meta: null, links: { next: 'https://api.example.com/?page=2' } }, '2'],
		['no next page', { meta: null, links: { next: null } }, undefined],
		['one page and no links', { meta: { last_page: 1 }, links: null }, '2'],
	])('offer a next page if the platform announces it: %s', async (_name, set, expected) => {
		account.fault('list', { kind: 'patchBody', set });

		const { results, paginationToken } = await search('searchProducts');

		expect(results).toHaveLength(100);
		expect(paginationToken).toBe(expected);
	});

	describe('of a platform that announces no pages', () => {
		const set = { meta: null, links: null };

		test('go on until a page contains nothing new', async () => {
			sends(set);

			const first = await search('searchProducts');
			const { paginationToken } = first;
			const second = await search('searchProducts', { paginationToken });

			expect(paginationToken).toBe('2');
			const hashes = [...first.results, ...second.results].map(({ value }) => value);
			expect(hashes).toEqual(account.sandbox.products.map(({ hash }) => hash));
			const last = await search('searchProducts', { paginationToken: second.paginationToken });
			expect(last).toEqual({ results: [], paginationToken: undefined });
			expect(account.sandbox.requests.map(({ query }) => query.page)).toEqual(['1', '2', '3']);
		});

		test('show the first page even if the next page cannot be read', async () => {
			account.fault('list', { kind: 'patchBody', set });
			account.fault('list', { kind: 'status', status: 403, after: 1 });

			const { results, paginationToken } = await search('searchProducts');

			expect(results).toHaveLength(100);
			expect(paginationToken).toBe('2');
		});
	});

	test('go on after a page without products while more are announced, five pages at a time', async () => {
		sends({ data: [], meta: { last_page: 9 } });
		const openAt = async (paginationToken: string) =>
			await search('searchProducts', { paginationToken });

		expect(await openAt('2')).toEqual({ results: [], paginationToken: '7' });
		expect(account.sandbox.requests).toHaveLength(5);
		expect(await openAt('7')).toEqual({ results: [] });
	});

	describe('say in place of the list', () => {
		/** What n8n shows in place of the list. */
		const failure = async (
			name: List = 'searchProducts',
			{ credentials } = account,
		): Promise<unknown> =>
			await search(name, { credentials }).then(
				() => 'The list did not fail',
				(error: unknown) => error,
			);

		test('what the platform said, with its own name of the field', async () => {
			const body = { message: 'Bad', errors: { page: ['is wrong'] } };
			account.fault('list', { kind: 'status', status: 409, body });

			expect(await failure()).toMatchObject({
				description:
					'The platform said: Bad | page: is wrong.\nTry again later.\nRequest: GET /products.',
			});
		});

		test('that the platform fails, after a second try', async () => {
			account.fault('list', { kind: 'status', status: 503 }, 'always');

			expect(await failure()).toMatchObject({ httpCode: '503' });
			expect(account.sandbox.requests).toHaveLength(2);
		});

		test('that the rate limit is reached, without a wait', async () => {
			account.fault('list', { kind: 'retryAfter', seconds: 60 }, 'always');
			const limited = {
				message: expect.stringContaining('limiting requests') as string,
				description: expect.stringContaining('Wait a while') as string,
			};
			const started = clock.elapsed();

			expect(await failure()).toMatchObject(limited);
			expect(await failure()).toMatchObject(limited);
			expect(account.sandbox.requests).toHaveLength(1);
			expect(clock.elapsed() - started).toBe(0);
		});
	});
});
