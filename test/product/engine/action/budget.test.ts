import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import type { Fault } from '../../../sandbox';
import { useTimeLapse } from '../../../support/timeLapse';
import { runNode, type NodeOutcome } from '../harness';
import { type Account, openAccount } from '../support/account';

const LIST = {
	resource: 'product',
	operation: 'getAll',
	returnAll: true,
	simplify: false,
};

describe('The rate limit of GET /products', () => {
	let account: Account;

	useTimeLapse();
	afterEach(async () => await account.sandbox.close());

	const open = async (products: number, maxPageSize: number): Promise<void> => {
		account = await openAccount({
			products,
			maxPageSize,
			requestsPerMinute: 20,
			rateLimitWindow: 'sliding',
		});
		account.reset();
	};
	const list = async (): Promise<NodeOutcome> => await account.run(LIST);
	const limited = (): number =>
		account.sandbox.requests.filter(({ status }) => status === 429).length;

	test('137 products come in one burst, and 3,000 without a single 429', async () => {
		await open(137, 30);
		expect((await list()).json).toHaveLength(137);
		await account.sandbox.close();

		await open(3_000, 50);
		const { json } = await list();
		expect(json).toHaveLength(3_000);
		expect(account.sandbox.requests).toHaveLength(60);
		expect(limited()).toBe(0);
	});

	test('four executions share the budget, take turns and all finish', async () => {
		await open(400, 20);

		const runs = await Promise.all(
			Array.from(
				{ length: 4 },
				async () => await runNode(LIST, { credentials: account.credentials }),
			),
		);

		expect(runs.map(({ json }) => json.length)).toEqual([400, 400, 400, 400]);
		expect(limited()).toBe(0);
	});

	test('a 429 all the same is waited out, when another process has spent the budget', async () => {
		await open(400, 20);
		const headers = { authorization: `Bearer ${account.sandbox.apiToken}` };
		for (let spent = 0; spent < 15; spent++) {
			await fetch(`${account.sandbox.baseUrl}/products?per_page=1`, { headers });
		}

		const { json } = await list();

		expect(json).toHaveLength(400);
	});

	// Until it is really answered, what was spent in this minute still counts.
	test.each<[string, Fault, number]>([
		['503', { kind: 'status', status: 503 }, 60],
		['nothing', { kind: 'resetBeforeProcessing' }, 60],
		['200', { kind: 'delay', ms: 0 }, 5],
	])('after a 429 the one that goes first is answered %s', async (_name, fault, seconds) => {
		account = await openAccount();
		account.reset();
		const first = { resource: 'product', operation: 'getAll', limit: 1 };
		for (let sent = 0; sent < 19; sent++) await account.run(first);
		account.sandbox.addFault({ kind: 'retryAfter', seconds: 5 });
		account.sandbox.addFault({ kind: 'delay', ms: 0 });
		account.sandbox.addFault(fault);
		const startedAt = clock.elapsed();

		await account.run(first);

		const waited = (clock.elapsed() - startedAt) / 1_000;
		expect(waited).toBeGreaterThan(seconds * 0.8);
		expect(waited).toBeLessThan(seconds * 1.2);
	});
});
