import { setTimeout as pause } from 'node:timers/promises';
import { sendRequest } from '../../support/http';
import type { Execution } from '../n8n/execution';
import type { WorkflowFile } from '../n8n/rest';
import { cpf } from '../../support/charge';
import { cartOf, chainOf, createPix, type NodeSketch, webStart } from './stage/workflows';
import { startN8n, type N8n, WITHOUT_EDITOR } from '../n8n/n8n';

const START_MS = 15 * 60_000;
const MAYBE = 'may already have been charged';
const CHARGE = 'Charge';
/** How long an execution that overlaps another one is held open. */
const SLOW_SECONDS = 6;

const split: NodeSketch = {
	name: 'Split',
	type: 'n8n-nodes-base.splitOut',
	parameters: { fieldToSplitOut: 'body.items', options: {} },
};
const slow: NodeSketch = {
	name: 'Slow',
	type: 'n8n-nodes-base.wait',
	typeVersion: 1.1,
	webhookId: 'retry-slow',
	parameters: { resume: 'timeInterval', amount: '={{ $json.seconds ?? 0 }}', unit: 'seconds' },
};
const FOR_EACH_ITEM = {
	notify: 'none',
	customerDocument: '={{ $json.document }}',
	simplify: true,
};
const CUSTOMERS = ['529.982.247-25', '111.444.777-35', '123.456.789-09'];

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
	const end = Date.now() + 30_000;
	while (!(await isSo())) {
		if (Date.now() > end) throw new Error('It did not happen in time');
		await pause(50);
	}
}

