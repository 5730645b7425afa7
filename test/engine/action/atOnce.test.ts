import { defaultMaxListeners, getEventListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { mostAtOnce } from '../../helpers/underWay';
import {
	ACTION_TYPE,
	connect,
	NO_OP_TYPE,
	type NodeOutcome,
	processedItems,
	runWorkflow,
	START_TYPE,
} from '../../helpers/engine';
import { useLimits } from '../../helpers/account';
import { customers, errorOf, OWN_CUSTOMER, RETRY_ON_FAIL, useShop } from '../../helpers/charging';

const LATENCY_MS = 60;

describe('Several charges at once', () => {
	const limit = useLimits();
	const shop = useShop({ latencyMs: LATENCY_MS });
	afterEach(() => jest.restoreAllMocks());

	/** Charges this many customers. */
	const chargeEach = (count: number, options: Parameters<typeof shop.run>[1] = {}) =>
		shop.run(shop.parameters(undefined, OWN_CUSTOMER), { items: customers(count), ...options });
	/** In the order of the items. */
	const customersOf = ({ json }: NodeOutcome) => {
		const { transactions } = shop.account.sandbox;
		return json.map(({ hash }) => transactions.find((one) => one.hash === hash)?.customer?.name);
	};
	const posts = () => shop.account.sandbox.requests.filter(({ method }) => method === 'POST');

	test('a price that the catalog changes meanwhile leaves no list half charged', async () => {
		shop.account.fault('charge', { kind: 'delay', ms: 2_000 }, 'always');
		const running = chargeEach(8);
		while (posts().length < 4) await pause(5);
		shop.sells(199_000);
		await shop.run({ resource: 'product', operation: 'getAll' });

		expect((await running).status).toBe('success');
		expect(shop.charges).toBe(8);
	});

	test('four run concurrently, and claims add no time', async () => {
		shop.account.fault('charge', { kind: 'delay', ms: 500 }, 'always');
		const took = 500 + LATENCY_MS;
		const began = clock.elapsed();

		const run = await chargeEach(8);

		expect(run.status).toBe('success');
		expect(mostAtOnce(posts())).toBe(4);
		expect(clock.elapsed() - began).toBe((8 / 4) * took);
	});

	test('the output keeps the order of the items if a later charge is done first', async () => {
		shop.account.fault('charge', { kind: 'delay', ms: 200 }, 1);

		const run = await chargeEach(6);

		expect(customersOf(run)).toEqual(customers(6).map(({ n }) => `Customer ${n}`));
		expect(shop.charges).toBe(6);
	});

	describe('when a charge fails and the run stops', () => {
		test('no further charge is sent, and the error lists the charges that were made', async () => {
			shop.fault('refuse', 1);

			const run = await chargeEach(10);

			expect(run.status).toBe('error');
			expect(posts().length).toBeLessThanOrEqual(5);
			expect(shop.charges).toBe(posts().length - 1);
			expect(shop.hashes.filter((hash) => !errorOf(run).includes(hash))).toEqual([]);
			expect(errorOf(run)).not.toMatch(/may exist|may already/);
		});

		test('no further charge is sent while the keys of the failed charge are removed slowly', async () => {
			shop.fault('refuse');
			const clear = processedItems.clearAllProcessedItems.bind(processedItems);
			jest.spyOn(processedItems, 'clearAllProcessedItems').mockImplementation(async (...row) => {
				await pause(5_000);
				await clear(...row);
			});

			const run = await chargeEach(10);

			expect(run.status).toBe('error');
			expect(posts()).toHaveLength(4);
		});

		test('the error lists charges by run and item, even if they were made in another order', async () => {
			const documents = JSON.stringify(customers(2).map(({ document }) => document));
			const customerDocument = `={{ ${documents}[$itemIndex] }}`;
			// In the second run the first item is refused at first, and Retry On Fail makes it after the others.
			shop.fault('refuse', 2);
			const always = { kind: 'status', status: 422, after: 5, times: 'always' } as const;
			shop.account.fault('charge', { ...always });

			const { data } = await runWorkflow({
				credentials: shop.account.credentials,
				mode: 'trigger',
				startItems: [{}, {}],
				nodes: [
					{ name: 'Start', type: START_TYPE },
					{
						...RETRY_ON_FAIL,
						name: 'PIX',
						type: ACTION_TYPE,
						parameters: shop.parameters('={{ $runIndex + " " + $itemIndex }}', {
							customerDocument,
						}),
					},
					{ name: 'End', type: NO_OP_TYPE },
				],
				connections: connect({ Start: 'PIX', PIX: 'End', End: 'PIX' }),
			});

			const listed = [
				...String(data.PIX?.error?.description).matchAll(/((?:run 2, )?item \d) is/g),
			];
			expect(listed.map(([, place]) => place)).toEqual([
				...['item 0', 'item 1', 'run 2, item 0', 'run 2, item 1'],
			]);
			expect(shop.hashes).toHaveLength(4);
		});

		test('the error lists the charges that may exist', async () => {
			shop.account.fault('charge', { kind: 'resetAfterProcessing' }, 'always');

			const run = await chargeEach(10);

			const failed = Number(run.node?.error?.context?.itemIndex);
			const others = [0, 1, 2, 3].filter((item) => item !== failed);
			expect(shop.charges).toBe(4);
			expect(errorOf(run)).toContain(
				`These got no usable answer, so they may exist: ${others.map((item) => `item ${item}`).join('; ')}.`,
			);
		});

		test('the error of a refused charge lists another charge that may exist', async () => {
			shop.fault('refuse');
			shop.fault('loseAnswer', 1);

			const run = await chargeEach(2);

			expect(errorOf(run)).toContain('did not accept the request (422)');
			expect(errorOf(run)).toContain('may exist: item 1.');
		});

		test('the error is that of the first failed item, even if a later item failed earlier', async () => {
			shop.account.fault('charge', { kind: 'delayAfterProcessing', ms: 1_500 });
			shop.fault('refuse', 1);
			limit({ timeoutMs: 1_000 });

			const run = await chargeEach(2);

			expect(run.node?.error?.context?.itemIndex).toBe(0);
			expect(errorOf(run)).toContain('may already have been charged: ');
		});

		test('the error is that of the failed item, not of an item that the failure stopped', async () => {
			shop.fault('refuse', 1);
			const first = await chargeEach(2);
			const { baseUrl } = shop.account.sandbox;
			// A read retries after a fault of the platform. In the meantime item 2 is refused.
			const unwell = { kind: 'status', status: 503, headers: { 'Retry-After': '3' } } as const;
			shop.account.fault('read', unwell, 1);
			shop.account.fault('charge', { kind: 'delay', ms: 300 }, 1);
			shop.fault('refuse');

			const retry = await chargeEach(2, {
				retryOf: first.run?.data,
				credentials: shop.account.credentialsWith({
					baseUrl: baseUrl.replace('127.0.0.1', 'localhost'),
				}),
			});

			expect(errorOf(retry)).toContain('did not accept the request (422)');
		});

		test('a charge that waits for the rate limit is not sent', async () => {
			const headers = { 'Retry-After': '20' };
			shop.account.fault('charge', { kind: 'status', status: 429, headers });
			shop.fault('refuse');
			const began = clock.elapsed();

			const run = await chargeEach(2);

			expect(errorOf(run)).toContain('did not accept the request (422)');
			expect(posts()).toHaveLength(2);
			expect(clock.elapsed() - began).toBe(LATENCY_MS);
		});
	});

	test.each([1, 4])('after 429 (%i at once), every charge waits for Retry-After', async (times) => {
		const headers = { 'Retry-After': '1' };
		shop.account.fault('charge', { kind: 'status', status: 429, headers }, times);

		const run = await chargeEach(8);

		expect(run.status).toBe('success');
		expect(shop.charges).toBe(8);
		const refused = posts().find(({ status }) => status === 429);
		const refusedAt = (refused?.at ?? NaN) + (refused?.durationMs ?? 0);
		const later = posts().filter(({ at }) => at >= refusedAt);
		expect(later.length).toBeGreaterThan(3);
		expect(Math.min(...later.map(({ at }) => at))).toBeGreaterThanOrEqual(refusedAt + 990);
	});

	test('equal charges run one by one, so an unknown outcome blocks the next', async () => {
		shop.fault('loseAnswer', 1);

		const order = '={{ $json.n }}';
		const run = await shop.run(shop.parameters(order), { items: customers(4) });

		expect(run.status).toBe('error');
		expect(mostAtOnce(posts())).toBe(1);
		expect([posts().length, shop.charges]).toEqual([2, 2]);
	});

	test('two runs over the same customers in opposite order do not deadlock', async () => {
		const runs = await Promise.all([
			chargeEach(5),
			chargeEach(5, { items: customers(5).reverse() }),
		]);

		expect(runs.map(({ status }) => status)).toEqual(['success', 'success']);
		expect(shop.charges).toBe(10);
	});

	test('no abort signal has more listeners than Node.js allows', async () => {
		let most = 0;
		const { addEventListener: listen } = AbortSignal.prototype;
		jest.spyOn(AbortSignal.prototype, 'addEventListener').mockImplementation(function (
			this: AbortSignal,
			...args: Parameters<typeof listen>
		) {
			listen.apply(this, args);
			most = Math.max(most, getEventListeners(this, 'abort').length);
		});
		processedItems.latency = () => 30;

		const run = await chargeEach(10);

		processedItems.clear();
		expect(run.status).toBe('success');
		expect(most).toBeGreaterThan(0);
		expect(most).toBeLessThanOrEqual(defaultMaxListeners);
	});
});
