import type { INodeParameters } from 'n8n-workflow';
import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { useTimeLapse } from '../../../support/timeLapse';
import { HarnessCredentials } from '../harness/credentials';
import { runNode } from '../harness';
import { type Account, errorIn, openAccount } from '../support/account';

const CATALOG = 'GET /products';
const PARAMETERS = { resource: 'product', operation: 'getAll', simplify: false };

describe('Product > Get Many asks', () => {
	let account: Account;

	useTimeLapse();
	beforeAll(async () => {
		account = await openAccount();
	});
	beforeEach(() => account.reset());
	afterAll(async () => await account.sandbox.close());

	const sent = (): unknown[] => account.sandbox.requests.map(({ query }) => query);

	test.each<[string, INodeParameters, string]>([
		['the limit', { limit: 5 }, '5'],
		['250, however much is wanted', { limit: 1_000 }, '250'],
		['250 for all', { returnAll: true }, '250'],
		['250 where a search may drop many', { limit: 5, filters: { search: 'x' } }, '250'],
		['250 where categories may', { limit: 5, filters: { categories: '2' } }, '250'],
		['250 where a status may', { limit: 5, filters: { status: 1 } }, '250'],
		['the limit with blank filters', { limit: 5, filters: { search: ' ', categories: '' } }, '5'],
		['the Page Size of the form', { limit: 5, options: { pageSize: 7 } }, '7'],
	])('for pages of %s', async (_name, parameters, expected) => {
		await account.run({ ...PARAMETERS, ...parameters });

		expect(sent()[0]).toMatchObject({ page: '1', per_page: expected });
	});

	test('with the names that the form gives the query', async () => {
		const queryParameterNames = 'search=q, categories=c\nstatus = s & per_page=size;page=p,';

		await account.run({
			...PARAMETERS,
			filters: { search: 'curso', categories: '2,3', status: 1 },
			options: { queryParameterNames },
		});

		expect(sent()[0]).toEqual({ q: 'curso', c: '2,3', s: '1', size: '250', p: '1' });
	});

	test('with a credential that is read once for all requests', async () => {
		const decrypted = jest.spyOn(HarnessCredentials.prototype, 'getDecrypted');

		await account.run({ ...PARAMETERS, returnAll: true, options: { pageSize: 30 } });

		expect(account.sandbox.requests).toHaveLength(5);
		expect(decrypted).toHaveBeenCalledTimes(1);
		decrypted.mockRestore();
	});

	test.each([400, 422])(
		'without a page size from then on where the service refuses it (%i)',
		async (status) => {
			account.sandbox.addFault({ endpoint: CATALOG, kind: 'status', status });

			const { json } = await account.run({
				...PARAMETERS,
				returnAll: true,
				filters: { search: 'a' },
			});

			const wanted = account.sandbox.products.filter(({ title }) => /[aáàâã]/i.test(title));
			expect(json.map(({ hash }) => hash)).toEqual(wanted.map(({ hash }) => hash));
			const [refused, ...others] = sent();
			expect(refused).toEqual({ page: '1', per_page: '250', search: 'a' });
			expect(others.length).toBeGreaterThan(1);
			expect(others).toEqual(
				others.map((_query, index) => ({ page: String(index + 1), search: 'a' })),
			);
		},
	);

	test.each<[string, number, INodeParameters, number]>([
		['it says that the address is wrong', 404, {}, 0],
		['it refuses the account', 403, {}, 0],
		['it has taken the page size before', 422, { returnAll: true }, 1],
	])('once only where the service refuses and %s', async (_name, status, parameters, after) => {
		account.sandbox.addFault({ endpoint: CATALOG, kind: 'status', status, after });

		const failure = await account.fail({ ...PARAMETERS, ...parameters });

		expect(failure.httpCode).toBe(String(status));
		expect(account.sandbox.requests).toHaveLength(after + 1);
	});

	test('as often in a minute as the form says', async () => {
		const startedAt = clock.elapsed();

		await account.run({
			...PARAMETERS,
			returnAll: true,
			options: { requestLimit: 2, pageSize: 30 },
		});

		const waitedMs = clock.elapsed() - startedAt;
		expect(waitedMs).toBeGreaterThan(115_000);
		expect(waitedMs).toBeLessThan(125_000);
	});

	describe('for nothing more once', () => {
		const fetched = (): unknown[] => account.sandbox.requests.map(({ query }) => query.page);
		/** Of five pages, three wait in line as soon as the second one is asked for. */
		const ALL = {
			...PARAMETERS,
			returnAll: true,
			options: { pageSize: 30, requestLimit: 2 },
		};

		test('a page has failed, although the run goes on', async () => {
			account.sandbox.addFault({ kind: 'status', status: 403, query: { page: '2' } });

			const { json } = await account.run(ALL, { items: [{}, {}], continueOnFail: true });

			expect(errorIn(json[0])).toMatchObject({ status: 403, outcome: 'refused' });
			expect(json).toHaveLength(1 + account.sandbox.products.length);
			expect(fetched()).toEqual(['1', '2', '1', '2', '3', '4', '5']);
		});

		test('the execution was canceled, which is all it says', async () => {
			const running = runNode(ALL, { credentials: account.credentials });
			while (account.sandbox.requests.length < 2) await clock.sleep(5);
			await clock.sleep(50);
			running.cancel();

			expect((await running).node?.error?.message).toBe('The execution was canceled');
			expect(fetched()).toEqual(['1', '2']);
		});
	});
});