describe('Asked again in a real n8n', () => {
	let n8n: N8n;
	const ids = new Map<string, string>();

	beforeAll(async () => {
		n8n = await startN8n('e2e-retry', { env: WITHOUT_EDITOR });
		const cart = cartOf(n8n.sandbox);
		// One at a time, so that it is known which of them a crash strikes.
		const batch = createPix({ cart, ...FOR_EACH_ITEM });
		await publish('batch', [webStart('batch'), split, batch]);
		const many = createPix({ cart, ...FOR_EACH_ITEM });
		await publish('many', [webStart('many'), split, many]);
		const ordered = createPix({
			cart,
			notify: 'none',
			customerDocument: '={{ $json.body.document }}',
			orderReference: '={{ $json.body.order }}',
		});
		await publish('ordered', [webStart('ordered'), ordered]);
		const plain = createPix({
			cart,
			notify: 'none',
			customerDocument: '={{ $json.body.document }}',
		});
		await publish('plain', [webStart('plain'), plain]);
		await publish('overlapping', [webStart('overlapping'), ordered, slowAfterStart()]);
	}, START_MS);
	beforeEach(() => n8n.sandbox.reset());
	afterAll(async () => await n8n?.close());

	const publish = async (name: string, nodes: NodeSketch[]): Promise<WorkflowFile> => {
		const workflow = chainOf(name, n8n.credential, nodes);
		const saved = await n8n.rest.createWorkflow(workflow);
		await n8n.rest.publish(saved);
		ids.set(name, saved.id);
		return workflow;
	};
	const slowAfterStart = (): NodeSketch => ({
		...slow,
		parameters: { ...slow.parameters, amount: '={{ $("Start").item.json.body.seconds ?? 0 }}' },
	});
	const idOf = (name: string): string => ids.get(name) ?? '';
	const post = async (name: string, body: object): Promise<void> => {
		const headers = { 'content-type': 'application/json' };
		await sendRequest(`${n8n.url}/webhook/${name}`, { headers, body: JSON.stringify(body) });
	};
	const newest = async (name: string): Promise<Execution> => {
		const [summary] = await n8n.rest.executions(idOf(name));
		return await n8n.rest.ended(summary?.id ?? '');
	};
	const ask = async (name: string, body: object): Promise<Execution> => {
		const before = (await n8n.rest.executions(idOf(name))).length;
		await post(name, body);
		await until(async () => (await n8n.rest.executions(idOf(name))).length > before);
		return await newest(name);
	};
	const retry = async (execution: Execution, loadWorkflow: boolean): Promise<Execution> => {
		const { id } = await n8n.rest.retry(execution.summary.id, loadWorkflow);
		return await n8n.rest.ended(id);
	};
	const hashes = (execution: Execution): unknown[] =>
		execution.items(CHARGE).map(({ json }) => json.hash);
	const charges = (): number => n8n.sandbox.charges();
	const batchOf = (count: number): object => ({
		items: CUSTOMERS.slice(0, count).map((document) => ({ document })),
	});
	/** Kills n8n while a charge is under way, and starts it again. */
	const crashDuring = async (name: string, body: object, charged: number): Promise<void> => {
		n8n.sandbox.addFault({
			endpoint: 'POST /transactions',
			kind: 'delayAfterProcessing',
			ms: 60_000,
			after: charged - charges() - 1,
		});
		await post(name, body);
		await until(() => charges() >= charged);
		await n8n.kill();
		n8n.sandbox.clearFaults();
		await n8n.startAgain();
	};

	test('Retry of a failed execution, original and current, repeatedly: each item is charged once', async () => {
		const endpoint = 'POST /transactions';
		n8n.sandbox.addFault({ endpoint, kind: 'status', status: 422, after: 2 });
		const failed = await ask('batch', batchOf(3));
		expect(failed.complaint).toContain('Already created in this execution: item 1 is');
		expect(charges()).toBe(2);

		const retries: Execution[] = [];
		for (const current of [false, true, false, true]) retries.push(await retry(failed, current));

		expect(charges()).toBe(3);
		const made = n8n.sandbox.transactions.map(({ hash }) => hash);
		for (const execution of retries) expect(hashes(execution)).toEqual(made);
	});

	test('Retry after an unknown outcome is refused, in doubt', async () => {
		const endpoint = 'POST /transactions';
		n8n.sandbox.addFault({ endpoint, kind: 'resetAfterProcessing' });
		const failed = await ask('plain', { document: CUSTOMERS[0] });
		for (const current of [false, true]) {
			expect((await retry(failed, current)).complaint).toContain(MAYBE);
		}

		expect(charges()).toBe(1);
	});

	test('Retry of a crashed execution never charges again who was charged; the rest once', async () => {
		await crashDuring('batch', batchOf(3), 2);
		const crashed = await newest('batch');
		expect(crashed.summary.status).toBe('crashed');
		// The third may have been under way with the second.
		const made = charges();
		const stopped = await retry(crashed, false);
		expect(stopped.complaint).toContain(`The customer of item 1 ${MAYBE}`);
		expect(charges()).toBe(made);

		await tolerate('batch');
		for (let nth = 0; nth < 2; nth++) {
			const items = (await retry(crashed, true)).items(CHARGE).map(({ json }) => json);
			expect(items[0]?.error).toMatchObject({
				message: expect.stringContaining(`The customer of item 1 ${MAYBE}`),
				outcome: 'unknown',
			});
			expect(items[1]?.error).toMatchObject({
				message: expect.stringContaining(`The customer of item 2 ${MAYBE}`),
			});
			const third = made < 3 ? String(n8n.sandbox.transactions[2]?.hash) : MAYBE;
			expect(JSON.stringify(items[2])).toContain(third);
		}
		expect(charges()).toBe(3);
	}, 180_000);

	/** Sets On Error of the charge to Continue. */
	const tolerate = async (name: string): Promise<void> => {
		const { nodes } = await n8n.rest.workflow(idOf(name));
		const onError = 'continueRegularOutput';
		const changed = nodes.map((node) => (node.name === CHARGE ? { ...node, onError } : node));
		await n8n.rest.send('PATCH', `/workflows/${idOf(name)}`, { nodes: changed });
	};

	test('killed with several charges under way: nobody is charged twice, and nobody is left out', async () => {
		const documents = Array.from({ length: 8 }, (_, nth) => cpf(400_000_000 + nth));
		await crashDuring('many', { items: documents.map((document) => ({ document })) }, 2);
		const crashed = await newest('many');
		expect((await retry(crashed, false)).complaint).toContain(`item 1 ${MAYBE}`);
		await tolerate('many');

		for (let nth = 0; nth < 2; nth++) {
			const items = (await retry(crashed, true)).items(CHARGE).map(({ json }) => json);
			const refused = items.filter(({ error }) => JSON.stringify(error)?.includes(MAYBE));
			expect(refused.length).toBeGreaterThanOrEqual(2);
			expect(items.filter(({ hash }) => typeof hash === 'string')).toHaveLength(
				documents.length - refused.length,
			);
		}

		const charged = n8n.sandbox.transactions.map(({ customer }) => customer?.document);
		expect(new Set(charged).size).toBe(charged.length);
	}, 180_000);

	test('killed while it charges, asked again: refused with a reference and without; another customer is charged', async () => {
		const [document, other] = CUSTOMERS;
		await crashDuring('ordered', { document, order: 'order-1' }, 1);
		const again = await ask('ordered', { document, order: 'order-1' });
		const renamed = await ask('ordered', { document, order: 'order-2' });
		expect(again.complaint).toContain(MAYBE);
		expect(renamed.complaint).toContain(MAYBE);
		expect(hashes(await ask('ordered', { document: other, order: 'order-3' }))).toHaveLength(1);
		expect(charges()).toBe(2);

		await crashDuring('plain', { document: CUSTOMERS[2] }, 3);
		const crashed = await newest('plain');
		expect((await ask('plain', { document: CUSTOMERS[2] })).complaint).toContain(MAYBE);
		expect((await retry(crashed, false)).complaint).toContain(MAYBE);
		expect(hashes(await ask('plain', { document: other }))).toHaveLength(1);
		expect(charges()).toBe(4);
	}, 240_000);

	test('executions that overlap and a restart: never a second charge', async () => {
		const [document, other] = CUSTOMERS;
		await post('overlapping', { document, order: 'order-8', seconds: SLOW_SECONDS });
		await until(() => charges() === 1);
		await ask('overlapping', { document: other, order: 'order-9' });
		await pause((SLOW_SECONDS + 1) * 1_000);
		const same = await ask('overlapping', { document: other, order: 'order-9' });
		expect(hashes(same)).toEqual([n8n.sandbox.transactions[1]?.hash]);
		await n8n.restart();
		for (const [who, order] of [
			[document, 'order-8'],
			[other, 'order-9'],
		]) {
			const repeated = await ask('overlapping', { document: who, order });
			expect(repeated.complaint).toContain(`for order "${order}"`);
		}

		expect(charges()).toBe(2);
	}, 180_000);
});
