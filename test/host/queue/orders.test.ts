import { setTimeout as pause } from 'node:timers/promises';
import { Downstream } from '../e2e/stage/workflows';
import { Figures } from '../../support/figures';
import { type Cluster, startCluster } from './stage/cluster';
import { IN_DOUBT, isOther, ordersOf, outcomeOf, type Sale, Shop } from './stage/shop';

const figures = new Figures('Queue mode: charges, asked for again', 'npm run e2e -- queue');
const START_MS = 15 * 60_000;
const WORKERS = 2;
const CROWD = 90;
const LATER_MS = 2_000;

describe('a charge that is asked for again, over several processes', () => {
	let cluster: Cluster;
	let downstream: Downstream;

	beforeAll(async () => {
		cluster = await startCluster({ name: 'queue-orders', workers: WORKERS });
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

	test('many customers at the same moment, each asked for again later, on whichever worker', async () => {
		const shop = await Shop.open(cluster, downstream, 'crowd');
		const orders = ordersOf(CROWD);
		const first = await shop.ask(...orders.map((order) => [order]));
		await pause(LATER_MS);
		const again: Sale[] = [];
		for (const order of orders) again.push(...(await shop.ask([order])));

		expect(shop.chargesOf(orders)).toEqual(orders.map(() => 1));
		expect([...first, ...again].filter(isOther)).toEqual([]);
		expect(new Set(again.map(({ worker }) => worker)).size).toBe(WORKERS);
		const made = new Map(first.map((sale) => [sale.orders[0], sale.hashes]));
		for (const {
			orders: [order],
			hashes,
			error,
		} of again) {
			expect(hashes).toEqual(error === undefined ? made.get(order) : []);
		}
		figures.add('orders of as many customers, all at the same moment', CROWD, outcomeOf(first));
		figures.add(
			'each of them asked for again later, one after the other',
			CROWD,
			`${outcomeOf(again)}; nobody charged once more`,
		);
	}, 300_000);

	test('a worker that is killed while it charges: nobody else charges that customer', async () => {
		const shop = await Shop.open(cluster, downstream, 'slow');
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
});
