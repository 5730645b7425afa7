import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod';
import { jsonObject } from '../../../../nodes/DigitalSales/shared/json';
import {
	ACTION_TYPE,
	connect,
	crashedData,
	double,
	type NodeOutcome,
	NodeProcess,
	runWorkflow,
	START_TYPE,
} from '../harness';
import { errorIn, pixParameters } from '../support/account';
import { codeIn, errorOf, RETRY_ON_FAIL, useShop } from '../support/charging';

const ITEMS = [{ n: 1 }, { n: 2 }, { n: 3 }];
/** Another customer for each item. */
const DOCUMENTS = ['529.982.247-25', '111.444.777-35', '123.456.789-09'];
const OWN_DOCUMENT = { customerDocument: `={{ ${JSON.stringify(DOCUMENTS)}[$json.n - 1] }}` };

describe('Asked again by n8n, a charge is made once', () => {
	const shop = useShop();

	describe('Retry On Fail', () => {
		test('charges nobody who was charged on the first try', async () => {
			shop.fault('refuse', 1);

			const run = await shop.run(shop.parameters(), { settings: RETRY_ON_FAIL, items: ITEMS });

			expect(run.status).toBe('success');
			expect(shop.charges).toBe(3);
			expect(run.json.map(({ hash }) => hash)).toEqual(shop.hashes);
			expect(JSON.stringify(run.hints)).toContain(
				`The customer of item 1 was already charged. Returning transaction ${shop.hashes[0]}.`,
			);
		});

		test('sends nothing again whose outcome is not known', async () => {
			shop.fault('lose');

			const run = await shop.run(shop.parameters(), { settings: RETRY_ON_FAIL });

			expect(run.status).toBe('error');
			expect(run.node?.error?.message).toBe(
				'The customer may already have been charged, so nothing was sent',
			);
			expect(run.node?.error?.description).toContain(
				'got no usable answer. Details: cart 2 x Curso de Fotografia',
			);
			expect([shop.posts, shop.charges]).toEqual([1, 1]);
		});

		test('charges nobody twice if failed items continue as items', async () => {
			shop.fault('refuse');

			await shop.run(shop.parameters(), {
				settings: { ...RETRY_ON_FAIL, onError: 'continueRegularOutput' },
				items: [{}, {}],
			});

			expect(shop.charges).toBe(2);
		});

		test('an error names what this run has charged, whichever try it was', async () => {
			shop.account.fault('charge', { kind: 'status', status: 422, after: 2 }, 'always');

			const run = await shop.run(shop.parameters(), { settings: RETRY_ON_FAIL, items: ITEMS });

			expect(run.status).toBe('error');
			expect(errorOf(run)).toContain(
				`Already created in this execution: item 1 is ${shop.hashes[0]}; item 2 is ${shop.hashes[1]}.`,
			);
			expect(errorOf(run)).not.toContain('Nothing was created');
		});
	});

	test('an error names every charge that was made', async () => {
		shop.fault('refuse', 102);

		const run = await shop.run(shop.parameters(), {
			items: Array.from({ length: 103 }, () => ({})),
		});

		expect(errorOf(run)).toMatch(
			/a new execution may create them again: use Retry under Executions.*\n.*run this again/s,
		);
		expect(errorOf(run)).toContain(
			`Already created in this execution: ${shop.hashes
				.slice(0, 102)
				.map((hash, index) => `item ${index + 1} is ${hash}`)
				.join('; ')}.`,
		);
	});

	test('two items of one run, and two runs of a node, are charges of their own', async () => {
		await shop.run(shop.parameters(), { items: [{}, {}] });
		await shop.run(shop.parameters());

		expect(shop.charges).toBe(3);
	});

	describe('the Retry of an execution', () => {
		test('that failed at an item returns what exists and charges what is missing, once in total', async () => {
			shop.fault('refuse', 2);
			const first = await shop.run(shop.parameters(), { items: ITEMS });
			const retries = [];
			for (let nth = 0; nth < 3; nth++) retries.push(await shop.retry(shop.parameters(), first));

			expect(first.status).toBe('error');
			for (const retry of retries) {
				expect(retry.json.map(({ hash }) => hash)).toEqual(shop.hashes);
			}
			expect(shop.charges).toBe(3);
		});

		test('with a mistake in the form still lists what was charged', async () => {
			shop.fault('refuse', 2);
			const first = await shop.run(shop.parameters(), { items: ITEMS });
			const document = '={{ $json.n === 3 ? "1" : "529.982.247-25" }}';
			const retry = await shop.retry(
				shop.parameters(undefined, { customerDocument: document }),
				first,
			);

			expect(errorOf(retry)).toContain('Customer CPF or CNPJ');
			expect(errorOf(retry)).toContain(
				`Already created in this execution: item 1 is ${shop.hashes[0]}`,
			);
		});

		test('after a restart returns what the execution itself has stored', async () => {
			shop.fault('refuse', 2);
			const first = await shop.run(shop.parameters(), { items: ITEMS });

			const process = NodeProcess.fresh();
			const retry = await shop.retry(shop.parameters(), first, { process });
			const again = await shop.retry(shop.parameters(), first, { process: NodeProcess.fresh() });

			expect(retry.json.map(({ hash }) => hash)).toEqual(shop.hashes);
			expect(again.status).toBe('error');
			expect(errorOf(again)).toContain('The customer of item 3 may already have been charged');
			expect(shop.charges).toBe(3);
		});

		test('of an unknown outcome is refused, until its code is given once', async () => {
			shop.fault('drop');
			const first = await shop.run(shop.parameters());
			const second = await shop.retry(shop.parameters(), first, { process: NodeProcess.fresh() });
			const parameters = shop.parameters(undefined, { options: { repeatCode: codeIn(second) } });
			const third = await shop.retry(parameters, first, { process: NodeProcess.fresh() });

			expect([first.status, second.status, third.status]).toEqual(['error', 'error', 'success']);
			expect(shop.charges).toBe(1);
		});

		test('with a corrected cart refuses customers already charged, and names both amounts', async () => {
			shop.fault('refuse', 1);
			const first = await shop.run(shop.parameters(), { items: [{}, {}] });
			const { cart } = pixParameters(shop.account.sandbox) as { cart: { items: object[] } };
			const dearer = { items: cart.items.map((item) => ({ ...item, price: '29,90' })) };
			const retry = await shop.retry(shop.parameters(undefined, { cart: dearer }), first);

			expect(retry.node?.error?.message).toBe(
				'Item 1 was already charged, so the changed charge was not sent',
			);
			expect(errorOf(retry)).toMatch(
				new RegExp(
					`The existing transaction is ${shop.hashes[0]} \\(cart .*; amount R\\$ 39,80; .*\\)\\.`,
				),
			);
			expect(errorOf(retry)).toMatch(/Asked for now: cart .*; amount R\$ 59,80; /);
			expect(shop.charges).toBe(1);
		});

		test('with another amount, after an unknown outcome, describes what may exist', async () => {
			shop.fault('lose');
			const first = await shop.run(shop.parameters());
			const dearer = (options = {}) =>
				shop.parameters(undefined, { additionalFields: { amount: '50' }, options });
			const refused = await shop.retry(dearer(), first);

			expect(errorOf(refused)).toContain('A customer may already have been charged for item 1');
			expect(errorOf(refused)).toMatch(/Details: cart .*; amount R\$ 39,80; /);
			expect(errorOf(refused)).toMatch(/Asked for now: cart .*; amount R\$ 50,00; /);
			const again = await shop.retry(dearer({ repeatCode: codeIn(refused) }), first);
			expect([again.status, shop.charges]).toEqual(['success', 2]);
		});

		test('never returns a charge that has expired by now, and makes a new one, once', async () => {
			shop.fault('refuse', 1);
			const withOrder = shop.parameters('={{ "order-" + $json.n }}');
			const first = await shop.run(withOrder, { items: [{ n: 1 }, { n: 2 }] });
			await shop.account.sandbox.setStatus(shop.hashes[0] ?? '', 'expired');
			const retry = await shop.retry(withOrder, first);
			const again = await shop.retry(withOrder, first);

			expect(retry.json[0]?.hash).toBe(again.json[0]?.hash);
			expect(retry.json[0]?.payment_status).toBe('waiting_payment');
			expect(shop.charges).toBe(3);
			// Another process knows only the void one, and that another was made since.
			const elsewhere = await shop.retry(withOrder, first, { process: NodeProcess.fresh() });
			expect(errorOf(elsewhere)).toContain('may already have been charged for order "order-1"');
			expect(shop.charges).toBe(3);
		});

		test('of two equal charges that are void by now makes each anew, once', async () => {
			const parameters = shop.parameters(undefined, OWN_DOCUMENT);
			const executions: NodeOutcome[] = [];
			for (let nth = 0; nth < 2; nth++) {
				shop.fault('refuse', 1);
				executions.push(await shop.run(parameters, { items: ITEMS.slice(0, 2) }));
			}
			for (const hash of shop.hashes) await shop.account.sandbox.setStatus(hash, 'expired');
			for (const execution of [...executions, ...executions]) {
				expect((await shop.retry(parameters, execution)).status).toBe('success');
			}

			expect(shop.charges).toBe(2 + 4);
		});

		test('that began in the same millisecond as another one is told from it', async () => {
			const now = jest.spyOn(Date, 'now').mockReturnValue(Date.now());
			shop.fault('refuse');
			const failed = await shop.run(shop.parameters());
			const other = await shop.run(shop.parameters());
			const retry = await shop.retry(shop.parameters(), failed, { process: NodeProcess.fresh() });
			now.mockRestore();

			expect([failed.status, other.status, retry.status]).toEqual(['error', 'success', 'success']);
			expect(shop.charges).toBe(2);
		});

		test('tells of other data under its order that may have been charged since', async () => {
			const of50 = { additionalFields: { amount: '50' } };
			shop.fault('drop');
			const first = await shop.run(shop.parameters('order-1'));
			const refused = await shop.run(shop.parameters('order-1', of50));
			shop.fault('lose');
			const options = { repeatCode: codeIn(refused) };
			await shop.run(shop.parameters('order-1', { ...of50, options }));

			const retry = await shop.retry(shop.parameters('order-1'), first);

			expect(shop.charges).toBe(1);
			expect(errorOf(retry)).toContain('Also: A customer may already have been charged for order');
		});
	});

	describe('the Retry of an execution that crashed', () => {
		const START = { name: 'Start', finished: true };
		const STARTED = [START, { name: 'Digital Sales', finished: false }];
		const parameters = () => shop.parameters(undefined, OWN_DOCUMENT);
		/** Charges the first items; the Retry is given all of them, in this order. */
		const crash = async (nodes: typeof STARTED, charged: number, retried = ITEMS) => {
			const items = ITEMS.slice(0, charged);
			const run = await shop.run(parameters(), { items, process: NodeProcess.fresh() });
			const stack = run.begun.executionData?.nodeExecutionStack[0];
			const given = retried.map((json) => ({ json }));
			stack?.data.main?.splice(0, 1, given);
			return crashedData(run.begun, nodes);
		};
		const continued = { process: NodeProcess.fresh(), continueOnFail: true };

		test('never repeats a charge that was answered; the rest is charged once', async () => {
			const retryOf = await crash(STARTED, 2);
			const retries = [
				await shop.run(parameters(), { ...continued, retryOf }),
				await shop.run(parameters(), { ...continued, retryOf }),
			];

			for (const { json } of retries) {
				expect(errorIn(json[0])).toMatchObject({
					message: expect.stringContaining('The customer of item 1 may already have been charged'),
					outcome: 'unknown',
				});
				expect(errorIn(json[1]).message).toContain(
					'The customer of item 2 may already have been charged',
				);
				expect(json[2]?.hash).toBe(shop.hashes[2]);
			}
			expect(shop.charges).toBe(3);
		});

		test('stops if the node stops at errors, and says how the other items can continue', async () => {
			const retryOf = await crash(STARTED, 2);
			const retry = await shop.run(parameters(), { retryOf, process: NodeProcess.fresh() });

			expect(retry.status).toBe('error');
			expect(errorOf(retry)).toContain('set On Error to Continue in the Settings of this node');
			expect(shop.charges).toBe(2);
		});

		test.each([
			['after the node had finished', [START, { name: 'Digital Sales', finished: true }]],
			['with the node first in the workflow', [...STARTED].reverse()],
		])('%s knows its place, whatever run index n8n gives it', async (_when, nodes) => {
			const retryOf = await crash(nodes, 3);
			const retry = await shop.run(parameters(), { ...continued, retryOf });

			expect(retry.json.map(({ error }) => Boolean(error))).toEqual([true, true, true]);
			expect(shop.charges).toBe(3);
		});

		test('charges nobody again if its input comes in another order', async () => {
			// What a query before the node gives now: the newest first.
			const retryOf = await crash(STARTED, 2, [{ n: 3 }, { n: 1 }, { n: 2 }]);
			const retry = await shop.run(parameters(), { ...continued, retryOf });

			// A customer now in the place of a charged one is refused too: the cart may have been corrected.
			expect(retry.json.map(({ error }) => Boolean(error))).toEqual([true, true, true]);
			expect(errorIn(retry.json[0]).message).toContain('A customer may already have been charged');
			expect(shop.charges).toBe(2);
		});
	});

	test('another node and a copy of the workflow know nothing of it', async () => {
		shop.fault('lose');
		await shop.run(shop.parameters('order-1'));
		const copy = await shop.run(shop.parameters('order-1'), { workflowId: 'a copy' });
		const other = await shop.run(shop.parameters('order-1'), { name: 'Another node' });

		expect([copy.status, other.status]).toEqual(['success', 'success']);
		expect(shop.charges).toBe(3);
	});
});

