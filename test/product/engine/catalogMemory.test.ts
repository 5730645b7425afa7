import type { ICredentialDataDecryptedObject, IDataObject } from 'n8n-workflow';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { catalogPages } from '../../../nodes/DigitalSales/api/catalog';
import { runListSearch } from './harness';
import { type Account, openAccount, pixParameters, useAccount } from './support/account';

const CATALOG = 'GET /products';

describe('The catalog behind lists and charges', () => {
	const account = useAccount({ products: 630 });
	afterEach(() => jest.restoreAllMocks());

	describe('is remembered for a moment', () => {
		const list = async (filter?: string, { credentials } = account): Promise<unknown[]> =>
			(await runListSearch('searchProducts', { credentials, filter })).results;
		const createOffer = async (by = account): Promise<unknown> =>
			await by.run({
				resource: 'offer',
				operation: 'create',
				productHash: { __rl: true, mode: 'hash', value: account.sandbox.products[0]?.hash ?? '' },
				title: 'Nova',
				price: '0,01',
			});
		const requests = (method: string) =>
			account.sandbox.requests.filter((request) => request.method === method);
		const pages = (): unknown[] => requests('GET').map(({ query }) => query.page);

		/** The same account as another process may have it: by a credential that differs in one field. */
		const otherAccount = async (
			difference: (credential: ICredentialDataDecryptedObject) => IDataObject,
		): Promise<Account> => {
			const { digitalSalesApi: credential } = account.credentials;
			if (!credential) throw new Error('The account has no credential');
			const other = await openAccount({}, { ...credential, ...difference(credential) });
			await other.sandbox.close();
			return other;
		};

		test('so that opening a list again sends nothing', async () => {
			const first = await list();
			const again = await list();
			await runListSearch('searchOffers', { credentials: account.credentials });

			expect(again).toEqual(first);
			expect(account.sandbox.requests).toHaveLength(1);
		});

		test('so that two lists that open together send one request', async () => {
			await Promise.all([list(), list(), list()]);

			expect(account.sandbox.requests).toHaveLength(1);
		});

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

		test('the newest sixty of all accounts together', async () => {
			const accounts = await Promise.all([1, 2, 3, 4].map(async () => await openAccount()));
			const asked = (): number =>
				accounts.reduce((sum, one) => sum + one.sandbox.requests.length, 0);
			const open = async (nth: number): Promise<unknown> =>
				await runListSearch('searchProducts', {
					credentials: accounts[nth % accounts.length]?.credentials,
					paginationToken: String(Math.floor(nth / accounts.length) + 1),
				});

			for (let nth = 0; nth < 60; nth++) await open(nth);
			await open(0);
			expect(asked()).toBe(60);

			await open(60);
			await open(1);
			expect(asked()).toBe(61);
			await open(0);
			expect(asked()).toBe(62);
			await Promise.all(accounts.map(async ({ sandbox }) => await sandbox.close()));
		});

		test('and take no memory after that', async () => {
			const now = jest.spyOn(clock, 'elapsed');
			now.mockReturnValue(1_000_000);
			for (const paginationToken of ['1', '2']) {
				await runListSearch('searchProducts', {
					credentials: account.credentials,
					paginationToken,
				});
			}
			now.mockReturnValue(1_000_000 + 45_000);
			await list();

			expect(catalogPages.size).toBe(1);
		});

		test('but no faults', async () => {
			account.fault('list', { kind: 'status', status: 403 });

			await expect(list()).rejects.toThrow('no permission');
			await expect(list()).resolves.not.toHaveLength(0);
		});

		test('even where a fault of an older reading comes later', async () => {
			account.fault('list', { kind: 'delay', ms: 150 });
			account.fault('list', { kind: 'status', status: 403 });
			const older = Promise.allSettled([list()]);
			while (requests('GET').length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
			await createOffer();
			await list();
			expect(await older).toMatchObject([{ status: 'rejected' }]);

			await list();
			expect(pages()).toHaveLength(2);
		});

		test.each(['apiToken', 'baseUrl'])('for one account: another has another %s', async (field) => {
			const other = await otherAccount((credential) => ({
				[field]: field === 'apiToken' ? 'test-token-of-another' : `${String(credential[field])}/v2`,
			}));
			await list();

			await expect(list(undefined, other)).rejects.toThrow();
			expect(account.sandbox.requests).toHaveLength(2);
		});

		test('until an offer is created', async () => {
			await list();
			await createOffer();
			const { results } = await runListSearch('searchOffers', { credentials: account.credentials });

			expect(results.map(({ name }) => name).join()).toContain('Nova');
		});

		test('although another account creates an offer', async () => {
			const other = await openAccount({ products: 1 });
			await list();
			await createOffer(other);
			await list();
			await other.sandbox.close();

			expect(pages()).toHaveLength(1);
		});
	});

	describe('is looked through by a charge', () => {
		const chargeFor = async (position: number): Promise<{ hints: string[]; pages: unknown[] }> => {
			const value = account.sandbox.products[position]?.offers[0]?.hash ?? '';
			const items = [{ offerHash: { __rl: true, mode: 'list', value }, price: '5' }];
			const { hints } = await account.run(pixParameters(account.sandbox, { cart: { items } }));
			return {
				hints: hints.map(({ message }) => message),
				pages: account.sandbox.requests
					.filter(({ method }) => method === 'GET')
					.map(({ query }) => query.page),
			};
		};

		test('as far as its fifth page', async () => {
			await expect(chargeFor(499)).resolves.toEqual({
				hints: [],
				pages: ['1', '2', '3', '4', '5'],
			});
		});

		test('also where the service says nothing of its pages', async () => {
			const set = { meta: null, links: null };
			account.fault('list', { kind: 'patchBody', set }, 'always');

			await expect(chargeFor(499)).resolves.toEqual({
				hints: [],
				pages: ['1', '2', '3', '4', '5'],
			});
		});

		test('no further', async () => {
			await expect(chargeFor(500)).resolves.toEqual({
				hints: [expect.stringContaining('(at most 5 pages)')],
				pages: ['1', '2', '3', '4', '5'],
			});
		});

		test('without a long wait for the turn of its account: then the charge is refused', async () => {
			const fault = { endpoint: CATALOG, kind: 'retryAfter', seconds: 60 } as const;
			account.sandbox.addFault(fault);
			const refused = { message: expect.stringContaining('could not be looked up') as string };
			await expect(chargeFor(0)).rejects.toMatchObject(refused);
			const started = Date.now();

			await expect(chargeFor(0)).rejects.toMatchObject(refused);

			expect(Date.now() - started).toBeLessThan(5_000);
			expect(account.sandbox.requests.map(({ method }) => method)).toEqual(['GET']);
		});
	});
});
