import { defaultMaxListeners, getEventListeners } from 'node:events';
import type { INodeParameters } from 'n8n-workflow';
import { mostAtOnce } from '../../../support/underWay';
import {
	ACTION_TYPE,
	connect,
	crashedData,
	NO_OP_TYPE,
	type NodeOutcome,
	NodeProcess,
	processedItems,
	runWorkflow,
	START_TYPE,
} from '../harness';
import { useAccount, useLimits } from '../support/account';
import { customers, errorOf, OWN_CUSTOMER, RETRY_ON_FAIL, useShop } from '../support/charging';

const LATENCY_MS = 60;

type Shop = ReturnType<typeof useShop>;

/** Charges the customer of each item. */
const chargeIn = (shop: Shop, options: INodeParameters = {}): INodeParameters =>
	shop.parameters(undefined, { ...OWN_CUSTOMER, options });
const postsIn = ({ sandbox }: Shop['account']) =>
	sandbox.requests.filter(({ method }) => method === 'POST');
const pause = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms));

afterEach(() => {
	jest.restoreAllMocks();
	processedItems.clear();
});

describe('Several charges at once', () => {
	const limit = useLimits();
	const shop = useShop({ latencyMs: LATENCY_MS });

	const charge = () => chargeIn(shop);
	/** In the order of the items. */
	const customersOf = ({ json }: NodeOutcome) => {
		const { transactions } = shop.account.sandbox;
		return json.map(({ hash }) => transactions.find((one) => one.hash === hash)?.customer?.name);
	};
	const posts = () => postsIn(shop.account);

	test('four at a time, whose claims take next to no time', async () => {
		shop.account.fault('charge', { kind: 'delay', ms: 500 }, 'always');
		const took = 500 + LATENCY_MS;
		const began = Date.now();

		const run = await shop.run(charge(), { items: customers(40) });

		expect(run.status).toBe('success');
		expect(mostAtOnce(posts())).toBe(4);
		expect(Date.now() - began).toBeLessThan((40 / 4) * took + 500);
	});

	test('the order of the items is kept, whichever is done first', async () => {
		shop.account.fault('charge', { kind: 'delay', ms: 200 }, 1);

		const run = await shop.run(charge(), { items: customers(6) });

		expect(customersOf(run)).toEqual(customers(6).map(({ n }) => `Customer ${n}`));
		expect(shop.charges).toBe(6);
	});

	describe('when one fails and the run stops', () => {
		test('nothing new is sent, and the error lists what those under way have made', async () => {
			shop.fault('refuse', 1);

			const run = await shop.run(charge(), { items: customers(20) });

			expect(run.status).toBe('error');
			expect(posts().length).toBeLessThanOrEqual(5);
			expect(shop.charges).toBe(posts().length - 1);
			expect(shop.hashes.filter((hash) => !errorOf(run).includes(hash))).toEqual([]);
			expect(errorOf(run)).not.toMatch(/may exist|may already/);
		});

		test('the error lists them by run and item, also if an item was made last', async () => {
			const documents = JSON.stringify(customers(3).map(({ document }) => document));
			const customerDocument = `={{ ${documents}[$itemIndex] }}`;
			// In the second run the first item is refused, beside the others, and made by Retry On Fail.
			shop.fault('refuse', 3);
			const always = { kind: 'status', status: 422, after: 7, times: 'always' } as const;
			shop.account.fault('charge', { ...always });

			const { data } = await runWorkflow({
				credentials: shop.account.credentials,
				mode: 'trigger',
				startItems: [{}, {}, {}],
				nodes: [
					{ name: 'Start', type: START_TYPE },
					{
						...RETRY_ON_FAIL,
						name: 'PIX',
						type: ACTION_TYPE,
						parameters: shop.parameters(undefined, { customerDocument }),
					},
					{ name: 'End', type: NO_OP_TYPE },
				],
				connections: connect({ Start: 'PIX', PIX: 'End', End: 'PIX' }),
			});

			const listed = [
				...String(data.PIX?.error?.description).matchAll(/((?:run 2, )?item \d) is/g),
			];
			expect(listed.map(([, place]) => place)).toEqual([
				...['item 1', 'item 2', 'item 3', 'run 2, item 1', 'run 2, item 2', 'run 2, item 3'],
			]);
			expect(shop.hashes).toHaveLength(6);
		});

		test('the error names those that may exist as well', async () => {
			shop.account.fault('charge', { kind: 'resetAfterProcessing' }, 'always');

			const run = await shop.run(charge(), { items: customers(20) });

			const failed = Number(run.node?.error?.context?.itemIndex) + 1;
			const others = [1, 2, 3, 4].filter((item) => item !== failed);
			expect(shop.charges).toBe(4);
			expect(errorOf(run)).toContain(
				`No usable answer came for these, so they may exist: ${others.map((item) => `item ${item}`).join('; ')}.`,
			);
		});

		test('the error is that of the first item, also if a later one failed before it', async () => {
			shop.account.fault('charge', { kind: 'delayAfterProcessing', ms: 1_500 });
			shop.fault('refuse', 1);

			limit({ timeoutMs: 1_000 });

			const run = await shop.run(charge(), { items: customers(2) });

			expect(run.node?.error?.context?.itemIndex).toBe(0);
			expect(errorOf(run)).toContain('may already have been charged: ');
		});

		test('one that waits for the rate limit is not sent', async () => {
			const headers = { 'Retry-After': '20' };
			shop.account.fault('charge', { kind: 'status', status: 429, headers });
			shop.fault('refuse');
			const began = Date.now();

			const run = await shop.run(charge(), { items: customers(2) });

			expect(errorOf(run)).toContain('did not accept the request (422)');
			expect(posts()).toHaveLength(2);
			expect(Date.now() - began).toBeLessThan(10_000);
		});
	});

	test.each([1, 4])('a 429 slows all of them: %i at once', async (times) => {
		const headers = { 'Retry-After': '1' };
		shop.account.fault('charge', { kind: 'status', status: 429, headers }, times);

		const run = await shop.run(charge(), { items: customers(40) });

		expect(run.status).toBe('success');
		expect(shop.charges).toBe(40);
		const refused = posts().find(({ status }) => status === 429);
		if (!refused) throw new Error('Nothing was refused.');
		const refusedAt = refused.at + (refused.durationMs ?? 0);
		const later = posts().filter(({ at }) => at >= refusedAt);
		expect(later.length).toBeGreaterThan(30);
		expect(Math.min(...later.map(({ at }) => at))).toBeGreaterThanOrEqual(refusedAt + 990);
	});

	test('equal charges follow each other, so that the doubt of one holds for the next', async () => {
		shop.fault('lose', 1);
		const same = shop.parameters();

		const run = await shop.run(same, { items: customers(4) });

		expect(run.status).toBe('error');
		expect(mostAtOnce(posts())).toBe(1);
		expect([posts().length, shop.charges]).toEqual([2, 2]);
	});

	test('one order reference for two customers charges one of them', async () => {
		const run = await shop.run(shop.parameters('order 1', OWN_CUSTOMER), {
			items: customers(4),
			settings: { onError: 'continueRegularOutput' },
		});

		expect(shop.charges).toBe(1);
		expect(run.json.filter((json) => 'error' in json)).toHaveLength(3);
	});
});

