import type { StoredTransaction } from '../sandbox/types';
import { cpf } from '../helpers/charge';
import { postJson } from '../helpers/http';
import { until } from '../helpers/until';
import type { Execution } from '../helpers/n8n/execution';
import type { WorkflowFile } from '../helpers/n8n/rest';
import { enterSharedN8n, type Guest } from '../helpers/e2e/sharedN8n';
import {
	BY_HAND,
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
const START_MS = 5 * 60_000;
const TEST_MS = 180_000;
const LIST = split('List', 'orders');

/** A node that shows the value of this expression for each item. */
const showing = (name: string, json: string): NodeSketch => ({
	name,
	type: 'n8n-nodes-base.set',
	typeVersion: 3.4,
	parameters: { mode: 'raw', jsonOutput: `={{ JSON.stringify(${json}) }}`, options: {} },
});
const NEXT = showing('Next', '{ hash: $json.hash, paid: $json.paid }');
const to = (node: string) => ({ node, type: 'main', index: 0 });

/** All workflows begin before the tests, because n8n's timer needs a minute. */
describe('Wait for Payment in workflows of any shape', () => {
	let guest: Guest;
	let customers = 0;
	let ofItems: string;
	let ofBranch: string;
	let byHand: string;

	beforeAll(async () => {
		guest = await enterSharedN8n({ resendAfterSeconds: [] });
		ofItems = await begin(threeItems(), orders('items', 3));
		ofBranch = await begin(besideBranch(), orders('branch', 1));
		byHand = await beginByHand();
		for (const id of [ofItems, ofBranch, byHand]) await parked(id);
		for (const { hash } of guest.sandbox.transactions) await guest.sandbox.setStatus(hash, 'paid');
	}, START_MS);
	afterAll(async () => await guest?.close());

	const charge = (webhooksGoTo: 'none' | 'automatic', more: object = {}): NodeSketch =>
		createPix({
			webhooksGoTo,
			cart: cartOf(guest.sandbox),
			customerName: '={{ $json.order }}',
			customerDocument: '={{ $json.document }}',
			...more,
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
	const hashesOf = (name: string): string[] =>
		guest.sandbox.transactions
			.filter(({ customer }) => customer.name.startsWith(name))
			.map(({ hash }) => hash);
	const rows = (execution: Execution, node: string) =>
		execution.items(node).map(({ json }) => json);

	const threeItems = (): WorkflowFile => {
		const json = [
			"order: $('List').item.json.order",
			"charged: $('Charge').item.json.hash",
			"waited: $('Wait').item.json.hash",
			"first: $('Wait').first().json.hash",
			'paid: $json.paid',
		].join(', ');
		const next = showing('Next', `{ ${json} }`);
		const nodes = [webStart('shape-items'), LIST, charge('none'), waitForPayment(), next];
		const file = chain('shape-items', nodes);
		// `first()` reads the first output that leads to a node.
		file.connections.Wait = { main: [[], [to('Next')]] };
		return file;
	};
	const besideBranch = (): WorkflowFile => {
		const file = chain(
			'shape-branch',
			[webStart('shape-branch'), LIST],
			[charge('none'), waitForPayment(), NEXT],
			[showing('Side', '{ side: $json.order }')],
		);
		file.connections.List = { main: [[to('Charge'), to('Side')]] };
		return file;
	};
	const beginByHand = async (): Promise<string> => {
		const customer = { customerName: 'by hand 1', customerDocument: '529.982.247-25' };
		const nodes = [BY_HAND, charge('none', customer), waitForPayment(), NEXT];
		const { id } = await guest.rest.createWorkflow(chain('shape-by-hand', nodes));
		return await guest.rest.start(id, BY_HAND.name);
	};

	test(
		'a wait in a sub-workflow with two items continues the parent once, with both items',
		async () => {
			const { rest, sandbox } = guest;
			const called: NodeSketch = {
				name: 'Called',
				type: 'n8n-nodes-base.executeWorkflowTrigger',
				typeVersion: 1.1,
				parameters: { inputSource: 'passthrough' },
			};
			// n8n returns only the first output of a node at the end, which is Not Paid.
			const nodes = [called, charge('automatic'), waitForPayment(), NEXT];
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

	test(
		'in Loop Over Items each item has its own wait, in order',
		async () => {
			const loop: NodeSketch = {
				name: 'Loop',
				type: 'n8n-nodes-base.splitInBatches',
				typeVersion: 3,
				parameters: { options: {} },
			};
			const round = [charge('automatic'), waitForPayment(), NEXT];
			const file = chain('shape-loop', [webStart('shape-loop'), LIST, loop], round, [END]);
			file.connections.Loop = { main: [[to('End')], [to('Charge')]] };
			file.connections.Next = { main: [[to('Loop')]] };
			const id = await begin(file, orders('loop', 2));

			for (const order of ['loop 1', 'loop 2']) {
				const { hash } = await charged(order);
				await parked(id);
				const [report] = await guest.sandbox.pay(hash);
				expect(report?.status).toBe(200);
			}
			const execution = await guest.rest.ended(id);

			expect(execution.error).toBeUndefined();
			expect(['Wait', 'Next', 'End'].map((node) => execution.runs(node))).toEqual([2, 2, 1]);
			const both = hashesOf('loop').map((hash) => ({ hash, paid: true }));
			expect(rows(execution, 'End')).toEqual(both);
			expect(both).toHaveLength(2);
		},
		TEST_MS,
	);

	test(
		'each of three items stays paired with its row',
		async () => {
			const execution = await guest.rest.ended(ofItems);

			const hashes = hashesOf('items');
			expect(execution.error).toBeUndefined();
			expect(['Wait', 'Next'].map((node) => execution.runs(node))).toEqual([1, 1]);
			expect(rows(execution, 'Next')).toEqual(
				rows(execution, 'Charge').map(({ hash }, index) => ({
					order: `items ${index + 1}`,
					charged: hash,
					waited: hash,
					first: rows(execution, 'Charge')[0]?.hash,
					paid: true,
				})),
			);
			expect(hashes).toHaveLength(3);
		},
		TEST_MS,
	);

	test(
		'a parallel branch runs once',
		async () => {
			const execution = await guest.rest.ended(ofBranch);

			expect(['Wait', 'Next', 'Side'].map((node) => execution.runs(node))).toEqual([1, 1, 1]);
			expect(rows(execution, 'Side')).toEqual([{ side: 'branch 1' }]);
			expect(rows(execution, 'Next')).toEqual([{ hash: hashesOf('branch')[0], paid: true }]);
		},
		TEST_MS,
	);

	test(
		'a wait that was started by hand goes on by itself',
		async () => {
			const execution = await guest.rest.ended(byHand);

			expect(execution.summary).toMatchObject({ mode: 'manual', status: 'success' });
			expect(['Wait', 'Next'].map((node) => execution.runs(node))).toEqual([1, 1]);
			expect(rows(execution, 'Next')).toEqual([{ hash: hashesOf('by hand')[0], paid: true }]);
		},
		TEST_MS,
	);
});

const isRead =
	(hash: string) =>
	({ method, path }: { method: string; path: string }): boolean =>
		method === 'GET' && path.endsWith(`/${hash}`);
