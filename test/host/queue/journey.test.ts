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
	LIST,
	type NodeSketch,
	TRIGGER,
	trigger,
	waitForPayment,
	webStart,
} from '../e2e/stage/workflows';
import { sendRequest } from '../../support/http';
import { until } from '../../support/until';
import type { Execution } from '../n8n/execution';
import { NODES } from '../n8n/journey';
import { journeyFile } from '../n8n/setUp';
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
	let charging: Execution;

	beforeAll(async () => {
		const [product] = cluster.sandbox.products;
		const workflow = await journeyFile(product?.hash ?? '', cluster.credential);
		// Started by a web call instead of a person.
		const nodes = workflow.nodes.map((node) => {
			if (node.name === NODES.start) return { ...node, ...webStart('start'), name: NODES.start };
			return node.type === TRIGGER ? { ...node, webhookId: 'queue' } : node;
		});
		const saved = await cluster.rest.createWorkflow({ ...workflow, nodes });
		await cluster.rest.publish(saved);
		workflowId = saved.id;
	});

	const executionWith = async (node: string): Promise<Execution> =>
		await until(`${node} runs`, async () => {
			for (const summary of await cluster.rest.executions(workflowId)) {
				const execution = await cluster.rest.ended(summary.id);
				if (execution.items(node).length > 0) return execution;
				if (execution.error !== undefined) throw new Error(execution.error);
			}
			return undefined;
		});
	const hash = (): string => String(charging.items(NODES.charge)[0]?.json.hash);

	test('a worker lists, makes the offer and charges; the charge reports to the webhook process', async () => {
		expect(await sendRequest(`${cluster.url}/webhook/start`)).toMatchObject({ status: 200 });

		charging = await executionWith(NODES.charge);

		const [charge] = cluster.sandbox.transactions;
		expect(charging.items(NODES.list)).toHaveLength(cluster.sandbox.products.length);
		expect(cluster.sandbox.charges()).toBe(1);
		expect(charge?.postback_url).toBe(addressOf(cluster, 'queue'));
		expect(await cluster.workerOf(charging.summary.id)).toMatch(/^worker-/);
	});

	test('the payment reaches the webhook process, and a worker has the verified sale', async () => {
		const [delivery] = await cluster.sandbox.pay(hash());

		const sale = await executionWith(NODES.sale);

		expect(delivery?.status).toBe(200);
		expect(sale.items(NODES.sale)).toMatchObject([
			{ json: { hash: hash(), payment_status: 'paid' } },
		]);
		expect(await cluster.workerOf(sale.summary.id)).toMatch(/^worker-/);
		figures.add(
			'catalog, offer, charge (Notify: Automatic), payment, sale',
			1,
			`${await cluster.workerOf(charging.summary.id)} charged, webhook-1 took the notice, ${await cluster.workerOf(sale.summary.id)} ran the verified sale`,
		);
	});

	test('repeated to the webhook process after its restart, the notice gives no second sale', async () => {
		const before = (await cluster.rest.executions(workflowId)).map(({ id }) => id);
		const [webhook] = cluster.webhooks;
		await webhook?.stop();
		await webhook?.start();

		const delivery = await cluster.sandbox.notify(hash());
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

	test('the catalog is listed', async () => {
		const execution = await run(await save('list', LIST));

		expect(execution.error).toBeUndefined();
		expect(execution.items('List')).toHaveLength(cluster.sandbox.products.length);
		figures.add('Product > Get Many by hand', 1, `all ${cluster.sandbox.products.length} products`);
	});

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
