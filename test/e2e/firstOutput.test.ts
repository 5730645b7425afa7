import type { StoredTransaction } from '../sandbox/types';
import { cpf } from '../helpers/charge';
import { postJson } from '../helpers/http';
import { until } from '../helpers/until';
import type { Execution } from '../helpers/n8n/execution';
import type { WorkflowFile } from '../helpers/n8n/rest';
import { enterSharedN8n, type Guest } from '../helpers/e2e/sharedN8n';
import {
	cartOf,
	chainOf,
	createPix,
	END,
	type NodeSketch,
	split,
	waitForPayment,
	webStart,
} from '../helpers/e2e/workflows';

const FIRST_CUSTOMER = 300_400_500;
const TEST_MS = 180_000;
const LIST = split('List', 'body.orders');

const NEXT: NodeSketch = {
	name: 'Next',
	type: 'n8n-nodes-base.set',
	typeVersion: 3.4,
	parameters: {
		mode: 'raw',
		jsonOutput: '={{ JSON.stringify({ hash: $json.hash, paid: $json.paid }) }}',
		options: {},
	},
};
const to = (node: string) => ({ node, type: 'main', index: 0 });

/** n8n passes on the input of a node that it skips, and of a sub-workflow's last node, by the first output. */
describe('The first output of Wait for Payment, which is Not Paid,', () => {
	let guest: Guest;
	let customers = 0;

	beforeAll(async () => {
		guest = await enterSharedN8n({ resendAfterSeconds: [] });
	});
	afterAll(async () => await guest?.close());

	const charge = (): NodeSketch =>
		createPix({
			webhooksGoTo: 'automatic',
			cart: cartOf(guest.sandbox),
			customerName: '={{ $json.order }}',
			customerDocument: '={{ $json.document }}',
		});
	const orders = (name: string, count: number) =>
		Array.from({ length: count }, (_, nth) => {
			customers += 1;
			return { order: `${name} ${nth + 1}`, document: cpf(FIRST_CUSTOMER + customers) };
		});
	const chain = (name: string, ...chains: NodeSketch[][]): WorkflowFile =>
		chainOf(name, guest.credential, ...chains);

	/** Publishes a workflow, starts it with these orders, and returns the id of its execution. */
	const begin = async (file: WorkflowFile, list: object[]): Promise<string> => {
		const { rest, url } = guest;
		const saved = await rest.createWorkflow(file);
		await rest.publish(saved);
		const start = async () => await postJson(`${url}/webhook/${file.name}`, { orders: list });
		return await rest.startedBy(saved.id, start);
	};
	const parked = async (executionId: string): Promise<void> => {
		const isWaiting = async () => (await guest.rest.status(executionId)) === 'waiting';
		await until(`execution ${executionId} waits`, isWaiting);
	};
	/** The charge of an order, once it exists. */
	const charged = async (order: string): Promise<StoredTransaction> =>
		await until(`${order} is charged`, () =>
			guest.sandbox.transactions.find(({ customer }) => customer.name === order),
		);
	const rows = (execution: Execution, node: string) =>
		execution.items(node).map(({ json }) => json);

	test(
		'does not hinder a sub-workflow with a node behind both: it continues the parent once, with both items',
		async () => {
			const { rest, sandbox } = guest;
			const called: NodeSketch = {
				name: 'Called',
				type: 'n8n-nodes-base.executeWorkflowTrigger',
				typeVersion: 1.1,
				parameters: { inputSource: 'passthrough' },
			};
			const nodes = [called, charge(), waitForPayment(), NEXT];
			const sub = await rest.createWorkflow(chain('shape-sub', nodes));
			await rest.publish(sub);
			const call: NodeSketch = {
				name: 'Call',
				type: 'n8n-nodes-base.executeWorkflow',
				typeVersion: 1.2,
				parameters: { workflowId: { __rl: true, mode: 'id', value: sub.id }, options: {} },
			};
			const start = webStart('shape-parent');
			const list = orders('sub', 2);
			const parent = await begin(chain('shape-parent', [start, LIST, call, NEXT]), list);
			const [first, second] = [await charged('sub 1'), await charged('sub 2')];
			await parked(parent);
			const subId = (await rest.executions(sub.id))[0]?.id ?? '';
			await parked(subId);

			const [early] = await sandbox.pay(first.hash);
			const hasLooked = () => sandbox.requests.filter(isRead(second.hash)).length > 1;
			await until('it has looked', hasLooked, { withinMs: 90_000 });
			await parked(subId);
			const [late] = await sandbox.pay(second.hash);
			const child = await rest.ended(subId);
			const execution = await rest.ended(parent);

			expect([early?.status, late?.status]).toEqual([200, 200]);
			expect(child.runs('Wait')).toBe(1);
			const both = [first, second].map(({ hash }) => ({ hash, paid: true }));
			expect(rows(child, 'Next')).toEqual(both);
			expect(execution.summary.status).toBe('success');
			expect(['Call', 'Next'].map((node) => execution.runs(node))).toEqual([1, 1]);
			expect(rows(execution, 'Next')).toEqual(both);
		},
		TEST_MS,
	);

	test('gets all items of a node that is deactivated', async () => {
		const ends = ['Delivered', 'Not delivered'].map((name) => ({ ...END, name }));
		const nodes = [webStart('shape-off'), LIST, charge(), { ...waitForPayment(), disabled: true }];
		const file = chain('shape-off', nodes, ...ends.map((end) => [end]));
		file.connections.Wait = { main: [[to('Not delivered')], [to('Delivered')]] };

		const execution = await guest.rest.ended(await begin(file, orders('off', 1)));

		expect(ends.map(({ name }) => execution.runs(name))).toEqual([0, 1]);
	});
});

const isRead =
	(hash: string) =>
	({ method, path }: { method: string; path: string }): boolean =>
		method === 'GET' && path.endsWith(`/${hash}`);
