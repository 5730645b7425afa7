import { defaultMaxListeners, getEventListeners } from 'node:events';
import type { INodeParameters } from 'n8n-workflow';
import { crashedData, NodeProcess, processedItems } from '../harness';
import { customers, errorOf, OWN_CUSTOMER, useShop } from '../support/charging';

const POST = 'POST /transactions';
const GET = 'GET /transactions/{hash}';
/** The node was under way. */
const CRASHED = [
	{ name: 'Start', finished: true },
	{ name: 'Digital Sales', finished: false },
];
const pause = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms));

describe('Attacks on several charges at once', () => {
	const shop = useShop({ latencyMs: 20 });
	afterEach(() => jest.restoreAllMocks());

	const charge = (options: INodeParameters = {}): INodeParameters =>
		shop.parameters(undefined, { ...OWN_CUSTOMER, options });
	const posts = () => shop.account.sandbox.requests.filter(({ method }) => method === 'POST');

	const slowDatabase = (): void => {
		const enter = processedItems.checkProcessedAndRecord.bind(processedItems);
		jest.spyOn(processedItems, 'checkProcessedAndRecord').mockImplementation(async (...args) => {
			await pause(30);
			return await enter(...args);
		});
		const remove = processedItems.removeProcessed.bind(processedItems);
		jest.spyOn(processedItems, 'removeProcessed').mockImplementation(async (...args) => {
			await pause(30);
			await remove(...args);
		});
	};

	test('a Retry with another token that stops blames the item that failed, not one it stopped', async () => {
		shop.fault('refuse', 1);
		const first = await shop.run(charge(), { items: customers(2) });
		const { digitalSalesApi: credential } = shop.account.credentials;
		const baseUrl = String(credential?.baseUrl).replace('127.0.0.1', 'localhost');
		// The service is unwell for a moment, which a read waits out; meanwhile item 2 is refused.
		shop.account.sandbox.addFault({
			endpoint: GET,
			kind: 'status',
			status: 503,
			headers: { 'Retry-After': '3' },
			times: 1,
		});
		shop.account.sandbox.addFault({ endpoint: POST, kind: 'delay', ms: 300, times: 1 });
		shop.fault('refuse');

		const retry = await shop.retry(charge(), first, {
			credentials: { digitalSalesApi: { ...credential, baseUrl } },
		});

		expect(errorOf(retry)).toContain('did not accept the request (422)');
	});

	test('a slow database: nothing is sent after the answer that stops the run', async () => {
		slowDatabase();
		shop.fault('refuse', 0);

		const run = await shop.run(charge(), { items: customers(40) });

		expect(run.status).toBe('error');
		const refused = posts().find(({ status }) => status === 422);
		const answeredAt = (refused?.at ?? 0) + (refused?.durationMs ?? 0);
		const late = posts().filter(({ at }) => at > answeredAt + 10);
		expect(late.map(({ at }) => at - answeredAt)).toEqual([]);
	});

	test('those at once do not all listen to one signal, of which Node.js warns', async () => {
		let most = 0;
		const { addEventListener: listen } = AbortSignal.prototype;
		jest.spyOn(AbortSignal.prototype, 'addEventListener').mockImplementation(function (
			this: AbortSignal,
			...args: Parameters<typeof listen>
		) {
			listen.apply(this, args);
			most = Math.max(most, getEventListeners(this, 'abort').length);
		});
		slowDatabase();

		const run = await shop.run(charge(), { items: customers(20) });

		expect(run.status).toBe('success');
		expect(most).toBeGreaterThan(0);
		expect(most).toBeLessThanOrEqual(defaultMaxListeners);
	});

	test('the Retry of a crash never says that nothing was created', async () => {
		shop.fault('refuse');
		shop.account.sandbox.addFault({ endpoint: POST, kind: 'delay', ms: 150, times: 1 });
		const slow = { kind: 'delayAfterProcessing', ms: 600 } as const;
		shop.account.sandbox.addFault({ endpoint: POST, ...slow, after: 1, times: 3 });
		const running = shop.run(charge(), { items: customers(4), process: NodeProcess.fresh() });
		while (shop.charges < 3) await pause(5);
		await pause(200);
		processedItems.failAfter = 0;
		const { begun } = await running;
		processedItems.clear({ keepRows: true });
		const retryOf = crashedData(begun, CRASHED);
		shop.fault('refuse');
		slowDatabase();

		const retry = await shop.run(charge(), { retryOf, process: NodeProcess.fresh() });

		expect(shop.charges).toBe(3);
		expect(errorOf(retry)).toMatch(
			/did not accept the request \(422\)|may already have been charged/,
		);
		expect(errorOf(retry)).not.toContain('Nothing was created');
	});

	test('a refusal is not said to have got no usable answer', async () => {
		shop.fault('refuse');
		shop.fault('lose', 1);

		const run = await shop.run(charge(), { items: customers(2) });

		expect(errorOf(run)).toContain('did not accept the request (422)');
		expect(errorOf(run)).toContain('may exist: item 2.');
		expect(errorOf(run)).not.toContain('either');
	});

	test('several doubts at once: each code allows its own charge, and none of them twice', async () => {
		shop.account.sandbox.addFault({ endpoint: POST, kind: 'resetAfterProcessing', times: 6 });
		const settings = { onError: 'continueRegularOutput' } as const;
		const items = customers(6);
		await shop.run(charge(), { items, settings });
		const refused = await shop.run(charge(), { items, settings });
		const codes = refused.json.map((json) => /Again to ([\w-]+)/.exec(JSON.stringify(json))?.[1]);
		expect(new Set(codes).size).toBe(6);
		// All six are pasted; three are lost again.
		const repeatCode = codes.join(', ');
		shop.account.sandbox.addFault({ endpoint: POST, kind: 'resetAfterProcessing', times: 3 });
		const twice = [...items, ...items];
		await shop.run(charge({ repeatCode }), { items: twice, settings });
		const lost = shop.charges;
		await shop.run(charge({ repeatCode }), { items, settings });

		// The equal items of the three that were answered are charges of their own.
		expect(lost).toBe(6 + 6 + 3);
		expect(shop.charges).toBe(lost + 3);
	});
});