describe('What is refused before it is sent', () => {
	const shop = useShop({ latencyMs: LATENCY_MS });
	const charge = () => chargeIn(shop);
	/** Leaves the charge of one item in doubt; the others of the run are made. */
	const doubtful = async (place: number): Promise<void> => {
		shop.fault('lose', place);
		const settings = { onError: 'continueRegularOutput' } as const;
		await shop.run(charge(), { items: customers(6), settings });
		expect(shop.charges).toBe(6);
	};

	describe.each([
		['in this process', () => ({})],
		['after a restart', () => ({ process: NodeProcess.fresh() })],
	])('%s', (_, options) => {
		test.each([0, 2, 5])(
			'item %i in doubt: none behind it is sent, as if they were sent one by one, however often',
			async (place) => {
				await doubtful(place);
				const again = options();

				for (let tries = 1; tries <= 3; tries++) {
					const run = await shop.run(charge(), { items: customers(6), ...again });

					expect(errorOf(run)).toContain(
						`The customer of item ${place + 1} may already have been charged, so nothing was sent`,
					);
					expect(shop.posts).toBe(6 + tries * place);
				}
			},
		);

		test('under On Error: Continue the others are sent', async () => {
			await doubtful(2);

			const run = await shop.run(charge(), {
				items: customers(6),
				settings: { onError: 'continueRegularOutput' },
				...options(),
			});

			expect(run.json.filter((json) => 'error' in json)).toHaveLength(1);
			expect(shop.posts).toBe(6 + 5);
		});
	});

	test('with a slow database, too', async () => {
		await doubtful(0);
		processedItems.latency = () => 20;

		await shop.run(charge(), { items: customers(6), process: NodeProcess.fresh() });

		expect(shop.posts).toBe(6);
	});

	test('two runs over the same customers in opposite order both end', async () => {
		const runs = await Promise.all([
			shop.run(charge(), { items: customers(8) }),
			shop.run(charge(), { items: customers(8).reverse() }),
		]);

		expect(runs.map(({ status }) => status)).toEqual(['success', 'success']);
		expect(shop.charges).toBe(16);
	});
});

