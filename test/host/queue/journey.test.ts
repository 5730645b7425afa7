import { setTimeout as pause } from 'node:timers/promises';
import { chainOf, type NodeSketch, TRIGGER, webStart } from '../e2e/stage/workflows';
import { sendRequest } from '../../support/http';
import type { Execution } from '../n8n/execution';
import { NODES } from '../n8n/journey';
import { journeyFile } from '../n8n/setUp';
import { Figures } from '../../support/figures';
import { Cluster } from './stage/cluster';

const figures = new Figures('Queue mode: the journey', 'npm run e2e -- queue');
const START_MS = 15 * 60_000;
const HEARD_WITHIN_MS = 30_000;
const POLL_MS = 100;

describe('from the catalog to a verified sale, over several processes', () => {
	let cluster: Cluster;
	let workflowId: string;
	let charging: Execution;
	let notificationUrl: string;

	beforeAll(async () => {
		cluster = await Cluster.open({ name: 'queue-journey' });
		notificationUrl = addressFor('automatic');
		workflowId = await publishJourney('automatic');
	}, START_MS);
	afterAll(async () => {
		await cluster?.close();
		figures.show();
	});

	const addressFor = (notify: string): string =>
		`${cluster.url}/webhook/queue-${notify}/digital-sales`;
	/** The workflow of the journey, started by a web call instead of a person. */
	const publishJourney = async (notify: string): Promise<string> => {
		const [product] = cluster.sandbox.products;
		const workflow = await journeyFile(product?.hash ?? '', cluster.credential);
		const saved = await cluster.rest.createWorkflow({
			...workflow,
			nodes: workflow.nodes.map((node) => {
				if (node.name === NODES.start) return { ...node, ...webStart(notify), name: NODES.start };
				if (node.type === TRIGGER) return { ...node, webhookId: `queue-${notify}` };
				if (node.name !== NODES.charge) return node;
				return { ...node, parameters: { ...parametersOf(node), notify } };
			}),
		});
		await cluster.rest.publish(saved);
		return saved.id;
	};
	const begin = async (notify: string): Promise<void> => {
		const { status } = await sendRequest(`${cluster.url}/webhook/${notify}`, { body: '{}' });
		if (status !== 200) throw new Error(`Not started: ${status}`);
	};
	const executionOf = async (
		id: string,
		isIt: (execution: Execution) => boolean,
	): Promise<Execution> => {
		const deadline = Date.now() + HEARD_WITHIN_MS;
		for (;;) {
			for (const summary of await cluster.rest.executions(id)) {
				const execution = await cluster.rest.ended(summary.id);
				if (isIt(execution)) return execution;
				if (execution.error !== undefined) throw new Error(execution.error);
			}
			if (Date.now() > deadline) throw new Error('No such execution has run.');
			await pause(POLL_MS);
		}
	};
	const executionWith = async (node: string): Promise<Execution> =>
		await executionOf(workflowId, (execution) => execution.items(node).length > 0);

	test('a worker lists, makes the offer and charges; the charge reports to the webhook process', async () => {
		await begin('automatic');

		charging = await executionWith(NODES.charge);

		const [charge] = cluster.sandbox.transactions;
		expect(charging.items(NODES.list)).toHaveLength(cluster.sandbox.products.length);
		expect(cluster.sandbox.charges()).toBe(1);
		expect(charge?.postback_url).toBe(notificationUrl);
		expect(await cluster.workerOf(charging.summary.id)).toMatch(/^worker-/);
	});

	test('the payment reaches the webhook process, and a worker has the verified sale', async () => {
		const [charge] = charging.items(NODES.charge);
		const [delivery] = await cluster.sandbox.pay(String(charge?.json.hash));

		const sale = await executionWith(NODES.sale);

		expect(delivery?.status).toBe(200);
		expect(sale.items(NODES.sale)).toMatchObject([
			{ json: { hash: charge?.json.hash, payment_status: 'paid' } },
		]);
		expect(await cluster.workerOf(sale.summary.id)).toMatch(/^worker-/);
		figures.add(
			'catalog, offer, charge (Notify: Automatic), payment, sale',
			1,
			`${await cluster.workerOf(charging.summary.id)} charged, webhook-1 took the notice, ${await cluster.workerOf(sale.summary.id)} ran the verified sale`,
		);
	});

	test('repeated to the webhook process after its restart, the notice gives no second sale', async () => {
		const hash = String(charging.items(NODES.charge)[0]?.json.hash);
		const before = (await cluster.rest.executions(workflowId)).map(({ id }) => id);
		const [webhook] = cluster.webhooks;
		await webhook?.stop();
		await webhook?.start();

		const delivery = await cluster.sandbox.notify(hash);
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

	test('misrouted to the main process, a notice is not taken for received', async () => {
		const hash = String(charging.items(NODES.charge)[0]?.json.hash);
		const misrouted = notificationUrl.replace(cluster.url, cluster.main.url);

		const { status } = await sendRequest(misrouted, {
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ hash, payment_status: 'paid' }),
		});

		expect(status).toBe(404);
		figures.add('a notice to the main process, which takes none', 1, `answered ${status}`);
	});

	test('Notify: Trigger of This Workflow', async () => {
		const otherId = await publishJourney('trigger');
		await begin('trigger');

		const execution = await executionOf(otherId, (one) => one.items(NODES.charge).length > 0);

		const addresses = cluster.sandbox.transactions.map(({ postback_url }) => postback_url);
		expect(addresses).toContain(addressFor('trigger'));
		figures.add(
			'Notify: Trigger of This Workflow',
			1,
			`${await cluster.workerOf(execution.summary.id)} charged; it reports to the trigger`,
		);
	});

	test('Get Address on a worker', async () => {
		const trigger = { name: 'Trigger', type: TRIGGER, webhookId: 'queue-checked' };
		const listening = chainOf('listening', cluster.credential, [trigger, noOperation('End')]);
		const checked = chainOf('checked', cluster.credential, [
			webStart('check'),
			{
				name: 'Address',
				type: TRIGGER.replace(/Trigger$/, ''),
				parameters: { resource: 'notification', operation: 'getAddress' },
			},
		]);
		const saved = await cluster.rest.createWorkflow({
			name: 'checked',
			nodes: [...listening.nodes, ...checked.nodes],
			connections: { ...listening.connections, ...checked.connections },
		});
		await cluster.rest.publish(saved);
		await begin('check');

		const execution = await executionOf(saved.id, (one) => one.items('Address').length > 0);

		expect(execution.items('Address')).toMatchObject([
			{ json: { url: `${cluster.url}/webhook/queue-checked/digital-sales`, listening: 'yes' } },
		]);
		expect(await cluster.workerOf(execution.summary.id)).toMatch(/^worker-/);
		figures.add('Get Address on a worker', 1, 'the URL, and that it listens');
	});
});

function parametersOf(node: object): object {
	return 'parameters' in node && typeof node.parameters === 'object' ? (node.parameters ?? {}) : {};
}

function noOperation(name: string): NodeSketch {
	return { name, type: 'n8n-nodes-base.noOp' };
}
