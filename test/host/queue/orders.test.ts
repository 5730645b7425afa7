import { setTimeout as pause } from 'node:timers/promises';
import { Downstream } from '../e2e/stage/workflows';
import { Figures } from '../../support/figures';
import { Cluster } from './stage/cluster';
import { IN_DOUBT, isOther, ordersOf, outcomeOf, type Sale, Shop } from './stage/shop';

const figures = new Figures('Queue mode: charges, asked for again', 'npm run e2e -- queue');
const START_MS = 15 * 60_000;
const ORDERS = 10;
const REPEATS = 4;
const WORKERS = 2;
const CROWD = 90;
const RETRIES = 4;
const FAILED = 5;
const LATER_MS = 2_000;

describe('a charge that is asked for again, over several processes', () => {
	let cluster: Cluster;
	let downstream: Downstream;

	beforeAll(async () => {
		cluster = await Cluster.open({ name: 'queue-orders', workers: WORKERS });
		downstream = await Downstream.open();
	}, START_MS);
	beforeEach(() => {
		cluster.sandbox.reset();
		downstream.clear();
	});
	afterAll(async () => {
		await cluster?.close();
		await downstream?.close();
		figures.show();
	});

	const open = async (name: string, options?: Parameters<typeof Shop.open>[3]): Promise<Shop> =>
		await Shop.open(cluster, downstream, name, options);

	test('one after the other: one charge for each order, whichever worker is asked', async () => {
		const shop = await open('sequence');
		const orders = ordersOf(ORDERS);
		const repeats: Sale[] = [];
		const workers = new Set<string | undefined>();
		for (const order of orders) {
			const [first] = await shop.ask([order]);
			for (let nth = 1; nth < REPEATS; nth++) {
				const [repeat] = await shop.ask([order]);
				if (!first || !repeat) throw new Error('Nothing was asked for.');
				repeats.push(repeat);
				workers.add(repeat.worker);
				expect(repeat.hashes).toEqual(repeat.error === undefined ? first.hashes : []);
				expect(repeat.error ?? 'may already have been charged').toMatch(IN_DOUBT);
			}
		}

		expect(shop.chargesOf(orders)).toEqual(orders.map(() => 1));
		expect(cluster.sandbox.charges()).toBe(ORDERS);
		expect(workers.size).toBe(WORKERS);
		figures.add(
			`${ORDERS} orders, each asked for ${REPEATS} times one after the other, on two workers`,
			ORDERS * REPEATS,
			`${cluster.sandbox.charges()} charges, one each; of the repeats ${outcomeOf(repeats)}`,
		);
	});

	test('many customers at the same moment, each asked for again later', async () => {
		const shop = await open('crowd');
		const orders = ordersOf(CROWD);
		const first = await shop.ask(...orders.map((order) => [order]));
		await pause(LATER_MS);
		const again = await askAgain(shop, orders);

		expect(shop.chargesOf(orders)).toEqual(orders.map(() => 1));
		expect([...first, ...again].filter(isOther)).toEqual([]);
		figures.add('orders of as many customers, all at the same moment', CROWD, outcomeOf(first));
		figures.add(
			'each of them asked for again later, one after the other',
			CROWD,
			`${outcomeOf(again)}; nobody charged once more`,
		);
	}, 300_000);

	test("n8n's Retry of a failed execution, on whichever worker, charges nobody twice", async () => {
		const shop = await open('retried', { referenced: false });
		const retries: Sale[] = [];
		let customers: string[] = [];
		const workers = new Set<string | undefined>();
		for (let round = 0; round < FAILED; round++) {
			const orders = ordersOf(3);
			const original = await failAtSecond(shop, orders);
			for (let nth = 0; nth < RETRIES; nth++) {
				const retry = await shop.retry(original.executionId, nth % 2 === 1);
				retries.push(retry);
				workers.add(retry.worker);
			}
			expect(shop.chargesOf(orders)).toEqual([1, 1, 1]);
			customers = [...customers, ...orders];
		}

		expect(shop.chargesOf(customers)).toEqual(customers.map(() => 1));
		expect(workers.size).toBe(WORKERS);
		figures.add(
			`failed at its second customer of three, retried ${RETRIES} times one after the other`,
			FAILED * RETRIES,
			`${cluster.sandbox.charges()} charges, one for each of ${customers.length} customers; of the Retries ${outcomeOf(retries)}`,
		);
	});

	test('a worker that is killed while it charges: nobody else charges that customer', async () => {
		const shop = await open('slow');
		const [order = '', other = ''] = ordersOf(2);
		cluster.sandbox.addFault({
			endpoint: 'POST /transactions',
			kind: 'delayAfterProcessing',
			ms: 20_000,
		});
		await shop.send([order]);
		while (cluster.sandbox.charges() === 0) await pause(50);
		const [executionId = ''] = await shop.unseen();
		const killed = await cluster.workerOf(executionId);
		const worker = cluster.workers.find(({ name }) => name === killed);
		await worker?.kill();

		const [again] = await shop.ask([order]);
		const [next] = await shop.ask([other]);
		const status = await shop.status(executionId);
		const requests = cluster.sandbox.requests.length;
		const retried = await shop.retry(executionId, false);
		await worker?.start();
		await pause(5_000);

		expect(again?.worker).not.toBe(killed);
		expect(again?.error).toMatch(IN_DOUBT);
		expect(next).toMatchObject({ error: undefined, orders: [other] });
		expect(status).toBe('error');
		expect(retried.hashes).toEqual([]);
		expect(cluster.sandbox.requests).toHaveLength(requests);
		expect(shop.chargesOf([order, other])).toEqual([1, 1]);
		expect(downstream.reports).toHaveLength(1);
		figures.add(
			'a worker killed while it charges',
			1,
			'1 charge; the execution ends as an error and is not run again',
		);
		figures.add(
			'the same order asked for again, on the other worker',
			1,
			'refused as in doubt; another customer is charged at once',
		);
		figures.add(
			"n8n's Retry of the execution that the kill ended",
			1,
			'n8n has kept nothing of it to run again: nothing is sent',
		);
	}, 400_000);

	/** Charges the first of three orders; the service refuses the second. */
	async function failAtSecond(shop: Shop, orders: string[]): Promise<Sale> {
		cluster.sandbox.addFault({
			endpoint: 'POST /transactions',
			kind: 'status',
			status: 422,
			after: 1,
		});
		const [original] = await shop.ask(orders);
		if (original?.error === undefined) throw new Error('It has not failed.');
		return original;
	}
});

async function askAgain(shop: Shop, asked: string[]): Promise<Sale[]> {
	const sales: Sale[] = [];
	for (const order of asked) sales.push(...(await shop.ask([order])));
	return sales;
}
