import { setTimeout as pause } from 'node:timers/promises';
import {
	ADDRESS,
	addressOf,
	BY_HAND,
	cartOf,
	chainOf,
	createPix,
	Downstream,
	END,
	type NodeSketch,
	trigger,
	waitForPayment,
} from '../e2e/stage/workflows';
import { until } from '../../support/until';
import type { Execution } from '../n8n/execution';
import { type Check, NODES, runJourney } from '../n8n/journey';
import { publishJourney } from '../n8n/setUp';
import { Figures } from '../../support/figures';
import { type Cluster, startCluster } from './stage/cluster';
import { IN_DOUBT } from './stage/shop';

const figures = new Figures('Queue mode: the journey', 'npm run e2e -- queue');
const START_MS = 15 * 60_000;

let cluster: Cluster;
let downstream: Downstream;

beforeAll(async () => {
	const env = { OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'true' };
	cluster = await startCluster({ name: 'queue-journey', env });
	downstream = await Downstream.open();
}, START_MS);
afterAll(async () => {
	await cluster?.close();
	await downstream?.close();
	figures.show();
});

describe('from the catalog to a verified sale, over several processes', () => {
	let workflowId: string;

	test('workers list, make the offer, charge and have the verified sale; the webhook process takes the notice', async () => {
		const { rest, sandbox, url, credential } = cluster;
		const productHash = sandbox.products[0]?.hash ?? '';
		const journey = await publishJourney(rest, url, productHash, credential);
		workflowId = journey.workflow.id;
		const checks: Check[] = [];
		await runJourney({ sandbox, rest, journey }, (check) => checks.push(check));

		expect(checks.filter(({ passed }) => !passed)).toEqual([]);
		expect(journey.notificationUrl).toContain(cluster.webhooks[0]?.url);
		const executions = await rest.executions(workflowId);
		const [sold, charged] = await Promise.all(
			executions.map(async ({ id }) => await cluster.workerOf(id)),
		);
		expect([sold, charged]).toEqual([1, 2].map(() => expect.stringMatching(/^worker-/)));
		figures.add(
			'catalog, offer, charge (Notify: Automatic), payment, sale',
			1,
			`${charged} charged, webhook-1 took the notice, ${sold} ran the verified sale`,
		);
	});

	test('repeated to the webhook process after its restart, the notice gives no second sale', async () => {
		const before = (await cluster.rest.executions(workflowId)).map(({ id }) => id);
		const [webhook] = cluster.webhooks;
		await webhook?.stop();
		await webhook?.start();

		const delivery = await cluster.sandbox.notify(cluster.sandbox.transactions[0]?.hash ?? '');
		await pause(2_000);
		const summaries = await cluster.rest.executions(workflowId);
		const [repeat, ...others] = summaries.filter(({ id }) => !before.includes(id));
		const execution = await cluster.rest.ended(repeat?.id ?? '');

		expect(delivery.status).toBe(200);
		expect(others).toEqual([]);
		expect(execution.summary.status).toBe('success');
		expect(execution.items(NODES.trigger)).toEqual([]);
		expect(execution.items(NODES.sale)).toEqual([]);
		figures.add(
			'the notice again, after a restart of the webhook process',
			1,
			'answered 200; the execution ends in success without an item',
		);
	});
});

describe('manual runs that n8n gives to the workers', () => {
	beforeEach(() => cluster.sandbox.reset());

	const save = async (name: string, ...nodes: NodeSketch[]): Promise<string> => {
		const workflow = chainOf(name, cluster.credential, [BY_HAND, ...nodes]);
		return (await cluster.rest.createWorkflow(workflow)).id;
	};
	const run = async (workflowId: string): Promise<Execution> => {
		const execution = await cluster.rest.run(workflowId, BY_HAND.name);
		expect(await cluster.workerOf(execution.summary.id)).toMatch(/^worker-/);
		return execution;
	};

	test('a customer is charged once', async () => {
		const cart = cartOf(cluster.sandbox);
		const charge = createPix({ notify: 'none', cart, orderReference: 'by hand' });
		const workflowId = await save('charge', charge);

		const first = await run(workflowId);
		const repeats = [await run(workflowId), await run(workflowId)];

		const made = first.items('Charge')[0]?.json.hash;
		expect(first.error).toBeUndefined();
		for (const repeat of repeats) {
			expect(repeat.items('Charge')[0]?.json.hash ?? made).toBe(made);
			expect(repeat.error ?? 'may already have been charged').toMatch(IN_DOUBT);
		}
		expect(cluster.sandbox.charges()).toBe(1);
		figures.add('Create PIX with an Order Reference by hand, three times', 3, '1 charge');
	});

	test('the trigger of the workflow is found, and whether it listens', async () => {
		const charges = ['automatic', 'trigger'].map((notify) => ({
			...createPix({ notify, cart: cartOf(cluster.sandbox), orderReference: notify }),
			name: notify,
		}));
		const chains = [
			[BY_HAND, ADDRESS, ...charges],
			[trigger('by-hand-sale'), END],
		];
		const workflow = chainOf('found', cluster.credential, ...chains);
		const saved = await cluster.rest.createWorkflow(workflow);
		await cluster.rest.publish(saved);

		const execution = await run(saved.id);

		const url = addressOf(cluster, 'by-hand-sale');
		expect(execution.error).toBeUndefined();
		expect(execution.items('Address')).toMatchObject([{ json: { url, listening: 'yes' } }]);
		const made = cluster.sandbox.transactions.map(({ postback_url }) => postback_url);
		expect(made).toEqual([url, url]);
		figures.add('Get Address; Notify: Automatic and Trigger of This Workflow', 1, 'the URL');
	});

	test('it waits for a payment, and goes on when it is told', async () => {
		const customerDocument = '111.444.777-35';
		const charge = createPix({ cart: cartOf(cluster.sandbox), customerDocument });
		const workflowId = await save('wait', charge, waitForPayment(), downstream.node);

		const executionId = await cluster.rest.start(workflowId, BY_HAND.name);
		await until('it waits', async () => {
			const [newest] = await cluster.rest.executions(workflowId);
			return newest?.status === 'waiting';
		});
		const hash = cluster.sandbox.transactions[0]?.hash ?? '';
		const [notice] = await cluster.sandbox.pay(hash);
		const { json } = await downstream.reportOn(hash);

		expect(notice?.status).toBe(200);
		expect(json).toMatchObject({ payment_status: 'paid', timedOut: false });
		expect(await cluster.workerOf(executionId)).toMatch(/^worker-/);
		figures.add('Create PIX by hand, Wait for Payment, then a notice', 1, 'goes on as paid');
	});
});
