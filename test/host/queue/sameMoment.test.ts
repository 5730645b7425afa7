import { addressOf, Downstream, publish, trigger } from '../e2e/stage/workflows';
import { chargesAt } from '../../support/charge';
import { Figures } from '../../support/figures';
import { postJson } from '../../support/http';
import { until } from '../../support/until';
import { type Cluster, startCluster } from './stage/cluster';
import { isOnSeveral, isOther, ordersOf, outcomeOf, type Sale, Shop } from './stage/shop';

const figures = new Figures('Queue mode: the same at the same moment', 'npm run e2e -- queue');
const START_MS = 15 * 60_000;
const WITHIN_MS = 15 * 60_000;
/** How many orders and Retries come to several workers before a test ends, how many customers buy twice, and how many
 * sales are told. */
const PLANS = [
	{ workers: 2, orders: 300, retries: 300, customers: 100, sales: 100 },
	{ workers: 3, orders: 100, retries: 100, customers: 50, sales: 50 },
];
/** As many at once as the workers run at a time, with two of each. */
const AT_ONCE = 4;
const OTHERS = 2;
const CROWD = 10;
/** So many sales are told so often at once, one after the other; each other one is told twice. */
const FLOODED = 5;
const FLOOD = 200;
/** What the answer 503 asks for (Retry-After). */
const RESENT_AFTER_MS = 5_000;

/** What a test looks for. */
interface Verdict {
	/** Neither charged nor in doubt. */
	failed: Sale[];
	twice: number;
	/** Each of two may be refused because of the other, but hardly ever. */
	mostAreCharged: boolean;
}

const RIGHT: Verdict = { failed: [], twice: 0, mostAreCharged: true };

/** What became of all that was asked for. */
interface Outcome {
	/** Those that were asked for by one worker alone, or by several. */
	orders: string[];
	spread: string[];
	sales: Sale[];
	others: Sale[];
}

