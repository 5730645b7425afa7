import { sendRequest } from '../../support/http';
import type { WorkflowFile } from '../n8n/rest';
import { Figures } from '../../support/figures';
import { cartOf, chainOf, createPix, webStart } from './stage/workflows';
import { Guest } from './stage/sharedN8n';

const CUSTOMERS = ['529.982.247-25', '111.444.777-35'];
const figures = new Figures('Retry On Fail around a sub-workflow, in a real n8n', 'npm run e2e');

describe('Retry On Fail of an Execute Sub-workflow node around a charge', () => {
	let stage: Guest;
	let orders = 0;

	beforeAll(async () => {
		stage = await Guest.enter();
		await publish('plain', {});
		await publish('ordered', { orderReference: '={{ $json.order }}' });
	});
	beforeEach(() => stage.sandbox.reset());
	afterAll(async () => {
		await stage?.close();
		figures.show();
	});

	/** A workflow that charges, and one that calls it and tries it up to three times. */
	const publish = async (name: string, more: object): Promise<void> => {
		const charge = createPix({
			cart: cartOf(stage.sandbox),
			notify: 'none',
			customerDocument: '={{ $json.document }}',
			...more,
		});
		const called: WorkflowFile = chainOf(`${name} charge`, stage.credential, [
			{
				name: 'Called',
				type: 'n8n-nodes-base.executeWorkflowTrigger',
				typeVersion: 1.1,
				parameters: { inputSource: 'passthrough' },
			},
			charge,
		]);
		const saved = await stage.rest.createWorkflow(called);
		await stage.rest.publish(saved);
		const calling = chainOf(name, stage.credential, [
			{ ...webStart(name), parameters: { ...webStart(name).parameters, responseMode: 'lastNode' } },
			{
				name: 'Split',
				type: 'n8n-nodes-base.splitOut',
				parameters: { fieldToSplitOut: 'body.items', options: {} },
			},
			{
				name: 'Call',
				type: 'n8n-nodes-base.executeWorkflow',
				typeVersion: 1.2,
				parameters: { workflowId: { __rl: true, mode: 'id', value: saved.id }, options: {} },
			},
		]);
		const tries = { retryOnFail: true, maxTries: 3, waitBetweenTries: 100 };
		const nodes = calling.nodes.map((node) =>
			typeof node === 'object' && node !== null && 'name' in node && node.name === 'Call'
				? { ...node, ...tries }
				: node,
		);
		await stage.rest.publish(await stage.rest.createWorkflow({ ...calling, nodes }));
	};
	const run = async (name: string): Promise<number> => {
		const headers = { 'content-type': 'application/json' };
		const items = CUSTOMERS.map((document) => ({ document, order: `order-${++orders}` }));
		const body = JSON.stringify({ items });
		return (await sendRequest(`${stage.url}/webhook/${name}`, { headers, body })).status;
	};
	const refuseSecond = (): void =>
		stage.sandbox.addFault({
			endpoint: 'POST /transactions',
			kind: 'status',
			status: 422,
			after: 1,
		});

	test('with an Order Reference each customer is charged once', async () => {
		refuseSecond();

		expect(await run('ordered')).toBe(200);
		expect(stage.sandbox.charges()).toBe(2);
	});

	test('without one, what succeeded in the first try is charged again: measured', async () => {
		refuseSecond();

		expect(await run('plain')).toBe(200);
		expect(stage.sandbox.charges()).toBe(3);
		figures.add(
			'two customers, the second refused in the first of two tries, no Order Reference',
			1,
			`${stage.sandbox.charges()} charges: the first customer is charged in each try`,
		);
	});

	test.each(['plain', 'ordered'])(
		'an unknown outcome is charged once in all tries (%s)',
		async (name) => {
			const endpoint = 'POST /transactions';
			stage.sandbox.addFault({ endpoint, kind: 'resetAfterProcessing' });

			expect(await run(name)).toBe(500);
			const charged = stage.sandbox.transactions.map(({ customer }) => customer?.document);
			expect(charged.length).toBeGreaterThan(0);
			expect(new Set(charged).size).toBe(charged.length);
		},
	);
});
