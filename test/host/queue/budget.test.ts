import { LIST, publish, webStart } from '../e2e/stage/workflows';
import { sendRequest } from '../../support/http';
import { until } from '../../support/until';
import type { Execution } from '../n8n/execution';
import { Figures } from '../../support/figures';
import { type Cluster, startCluster } from './stage/cluster';

const figures = new Figures('Queue mode: the budget of an account', 'npm run e2e -- queue');
const START_MS = 15 * 60_000;
const PRODUCTS = 1_000;
const LISTINGS = 4;
const PER_MINUTE = 20;
const WITHIN_MS = 480_000;

describe('the budget of an account, over several processes', () => {
	let cluster: Cluster;
	let workflowId: string;

	beforeAll(async () => {
		const sandbox = { products: PRODUCTS };
		cluster = await startCluster({ name: 'queue-budget', sandbox });
		workflowId = (await publish(cluster, 'list', [webStart('list'), LIST])).id;
	}, START_MS);
	afterAll(async () => {
		await cluster?.close();
		figures.show();
	});

	const allEnded = async (): Promise<Execution[]> => {
		const over = await until(
			'all end',
			async () => {
				const summaries = await cluster.rest.executions(workflowId);
				const ended = summaries.filter(({ stoppedAt }) => stoppedAt !== null);
				return ended.length === LISTINGS && ended;
			},
			{ withinMs: WITHIN_MS, everyMs: 1_000 },
		);
		return await Promise.all(over.map(async ({ id }) => await cluster.rest.execution(id)));
	};

	test('four listings at once on two workers all end complete', async () => {
		const startedAt = Date.now();
		await Promise.all(
			Array.from(
				{ length: LISTINGS },
				async () => await sendRequest(`${cluster.url}/webhook/list`, { body: '{}' }),
			),
		);

		const executions = await allEnded();

		const seconds = Math.round((Date.now() - startedAt) / 1_000);
		const requests = cluster.sandbox.requests.filter(({ path }) => path.endsWith('/products'));
		const limited = requests.filter(({ status }) => status === 429).length;
		const workers = await Promise.all(
			executions.map(async ({ summary }) => await cluster.workerOf(summary.id)),
		);
		for (const execution of executions) {
			expect(execution.error).toBeUndefined();
			expect(new Set(execution.items('List').map(({ json }) => json.product_hash)).size).toBe(
				PRODUCTS,
			);
		}
		expect(new Set(workers).size).toBe(2);
		// Each process may run once into what the other has spent, for each request under way.
		expect(limited).toBeLessThan(requests.length / 2);
		const shortest = (Math.ceil((requests.length - limited) / PER_MINUTE) - 1) * 60;
		figures.add(
			`${LISTINGS} listings of ${PRODUCTS.toLocaleString('en-US')} products at once, on two workers`,
			LISTINGS,
			`all complete in ${seconds} s (no way under ${shortest} s); ${requests.length} requests, ${limited} of them answered 429 and waited out`,
		);
	}, 540_000);
});