describe.each(PLANS)('the same at the same moment, over $workers workers', (plan) => {
	const { workers } = plan;
	let cluster: Cluster;
	let downstream: Downstream;

	beforeAll(async () => {
		cluster = await startCluster({ name: `queue-moment-${workers}`, workers, webhooks: 2 });
		downstream = await Downstream.open();
	}, START_MS);
	beforeEach(() => {
		cluster.sandbox.reset();
		downstream.clear();
	});
	afterAll(async () => {
		await cluster?.close();
		await downstream?.close();
	});

	test(
		'a sale that is told to two webhook processes starts the workflow once',
		async () => {
			const { id } = await publish(cluster, 'sales', [trigger('sales'), downstream.node]);
			const urls = cluster.atEach(addressOf(cluster, 'sales'));
			const hashes = await chargesAt(cluster.sandbox, plan.sales);
			for (const hash of hashes) await cluster.sandbox.setStatus(hash, 'paid');
			let resent = 0;
			const tell = async (hash: string, nth: number): Promise<unknown> =>
				await until(
					'the notice is taken',
					async () => {
						const notice = { hash, payment_status: 'paid' };
						const { status } = await postJson(urls[nth % urls.length] ?? '', notice);
						if (status === 503) resent += 1;
						expect([200, 503]).toContain(status);
						return status === 200;
					},
					{ withinMs: WITHIN_MS, everyMs: RESENT_AFTER_MS },
				);
			const tellAll = async (some: string[], times: number): Promise<void> => {
				const nths = Array.from({ length: times }, (_, nth) => nth);
				await Promise.all(some.flatMap((hash) => nths.map((nth) => tell(hash, nth))));
			};
			for (const hash of hashes.slice(0, FLOODED)) await tellAll([hash], FLOOD);
			for (let begin = FLOODED; begin < plan.sales; begin += AT_ONCE) {
				await tellAll(hashes.slice(begin, begin + AT_ONCE), 2);
			}
			await downstream.reaches(plan.sales);
			await cluster.rest.settled();
			const all = await cluster.rest.everyExecution();
			const started = all.filter(({ summary }) => summary.workflowId === id);
			const failed = started.filter(({ summary }) => summary.status !== 'success');
			const withItem = started.filter((execution) => execution.items('Trigger').length > 0);
			figures.add(
				`a paid sale told to two webhook processes, on ${workers} workers`,
				plan.sales,
				`${started.length} executions: ${withItem.length} with the sale, the others without an item; ${resent} notices sent again after 503`,
			);
			const reported = downstream.reports.map(({ hash }) => hash);
			expect(reported.sort()).toEqual([...hashes].sort());
			expect(failed.map(({ error }) => error)).toEqual([]);
		},
		WITHIN_MS,
	);

	/** Asks for orders, so many at once and each on each worker, until enough came to several. */
	const askFor = async (
		goal: number,
		ask: (orders: string[], others: string[]) => Promise<[sales: Sale[], others: Sale[]]>,
	): Promise<Outcome> => {
		const all: Outcome = { orders: [], spread: [], sales: [], others: [] };
		while (all.spread.length < goal) {
			const orders = ordersOf(AT_ONCE);
			const [sales, others] = await ask(orders, ordersOf(OTHERS));
			const isSpread = (order: string): boolean =>
				isOnSeveral(sales.filter((sale) => sale.orders.includes(order)));
			all.orders.push(...orders);
			all.spread.push(...orders.filter(isSpread));
			all.sales.push(...sales);
			all.others.push(...others);
		}
		return all;
	};
	const onEach = (order: string): string[][] => Array.from({ length: workers }, () => [order]);
	const enter = (what: string, shop: Shop, all: Outcome): Verdict => {
		const { orders, spread, sales, others } = all;
		const charges = shop.chargesOf(orders);
		const bystanders = shop.chargesOf(others.flatMap((sale) => sale.orders));
		const uncharged = charges.filter((count) => count === 0).length;
		const twice = [...charges, ...bystanders].filter((count) => count > 1).length;
		figures.add(
			`${what}, on ${workers} workers`,
			orders.length,
			`${spread.length} came to several workers; ${outcomeOf(sales)}; ${twice} charged twice, ${uncharged} not charged`,
		);
		const failed = [...sales, ...others].filter(isOther);
		return { failed, twice, mostAreCharged: uncharged <= orders.length / 20 };
	};

	test(
		'an order that is asked for on each worker is charged once',
		async () => {
			const shop = await Shop.open(cluster, downstream, 'orders');
			const outcome = await askFor(plan.orders, async (orders, others) => {
				const sales = await shop.ask(...orders.flatMap(onEach), ...others.map((one) => [one]));
				const isOf = (names: string[]) => (sale: Sale) => names.includes(sale.orders[0] ?? '');
				return [sales.filter(isOf(orders)), sales.filter(isOf(others))];
			});

			expect(enter('the same order', shop, outcome)).toEqual(RIGHT);
		},
		WITHIN_MS,
	);

	test(
		'an execution that is retried on each worker charges once',
		async () => {
			const shop = await Shop.open(cluster, downstream, 'retries', { referenced: false });
			const outcome = await askFor(plan.retries, async (orders, others) => {
				const endpoint = 'POST /transactions';
				cluster.sandbox.addFault({ endpoint, kind: 'status', status: 422, times: AT_ONCE });
				const failed = await shop.ask(...orders.map((order) => [order]));
				const ids = failed.flatMap(({ executionId }) => onEach(executionId).flat());
				await shop.send(...others.map((order) => [order]));
				const sales = await Promise.all(ids.map(async (id) => await shop.retry(id, false)));
				return [sales, await shop.ended(others.length)];
			});

			const what = "n8n's Retry of the same execution";
			expect(enter(what, shop, outcome)).toEqual(RIGHT);
		},
		WITHIN_MS,
	);

	test(
		'customers who are charged at the same moment buy the same again later',
		async () => {
			const shop = await Shop.open(cluster, downstream, 'again', { referenced: false });
			const orders = ordersOf(plan.customers);
			const all: Sale[][] = [[], []];
			for (const sales of all) {
				for (let begin = 0; begin < orders.length; begin += CROWD) {
					const some = orders.slice(begin, begin + CROWD);
					sales.push(...(await shop.ask(...some.map((order) => [order]))));
				}
			}
			const [first = []] = all;
			figures.add(
				`${CROWD} customers at the same moment, on ${workers} workers`,
				orders.length,
				outcomeOf(first),
			);
			const charged = all.flat().filter(({ error }) => error === undefined);
			expect(all.flat().filter(isOther)).toEqual([]);
			expect(cluster.sandbox.charges()).toBe(charged.length);
		},
		WITHIN_MS,
	);
});

afterAll(() => figures.show());
