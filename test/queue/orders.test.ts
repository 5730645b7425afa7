import { setTimeout as pause } from 'node:timers/promises';
import { Downstream } from '../e2e/stage/downstream';
import { chainOf, createPix, TRIGGER, webStart } from '../e2e/stage/workflows';
import { sendRequest } from '../engine/harness/http';
import { hostVersions } from '../n8n/host';
import type { WorkflowFile } from '../n8n/rest';
import { chargeAt } from '../support/charge';
import { Figures } from '../support/figures';
import { cartOf } from './stage/cart';
import { Cluster } from './stage/cluster';
import { onceBetween } from './stage/onceNodes';
import { keepsStaticDataFromWorkers } from './stage/staticData';

const figures = new Figures('Queue mode: charges with an order reference', 'npm run e2e:queue');
const START_MS = 15 * 60_000;
const ORDERS = 10;
const REPEATS = 4;
const WORKERS = 2;
/** n8n takes up to two minutes to notice that a worker is gone. */
const ENDED_WITHIN_MS = 240_000;

describe('an order that is charged again, over several processes', () => {
	let cluster: Cluster;
	let downstream: Downstream;
	let n8n: string;
	const workflowIds = new Map<string, string>();

	beforeAll(async () => {
		({ n8n } = await hostVersions());
		cluster = await Cluster.open({ name: 'queue-orders', workers: WORKERS });
		downstream = await Downstream.open();
		for (const name of ['sequence', 'together', 'slow']) await publish(chargeWorkflow(name));
		const once = await onceBetween(chargeWorkflow('once'), {
			start: 'Start',
			next: 'Charge',
			key: "{{ $('Start').first().json.body.order }}",
		});
		await publish(once);
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

	const chargeWorkflow = (name: string): WorkflowFile =>
		chainOf(name, cluster.credential, [
			webStart(name),
			createPix({
				notify: 'none',
				cart: cartOf(cluster.sandbox),
				customerName: "={{ $('Start').first().json.body.order }}",
				additionalFields: { orderReference: "={{ $('Start').first().json.body.order }}" },
			}),
			downstream.node,
		]);
	const publish = async (workflow: WorkflowFile): Promise<void> => {
		const saved = await cluster.rest.createWorkflow(workflow);
		await cluster.rest.publish(saved);
		workflowIds.set(workflow.name, saved.id);
	};
	const order = async (workflow: string, reference: string): Promise<void> => {
		const { status } = await sendRequest(`${cluster.url}/webhook/${workflow}`, {
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ order: reference }),
		});
		expect(status).toBe(200);
	};
	const ended = async (workflow: string, count: number): Promise<string[]> => {
		const deadline = Date.now() + ENDED_WITHIN_MS;
		for (;;) {
			const executions = await cluster.rest.executions(workflowIds.get(workflow) ?? '');
			const over = executions.filter(({ stoppedAt }) => stoppedAt !== null);
			if (over.length >= count) return over.map(({ status }) => status);
			if (Date.now() > deadline) throw new Error(`Only ${over.length} have ended.`);
			await pause(100);
		}
	};

	test('one after the other', async () => {
		let sent = 0;
		for (let nth = 0; nth < ORDERS; nth++) {
			for (let repeat = 0; repeat < REPEATS; repeat++) {
				await order('sequence', `order-${nth}`);
				await ended('sequence', (sent += 1));
			}
		}

		const charges = cluster.sandbox.charges();
		const most = keepsStaticDataFromWorkers(n8n) ? WORKERS * ORDERS : ORDERS;
		expect(charges).toBeGreaterThanOrEqual(ORDERS);
		expect(charges).toBeLessThanOrEqual(most);
		figures.add(
			`${ORDERS} orders, each ${REPEATS} times one after the other, in n8n ${n8n}`,
			sent,
			`${charges} charges`,
		);
	});

	test('at the same moment', async () => {
		const references = Array.from({ length: ORDERS }, (_, nth) => `order-${nth}`);
		for (const reference of references) {
			await Promise.all(
				Array.from({ length: REPEATS }, async () => await order('together', reference)),
			);
		}
		await ended('together', ORDERS * REPEATS);

		const charges = cluster.sandbox.charges();
		expect(charges).toBeGreaterThanOrEqual(ORDERS);
		expect(charges).toBeLessThanOrEqual(WORKERS * ORDERS);
		figures.add(
			`${ORDERS} orders, each ${REPEATS} times at the same moment`,
			ORDERS * REPEATS,
			`${charges} charges: each worker remembers its own`,
		);
	});

	test('at the same moment, behind the nodes of the template', async () => {
		const references = Array.from({ length: ORDERS }, (_, nth) => `order-${nth}`);
		for (const reference of references) {
			await Promise.all(
				Array.from({ length: REPEATS }, async () => await order('once', reference)),
			);
		}
		await ended('once', ORDERS * REPEATS);

		expect(cluster.sandbox.charges()).toBe(ORDERS);
		expect(new Set(cluster.sandbox.transactions.map(({ customer }) => customer.name))).toEqual(
			new Set(references),
		);
		figures.add(
			'the same behind the nodes of once-in-all-processes.json',
			ORDERS * REPEATS,
			`${cluster.sandbox.charges()} charges, one each`,
		);
	});

	test('beside a trigger with a secret in its URL', async () => {
		const trigger = {
			name: 'Trigger',
			type: TRIGGER,
			webhookId: 'orders-locked',
			parameters: { triggerOn: ['any'], options: { urlSecret: true } },
		};
		const locked = chainOf('locked', cluster.credential, [trigger, downstream.node]);
		const charging = chargeWorkflow('beside');
		const nodes = charging.nodes.filter((node) => nameOf(node) !== downstream.node.name);
		const saved = await cluster.rest.createWorkflow({
			...charging,
			nodes: [...locked.nodes, ...nodes],
			connections: { ...charging.connections, ...locked.connections },
		});
		await cluster.rest.publish(saved);
		workflowIds.set('beside', saved.id);
		const { staticData } = await cluster.rest.workflow(saved.id);
		const secret = /"urlSecret":"([\w-]+)"/.exec(JSON.stringify(staticData))?.[1] ?? '';
		const url = `${cluster.url}/webhook/orders-locked/digital-sales?key=${secret}`;
		const hash = await chargeAt(cluster.sandbox);
		const post = async (): Promise<number> => {
			const headers = { 'content-type': 'application/json' };
			return (await sendRequest(url, { headers, body: JSON.stringify({ hash }) })).status;
		};

		const before = await post();
		await order('beside', 'order-1');
		await ended('beside', 2);
		const after = await post();

		expect(secret).not.toBe('');
		expect([before, after]).toEqual([200, 200]);
		figures.add(
			'a charge with a reference beside a trigger with a secret in its URL',
			1,
			'the trigger still knows its secret',
		);
	});

	test('a worker that dies while it charges: no other takes the execution over', async () => {
		cluster.sandbox.addFault({
			endpoint: 'POST /transactions',
			kind: 'delayAfterProcessing',
			ms: 20_000,
		});
		await order('slow', 'order-1');
		while (cluster.sandbox.charges() === 0) await pause(50);
		const [summary] = await cluster.rest.executions(workflowIds.get('slow') ?? '');
		const name = await cluster.workerOf(summary?.id ?? '');
		const worker = cluster.workers.find((one) => one.name === name);
		await worker?.kill();

		const statuses = await ended('slow', 1);
		await worker?.start();
		await pause(5_000);

		expect(statuses).toEqual(['error']);
		expect(cluster.sandbox.charges()).toBe(1);
		expect(downstream.reports).toHaveLength(0);
		figures.add(
			'a worker killed while it charges',
			1,
			'1 charge, the execution ends as an error and is not run again',
		);
	}, 300_000);
});

function nameOf(node: unknown): unknown {
	return typeof node === 'object' && node !== null && 'name' in node ? node.name : undefined;
}
