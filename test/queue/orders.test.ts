import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../helpers/until';
import { useCluster } from '../helpers/queue/cluster';
import { IN_DOUBT, ordersOf, Shop } from '../helpers/queue/shop';

const stage = useCluster({ name: 'queue-orders' });

test('no worker charges a customer again after a worker was killed while it charged', async () => {
	const { cluster, downstream } = stage;
	const shop = await Shop.open(cluster, downstream, 'slow');
	const [order = '', other = ''] = ordersOf(2);
	cluster.sandbox.addFault({
		endpoint: 'POST /transactions',
		kind: 'delayAfterProcessing',
		ms: 20_000,
	});
	await shop.send([order]);
	await until('the charge', () => cluster.sandbox.charges() > 0);
	const [charging] = await shop.unseen();
	const killed = await cluster.workerOf(charging?.id ?? '');
	const worker = cluster.workers.find(({ name }) => name === killed);
	await worker?.kill();

	const [again] = await shop.ask([order]);
	const [next] = await shop.ask([other]);
	const [lost] = await shop.ended(1);
	const requests = cluster.sandbox.requests.length;
	const retried = await shop.retry(charging?.id ?? '', false);
	await worker?.start();
	await pause(5_000);

	expect(again?.worker).not.toBe(killed);
	expect(again?.error).toMatch(IN_DOUBT);
	expect(next).toMatchObject({ error: undefined, orders: [other] });
	expect(lost).toMatchObject({ executionId: charging?.id, status: 'error' });
	// n8n has kept no data of the execution for a Retry.
	expect(retried.hashes).toEqual([]);
	expect(cluster.sandbox.requests).toHaveLength(requests);
	expect(shop.chargesOf([order, other])).toEqual([1, 1]);
	expect(downstream.reports).toHaveLength(1);
}, 400_000);
