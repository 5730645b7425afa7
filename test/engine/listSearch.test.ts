import { runListSearch } from './harness';
import { openAccount, type Account } from './support/account';

describe('Searchable lists', () => {
	let account: Account;

	beforeAll(async () => {
		account = await openAccount();
	});
	beforeEach(() => account.reset());
	afterAll(async () => await account.sandbox.close());

	test('show products with price and status, page by page', async () => {
		const { credentials } = account;
		const first = await runListSearch('searchProducts', { credentials });
		const second = await runListSearch('searchProducts', {
			credentials,
			paginationToken: first.paginationToken,
		});

		const hashes = [...first.results, ...second.results].map(({ value }) => value);
		expect(hashes).toEqual(account.sandbox.products.map(({ hash }) => hash));
		expect(second.paginationToken).toBeUndefined();
		expect(first.results[0]?.name).toMatch(
			/ - from R\$ [\d.,]+ - (active|inactive|in review|blocked)$/,
		);
	});

	test('find a product on a later page of a service that ignores the search', async () => {
		const wanted = account.sandbox.products[130];

		const { results } = await runListSearch('searchProducts', {
			credentials: account.credentials,
			filter: wanted?.hash ?? '',
		});

		expect(results).toMatchObject([{ value: wanted?.hash }]);
	});

	test('show the offers with title and price', async () => {
		const [product] = account.sandbox.products;

		const { results } = await runListSearch('searchOffers', {
			credentials: account.credentials,
			filter: product?.hash ?? '',
		});

		expect(results.map(({ value }) => value)).toEqual(product?.offers.map(({ hash }) => hash));
		expect(results[0]?.name).toContain(product?.title);
	});

	test('say what is wrong inside the list', async () => {
		await expect(
			runListSearch('searchProducts', {
				credentials: {
					digitalSalesApi: { baseUrl: account.sandbox.baseUrl, apiToken: 'test-wrong-token' },
				},
			}),
		).rejects.toThrow('did not accept the API token');
	});
});
