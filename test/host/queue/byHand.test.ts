import {
	ACTION,
	cartOf,
	chainOf,
	createPix,
	Downstream,
	type NodeSketch,
	waitForPayment,
} from '../e2e/stage/workflows';
import type { Execution } from '../n8n/execution';
import { Figures } from '../../support/figures';
import { Cluster } from './stage/cluster';
import { IN_DOUBT } from './stage/shop';
import { until } from './stage/waits';

const figures = new Figures('Queue mode: manual runs on the workers', 'npm run e2e -- queue');
const START_MS = 15 * 60_000;
const BY_HAND: NodeSketch = { name: 'By hand', type: 'n8n-nodes-base.manualTrigger' };

describe('manual runs that n8n gives to the workers', () => {
	let cluster: Cluster;
	let downstream: Downstream;

	beforeAll(async () => {
		const env = { OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'true' };
		cluster = await Cluster.open({ name: 'queue-by-hand', env });
		downstream = await Downstream.open();
	}, START_MS);
	afterAll(async () => {
		await cluster?.close();
		await downstream?.close();
		figures.show();
	});

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
		const list = {
			name: 'List',
			type: ACTION,
			parameters: { resource: 'product', operation: 'getAll', returnAll: true },
		};

		const execution = await run(await save('list', list));

		expect(execution.error).toBeUndefined();
		expect(execution.items('List')).toHaveLength(cluster.sandbox.products.length);
		figures.add('Product > Get Many', 1, `all ${cluster.sandbox.products.length} products`);
	});

	test('a customer is charged once, and the charge is read', async () => {
		const charge = createPix({
			notify: 'none',
			cart: cartOf(cluster.sandbox),
			orderReference: 'by hand',
		});
		const get = {
			name: 'Get',
			type: ACTION,
			parameters: {
				resource: 'transaction',
				operation: 'get',
				transactionHash: '={{ $json.hash }}',
			},
		};
		const workflowId = await save('charge', charge, get);

		const first = await run(workflowId);
		const repeats = [await run(workflowId), await run(workflowId)];

		const [made] = first.items('Charge');
		expect(first.error).toBeUndefined();
		expect(first.items('Get')[0]?.json).toMatchObject({ hash: made?.json.hash });
		for (const repeat of repeats) {
			const again = repeat.error === undefined ? repeat.items('Charge')[0]?.json.hash : undefined;
			expect(again ?? made?.json.hash).toBe(made?.json.hash);
			expect(repeat.error ?? 'may already have been charged').toMatch(IN_DOUBT);
		}
		expect(cluster.sandbox.charges()).toBe(1);
		figures.add('Create PIX with an Order Reference, then Get; run three times', 3, '1 charge');
	});

	test('the trigger of the workflow is found, and whether it listens', async () => {
		const address = {
			name: 'Address',
			type: ACTION,
			parameters: { resource: 'notification', operation: 'getAddress' },
		};
		const charges = ['automatic', 'trigger'].map((notify, nth) => ({
			...createPix({ notify, cart: cartOf(cluster.sandbox), orderReference: notify }),
			name: `Charge ${nth}`,
		}));
		const byHand = chainOf('found', cluster.credential, [BY_HAND, address, ...charges]);
		const sale = chainOf('sale', cluster.credential, [
			{ name: 'Sale', type: `${ACTION}Trigger`, webhookId: 'by-hand-sale' },
			{ name: 'End', type: 'n8n-nodes-base.noOp' },
		]);
		const saved = await cluster.rest.createWorkflow({
			name: 'found',
			nodes: [...byHand.nodes, ...sale.nodes],
			connections: { ...byHand.connections, ...sale.connections },
		});
		await cluster.rest.publish(saved);
		const before = cluster.sandbox.transactions.length;

		const execution = await run(saved.id);

		const url = `${cluster.url}/webhook/by-hand-sale/digital-sales`;
		expect(execution.error).toBeUndefined();
		expect(execution.items('Address')).toMatchObject([{ json: { url, listening: 'yes' } }]);
		const made = cluster.sandbox.transactions.slice(before);
		expect(made.map(({ postback_url }) => postback_url)).toEqual([url, url]);
		figures.add('Get Address; Notify: Automatic and Trigger of This Workflow', 1, 'the URL');
	});

	test('it waits for a payment, and goes on when it is told', async () => {
		const charge = createPix({
			notify: 'automatic',
			cart: cartOf(cluster.sandbox),
			customerDocument: '111.444.777-35',
		});
		const wait = waitForPayment({});
		const workflowId = await save('wait', charge, wait, downstream.node);

		const executionId = await cluster.rest.start(workflowId, BY_HAND.name);
		const charged = await until(async () => {
			const [newest] = await cluster.rest.executions(workflowId);
			if (newest?.status !== 'waiting') return undefined;
			return (await cluster.rest.execution(executionId)).items('Charge');
		});
		const hash = String(charged[0]?.json.hash);
		const [notice] = await cluster.sandbox.pay(hash);
		const { json } = await downstream.reportOn(hash);

		expect(notice?.status).toBe(200);
		expect(json).toMatchObject({ payment_status: 'paid', timedOut: false });
		expect(await cluster.workerOf(executionId)).toMatch(/^worker-/);
		figures.add('Create PIX, Wait for Payment, then a notice', 1, 'goes on as paid');
	});
});
