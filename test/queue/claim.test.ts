import { addressOf, publish, trigger } from '../helpers/e2e/workflows';
import { chargesAt } from '../helpers/charge';
import { postJson } from '../helpers/http';
import { until } from '../helpers/until';
import { useCluster } from '../helpers/queue/cluster';
import { isOnSeveral, isOther, ordersOf, type Sale, Shop } from '../helpers/queue/shop';

const WITHIN_MS = 15 * 60_000;
const WORKERS = 3;
/** The number of orders and Retries that must reach several workers before a test ends. */
const SPREAD = 300;
const SALES = 100;
/** As many at once as the workers can run, with one of each on each worker. */
const AT_ONCE = 4;
const OTHERS = 2;
/** The Retry-After of a 503. */
const RESENT_AFTER_MS = 5_000;

const stage = useCluster({ name: 'queue-claim', workers: WORKERS, webhooks: 2 });
beforeEach(() => {
	stage.cluster.sandbox.reset();
	stage.downstream.clear();
});

test(
	'a sale that two webhook processes are notified of starts the workflow once',
	async () => {
		const { cluster, downstream } = stage;
		const { id } = await publish(cluster, 'sales', [trigger('sales'), downstream.node]);
		const urls = cluster.atEach(addressOf(cluster, 'sales'));
		const hashes = await chargesAt(cluster.sandbox, SALES);
		for (const hash of hashes) await cluster.sandbox.setStatus(hash, 'paid');
		const tell = async (hash: string, url: string): Promise<unknown> =>
			await until(
				'the notice is taken',
				async () => {
					const { status } = await postJson(url, { hash, payment_status: 'paid' });
					expect([200, 503]).toContain(status);
					return status === 200;
				},
				{ withinMs: WITHIN_MS, everyMs: RESENT_AFTER_MS },
			);
		for (let begin = 0; begin < SALES; begin += AT_ONCE) {
			const some = hashes.slice(begin, begin + AT_ONCE);
			await Promise.all(some.flatMap((hash) => urls.map((url) => tell(hash, url))));
		}
		await downstream.reaches(SALES);
		await cluster.rest.settled();
		const all = await cluster.rest.everyExecution();
		const started = all.filter(({ summary }) => summary.workflowId === id);
		const failed = started.filter(({ summary }) => summary.status !== 'success');
		const reported = downstream.reports.map(({ hash }) => hash);
		expect(reported.sort()).toEqual([...hashes].sort());
		expect(failed.map(({ error }) => error)).toEqual([]);
	},
	WITHIN_MS,
);

const onEach = <T>(one: T): T[] => Array.from({ length: WORKERS }, () => one);

/**
 * Requests orders, several at once and each on each worker, together with other customers, until enough orders reached
 * several workers. An execution that continues has the transaction of its order.
 */
async function expectOnce(
	shop: Shop,
	ask: (orders: string[], others: string[]) => Promise<Sale[]>,
): Promise<void> {
	const orders: string[] = [];
	const others: string[] = [];
	const sales: Sale[] = [];
	const isSpread = (order: string): boolean =>
		isOnSeveral(sales.filter((sale) => sale.orders.includes(order)));
	while (orders.filter(isSpread).length < SPREAD) {
		const [some, beside] = [ordersOf(AT_ONCE), ordersOf(OTHERS)];
		sales.push(...(await ask(some, beside)));
		orders.push(...some);
		others.push(...beside);
	}
	const charges = shop.chargesOf(orders);
	const uncharged = charges.filter((count) => count === 0).length;
	const twice = charges.filter((count) => count > 1).length;
	expect(sales.filter(isOther)).toEqual([]);
	const wentOn = sales.filter(({ error }) => error === undefined);
	expect(wentOn.map(({ hashes }) => shop.ordersOf(hashes))).toEqual(
		wentOn.map((sale) => sale.orders),
	);
	expect(twice).toBe(0);
	expect(shop.chargesOf(others)).toEqual(others.map(() => 1));
	// Two executions may refuse each other, but rarely.
	expect(uncharged).toBeLessThanOrEqual(orders.length / 20);
}

test(
	'an order that is requested on each worker is charged once',
	async () => {
		const shop = await Shop.open(stage.cluster, stage.downstream, 'orders');

		await expectOnce(shop, async (orders, others) => {
			const all = [...orders.flatMap(onEach), ...others];
			return await shop.ask(...all.map((order) => [order]));
		});
	},
	WITHIN_MS,
);

test(
	'an execution that is retried on each worker makes its charge once',
	async () => {
		const { cluster, downstream } = stage;
		const shop = await Shop.open(cluster, downstream, 'retries', { referenced: false });

		await expectOnce(shop, async (orders, others) => {
			const endpoint = 'POST /transactions';
			cluster.sandbox.addFault({ endpoint, kind: 'status', status: 422, times: AT_ONCE });
			const failed = await shop.ask(...orders.map((order) => [order]));
			const ids = failed.flatMap(({ executionId }) => onEach(executionId));
			await shop.send(...others.map((order) => [order]));
			shop.sendRetries(ids);
			return await shop.ended(ids.length + others.length);
		});
	},
	WITHIN_MS,
);
