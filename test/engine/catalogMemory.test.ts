import { clock } from '../../nodes/DigitalSales/shared/clock';
import { catalogPages } from '../../nodes/DigitalSales/api/catalog';
import { sampleOf } from '../helpers/samples';
import { runListSearch } from '../helpers/engine';
import { pixParameters, useAccount } from '../helpers/account';

const FIVE_PAGES = ['1', '2', '3', '4', '5'];

describe('The catalog behind lists and charges', () => {
	const account = useAccount({ products: 510 });
	afterEach(() => jest.restoreAllMocks());

	/** The pages that the platform was asked for. */
	const pages = (): unknown[] =>
		account.sandbox.requests
			.filter(({ method }) => method === 'GET')
			.map(({ query }) => query.page);

	describe('is remembered', () => {
		const list = async (credentials = account.credentials): Promise<unknown[]> =>
			(await runListSearch('searchProducts', { credentials })).results;

		test('for 45 seconds and no longer', async () => {
			const now = jest.spyOn(clock, 'elapsed');
			now.mockReturnValue(1_000_000);
			await list();
			now.mockReturnValue(1_000_000 + 44_999);
			await list();
			expect(account.sandbox.requests).toHaveLength(1);
			now.mockReturnValue(1_000_000 + 45_000);
			await list();

			expect(account.sandbox.requests).toHaveLength(2);
		});

		test('in at most sixty pages of all accounts together', async () => {
			for (let nth = 0; nth < 60; nth++) {
				catalogPages.set(`other ${nth}`, Promise.resolve({ data: [] }));
			}
			await list();
			await list();

			expect(catalogPages.size).toBe(60);
			expect(account.sandbox.requests).toHaveLength(1);
		});

		test.each(['apiToken', 'baseUrl'])('for one account, which %s identifies', async (field) => {
			const { digitalSalesApi = {} } = account.credentials;
			const other = account.credentialsWith({ [field]: `${String(digitalSalesApi[field])}/v2` });
			await list();

			await expect(list(other)).rejects.toThrow();
			expect(account.sandbox.requests).toHaveLength(2);
		});

		test('until an offer is created', async () => {
			await list();
			const offer = sampleOf('offer/create', account.sandbox, { transactionHash: '' });
			await account.run({ ...offer, title: 'Nova' });
			const { results } = await runListSearch('searchOffers', { credentials: account.credentials });

			expect(results.map(({ name }) => name).join()).toContain('Nova');
		});
	});

	describe('is searched by a charge', () => {
		const chargeFor = async (position: number, price = '5'): Promise<string[]> => {
			const value = account.sandbox.products[position]?.offers[0]?.hash ?? '';
			const items = [{ offerHash: { __rl: true, mode: 'list', value }, price }];
			const { hints } = await account.run(pixParameters(account.sandbox, { cart: { items } }));
			return hints.map(({ message }) => message);
		};

		test('up to its fifth page, also if the platform states no figures', async () => {
			const set = { meta: null, links: null };
			account.fault('list', { kind: 'patchBody', set }, 'always');

			expect(await chargeFor(499)).toEqual([]);
			expect(pages()).toEqual(FIVE_PAGES);
		});

		test('not beyond its fifth page', async () => {
			await expect(chargeFor(500, '')).rejects.toMatchObject({
				description: expect.stringContaining('in the first 5 pages of the catalog') as string,
			});
			expect(pages()).toEqual(FIVE_PAGES);
		});

		const charge = async (signal?: AbortSignal) => {
			const value = account.sandbox.products[0]?.offers[0]?.hash ?? '';
			const items = [{ offerHash: { __rl: true, mode: 'list', value }, price: '' }];
			return await account.run(pixParameters(account.sandbox, { cart: { items } }), { signal });
		};

		test('again for the others, if a read fails that charges share', async () => {
			account.fault('list', { kind: 'delay', ms: 5_000 }, 'always');
			account.fault('list', { kind: 'status', status: 500 }, 1);
			const charges = Array.from({ length: 8 }, async () => await charge());
			const ends = await Promise.allSettled(charges);

			expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(1);
			expect(pages()).toEqual(['1', '1']);
			expect(account.sandbox.charges()).toBe(7);
		});

		test('once for all charges that start together, even if the first is canceled', async () => {
			account.fault('list', { kind: 'delay', ms: 5_000 }, 'always');
			const canceling = new AbortController();
			const canceled = charge(canceling.signal).catch(() => undefined);
			const charges = Array.from({ length: 3 }, async () => await charge());
			await clock.sleep(1_000);
			canceling.abort();
			await Promise.all([canceled, ...charges]);

			expect(pages()).toEqual(['1', '1']);
			expect(account.sandbox.charges()).toBe(3);
		});

		test('again, however many of those that read are canceled', async () => {
			account.fault('list', { kind: 'delay', ms: 5_000 }, 'always');
			const canceling = [new AbortController(), new AbortController()];
			const canceled = canceling.map(async ({ signal }) => await charge(signal).catch(() => 0));
			const charges = [charge(), charge()];
			for (const one of canceling) {
				await clock.sleep(1_000);
				one.abort();
			}
			await Promise.all([...canceled, ...charges]);

			expect(account.sandbox.charges()).toBe(2);
		});

		test('while a list reads the whole catalog: then its request goes first', async () => {
			const list = { resource: 'product', operation: 'getAll', returnAll: true, simplify: true };
			const small = { ...list, options: { pageSize: 20 } };
			const listing = account.run(small);
			await clock.sleep(1_000);
			await chargeFor(0, '');
			await listing;

			const sizes = account.sandbox.requests.map(({ query }) => query.per_page);
			expect(sizes.indexOf('100')).toBe(20);
		});

		test('without a long wait for the rate limit: the charge is then refused', async () => {
			account.fault('list', { kind: 'retryAfter', seconds: 120 });
			const refused = { description: expect.stringContaining('could not be looked up') as string };
			await expect(chargeFor(0, '')).rejects.toMatchObject(refused);
			const started = clock.elapsed();

			await expect(chargeFor(0, '')).rejects.toMatchObject(refused);

			expect(clock.elapsed() - started).toBe(0);
			expect(account.sandbox.requests.map(({ method }) => method)).toEqual(['GET']);
		});
	});
});