describe('Several offers at once', () => {
	const account = useAccount({ latencyMs: LATENCY_MS });
	const offer = () => ({
		resource: 'offer',
		operation: 'create',
		productHash: { __rl: true, mode: 'hash', value: account.sandbox.products[0]?.hash ?? '' },
		title: '={{ "Offer " + $json.n }}',
		price: '19,90',
	});

	test('none is sent behind one that is in doubt', async () => {
		const { run, fail } = account;
		const options = { mode: 'trigger', workflowId: 'offers' } as const;
		account.fault('offer', { kind: 'resetAfterProcessing' });
		await run(offer(), {
			...options,
			items: customers(3),
			settings: { onError: 'continueRegularOutput' },
		});

		const { message } = await fail(offer(), { ...options, items: customers(3) });

		expect(message).toContain('The offer may already exist');
		expect(postsIn(account)).toHaveLength(3);
	});

	test('four unless told otherwise, in their order', async () => {
		const { json } = await account.run(offer(), { items: customers(9) });

		expect(json.map(({ title }) => title)).toEqual(customers(9).map(({ n }) => `Offer ${n}`));
		expect([3, 4]).toContain(mostAtOnce(postsIn(account)));
	});
});

/** The node was under way. */
const CRASHED = [
	{ name: 'Start', finished: true },
	{ name: 'Digital Sales', finished: false },
];

describe('Attacks on several charges at once', () => {
	const shop = useShop({ latencyMs: 20 });

	const charge = (options: INodeParameters = {}) => chargeIn(shop, options);

	test('a Retry with another token that stops blames the item that failed, not one it stopped', async () => {
		shop.fault('refuse', 1);
		const first = await shop.run(charge(), { items: customers(2) });
		const { digitalSalesApi: credential } = shop.account.credentials;
		const baseUrl = String(credential?.baseUrl).replace('127.0.0.1', 'localhost');
		// The service is unwell for a moment, which a read waits out; meanwhile item 2 is refused.
		shop.account.fault('read', { kind: 'status', status: 503, headers: { 'Retry-After': '3' } }, 1);
		shop.account.fault('charge', { kind: 'delay', ms: 300 }, 1);
		shop.fault('refuse');

		const retry = await shop.retry(charge(), first, {
			credentials: shop.account.credentialsWith({ baseUrl }),
		});

		expect(errorOf(retry)).toContain('did not accept the request (422)');
	});

	test('a slow database: nothing is sent after the answer that stops the run', async () => {
		processedItems.latency = () => 30;
		shop.fault('refuse', 0);

		const run = await shop.run(charge(), { items: customers(40) });

		expect(run.status).toBe('error');
		const posts = postsIn(shop.account);
		const refused = posts.find(({ status }) => status === 422);
		const answeredAt = (refused?.at ?? 0) + (refused?.durationMs ?? 0);
		const late = posts.filter(({ at }) => at > answeredAt + 10);
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
		processedItems.latency = () => 30;

		const run = await shop.run(charge(), { items: customers(20) });

		expect(run.status).toBe('success');
		expect(most).toBeGreaterThan(0);
		expect(most).toBeLessThanOrEqual(defaultMaxListeners);
	});

	test('the Retry of a crash never says that nothing was created', async () => {
		shop.fault('refuse');
		shop.account.fault('charge', { kind: 'delay', ms: 150 }, 1);
		const slow = { kind: 'delayAfterProcessing', ms: 600 } as const;
		shop.account.fault('charge', { ...slow, after: 1 }, 3);
		const running = shop.run(charge(), { items: customers(4), process: NodeProcess.fresh() });
		while (shop.charges < 3) await pause(5);
		await pause(200);
		processedItems.failAfter = 0;
		const { begun } = await running;
		processedItems.clear({ keepRows: true });
		const retryOf = crashedData(begun, CRASHED);
		shop.fault('refuse');
		processedItems.latency = () => 30;

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
		shop.account.fault('charge', { kind: 'resetAfterProcessing' }, 6);
		const settings = { onError: 'continueRegularOutput' } as const;
		const items = customers(6);
		await shop.run(charge(), { items, settings });
		const refused = await shop.run(charge(), { items, settings });
		const codes = refused.json.map((json) => /Again to ([\w-]+)/.exec(JSON.stringify(json))?.[1]);
		expect(new Set(codes).size).toBe(6);
		// All six are pasted; three are lost again.
		const repeatCode = codes.join(', ');
		shop.account.fault('charge', { kind: 'resetAfterProcessing' }, 3);
		const twice = [...items, ...items];
		await shop.run(charge({ repeatCode }), { items: twice, settings });
		const lost = shop.charges;
		await shop.run(charge({ repeatCode }), { items, settings });

		// The equal items of the three that were answered are charges of their own.
		expect(lost).toBe(6 + 6 + 3);
		expect(shop.charges).toBe(lost + 3);
	});
});