/** What n8n stores of the node with the execution. */
const memorySchema = z.object({ digitalSales: z.object({ attempts: jsonObject }) });

describe('What an execution has charged before', () => {
	const shop = useShop();

	test('is not read again by each run of a loop', async () => {
		const RUNS = 5;
		let runs = 0;
		let looks = 0;
		let stored: z.output<typeof memorySchema>['digitalSales'] = { attempts: {} };
		/** Ends the loop after some runs; from the first on counts who looks at what PIX had stored. */
		const watch = double(async function (this: IExecuteFunctions) {
			stored = this.getWorkflowDataProxy(0).$node.PIX.context.digitalSales;
			if (runs === 0) {
				stored.attempts = new Proxy(stored.attempts, {
					get: (attempts, spot) => {
						if (spot in attempts) looks++;
						return Reflect.get(attempts, spot);
					},
				});
			}
			return [++runs < RUNS ? this.getInputData() : []];
		});
		const run = await runWorkflow({
			credentials: shop.account.credentials,
			mode: 'trigger',
			nodes: [
				{ name: 'Start', type: START_TYPE },
				{ name: 'PIX', type: ACTION_TYPE, parameters: shop.parameters() },
				{ name: 'Watch', type: 'test.watch' },
			],
			nodeTypes: { 'test.watch': watch },
			connections: connect({ Start: 'PIX', PIX: 'Watch', Watch: 'PIX' }),
		});

		expect([run.status, shop.charges]).toEqual(['success', RUNS]);
		expect(looks).toBe(0);
		expect(Object.keys(stored.attempts)).toHaveLength(RUNS);
	});

	test('is known in a Retry, except for what is damaged', async () => {
		shop.fault('refuse', 2);
		const first = await shop.run(shop.parameters(), { items: [{}, {}, {}] });
		const contexts = first.run?.data.executionData?.contextData ?? {};
		const { attempts } = memorySchema.parse(contexts['node:Digital Sales']).digitalSales;
		const [ofItem1 = ''] = Object.keys(attempts);
		attempts[ofItem1] = { state: 'made' };

		const { json } = await shop.retry(shop.parameters(), first, {
			process: NodeProcess.fresh(),
			continueOnFail: true,
		});

		expect(errorIn(json[0]).message).toContain('may already have been charged');
		expect(json.slice(1).map(({ hash }) => hash)).toEqual(shop.hashes.slice(1));
		expect(shop.charges).toBe(3);
	});
});
