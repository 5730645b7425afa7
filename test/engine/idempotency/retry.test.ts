import type { IDataObject, IRunExecutionData } from 'n8n-workflow';
import {
	ACTION_TYPE,
	connect,
	crashedData,
	runWorkflow,
	START_TYPE,
	testDouble,
} from '../../helpers/engine';
import { errorIn } from '../../helpers/account';
import {
	type Ask,
	customers,
	decide,
	errorOf,
	MAYBE,
	OWN_CUSTOMER,
	RETRY_ON_FAIL,
	otherProcess,
	useShop,
} from '../../helpers/charging';

const ITEMS = [{ n: 1 }, { n: 2 }, { n: 3 }];
/** Another customer for each item. */
const DOCUMENTS = ['529.982.247-25', '111.444.777-35', '123.456.789-09'];
const FIFTY = { additionalFields: { customFields: { amount: 5000 } } };
const OWN_DOCUMENT = { customerDocument: `={{ ${JSON.stringify(DOCUMENTS)}[$json.n - 1] }}` };

describe('A charge that n8n requests again is made once:', () => {
	const shop = useShop();

	describe('an error output that leads back to the node', () => {
		const runLoop = async (items: IDataObject[]) => {
			const back = { node: 'Digital Sales', type: 'main', index: 0 } as const;
			return await runWorkflow({
				id: shop.workflowId,
				mode: 'trigger',
				credentials: shop.account.credentials,
				startItems: items,
				nodes: [
					{ name: 'Start', type: START_TYPE },
					{
						name: 'Digital Sales',
						type: ACTION_TYPE,
						onError: 'continueErrorOutput',
						...RETRY_ON_FAIL,
						parameters: shop.parameters(undefined, {
							customerDocument: '={{ $("Start").itemMatching($itemIndex).json.document }}',
						}),
					},
				],
				connections: {
					...connect({ Start: 'Digital Sales' }),
					'Digital Sales': { main: [[], [back]] },
				},
			});
		};

		test.each([
			[500, 1],
			[404, 4],
		])(
			'charges nobody again whose charge the second try could not read (%i)',
			async (status, times) => {
				shop.fault('refuse');
				shop.account.fault('read', { kind: 'status', status }, times);
				await runLoop(DOCUMENTS.slice(0, 2).map((document) => ({ document })));

				expect(shop.charges).toBe(2);
			},
		);

		test('charges a refused item in a later run, although an equal item was refused', async () => {
			shop.fault('refuse');
			const [document] = DOCUMENTS;
			await runLoop([{ document }, { document }]);

			expect(shop.charges).toBe(1);
		});
	});

	describe('Retry On Fail', () => {
		test('charges nobody again who was charged by the first try', async () => {
			shop.fault('refuse', 1);

			const run = await shop.charge({ settings: RETRY_ON_FAIL, items: ITEMS, more: OWN_DOCUMENT });

			expect(shop.charges).toBe(3);
			expect(run.json.map(({ hash }) => hash).sort()).toEqual(shop.hashes.sort());
			expect(JSON.stringify(run.hints)).toContain(': The customer was already charged.');
		});

		test('does not repeat a charge whose outcome is unknown', async () => {
			shop.fault('loseAnswer');

			const { node } = await shop.ask({ settings: RETRY_ON_FAIL });

			expect(node?.error?.message).toBe(`The customer ${MAYBE}, so this item was not sent`);
			expect(node?.error?.description).toContain(
				'got no usable answer. Details: cart 2 x Curso de Fotografia',
			);
			expect([shop.posts, shop.charges]).toEqual([1, 1]);
		});

		test('charges nobody twice under On Error: Continue', async () => {
			shop.fault('refuse');
			const settings = { ...RETRY_ON_FAIL, onError: 'continueRegularOutput' } as const;

			await shop.ask({ settings, items: ITEMS.slice(0, 2), more: OWN_DOCUMENT });

			expect(shop.charges).toBe(2);
		});

		test('lists the charges of all tries in the error', async () => {
			shop.account.fault('charge', { kind: 'status', status: 422, after: 2 }, 'always');
			const run = await shop.ask({ settings: RETRY_ON_FAIL, items: ITEMS, more: OWN_DOCUMENT });

			expect(errorOf(run)).toContain(
				`Already created in this execution: item 0 is ${shop.hashes[0]}; item 1 is ${shop.hashes[1]}.`,
			);
			expect(errorOf(run)).not.toContain('Nothing was created');
		});
	});

	test('the error of a failed run lists every charge that was made', async () => {
		shop.fault('refuse', 11);

		const run = await shop.ask({ items: customers(12), more: OWN_CUSTOMER });

		expect(errorOf(run)).toMatch(
			/^The platform did not .*\n.*then use Retry with currently saved workflow.*\nA new execution would create again the successful items that had no Order Reference, so use Retry under Executions/s,
		);
		const made = shop.hashes.slice(0, 11).map((hash, index) => `item ${index} is ${hash}`);
		expect(errorOf(run)).toContain(`Already created in this execution: ${made.join('; ')}.`);
	});

	test('an error item under On Error: Continue does not list the charges of other items', async () => {
		shop.fault('loseAnswer', 1);
		const items = [{ n: 1 }, { n: 2 }, { n: 2 }];
		const { json } = await shop.ask({ more: OWN_DOCUMENT, items, continueOnFail: true });

		expect(errorIn(json[2]).message).toContain(MAYBE);
		expect(JSON.stringify(json[2])).not.toContain(shop.hashes[0]);
	});

	describe('the Retry of an execution', () => {
		/** Charges this many items. The next item is refused. */
		const refusedAfter = async (charged: number, ask: Ask = {}) => {
			shop.fault('refuse', charged);
			return await shop.ask({ more: OWN_DOCUMENT, items: ITEMS.slice(0, charged + 1), ...ask });
		};

		test('with a mistake in the form still lists the charges that were made', async () => {
			const first = await refusedAfter(2);
			const customerDocument = '={{ $json.n === 3 ? "1" : "529.982.247-25" }}';
			const retry = await shop.ask({ retrying: first, more: { customerDocument } });

			expect(errorOf(retry)).toContain('Customer CPF or CNPJ');
			expect(errorOf(retry)).toContain(
				`Already created in this execution: item 0 is ${shop.hashes[0]}`,
			);
		});

		test('with a changed cart refuses a charged customer, and the error names both amounts', async () => {
			const first = await refusedAfter(1);
			const { cart } = shop.parameters() as { cart: { items: object[] } };
			const dearer = { items: cart.items.map((item) => ({ ...item, price: '29,90' })) };
			const retry = await shop.ask({ retrying: first, more: { ...OWN_DOCUMENT, cart: dearer } });

			expect(retry.node?.error?.message).toBe(
				'This item already has its charge, so the changed charge was not sent',
			);
			expect(errorOf(retry)).toMatch(
				new RegExp(
					`The existing charge is ${shop.hashes[0]} \\(cart .*; amount R\\$ 39,80; .*\\)\\.`,
				),
			);
			expect(errorOf(retry)).toMatch(/Asked for now: cart .*; amount R\$ 59,80; /);
			expect(shop.charges).toBe(1);
		});

		test('charges nobody twice whose place another customer had by mistake when nothing was sent', async () => {
			const cents = (amount: string) => ({ additionalFields: { customFields: amount } });
			const list = (amount: string, document = OWN_DOCUMENT.customerDocument) => ({
				items: ITEMS,
				more: { customerDocument: document, ...cents(amount) },
			});
			const wrong = list('={{ { amount: $json.n === 2 ? 0 : 5000 } }}', DOCUMENTS[2]);
			const nothing = await shop.ask(wrong);
			shop.account.fault('charge', { kind: 'delay', ms: 500 });
			shop.fault('refuse');
			const some = await shop.ask({ ...list('{"amount": 5000}'), retrying: nothing });
			expect(shop.charges).toBe(2);
			const dearer = list('={{ { amount: $json.n === 3 ? 6000 : 5000 } }}');

			expect(errorOf(await shop.ask({ ...dearer, retrying: some }))).toContain('already has its');
			expect(shop.charges).toBe(2);
		});

		test('with another amount is refused after an unknown outcome, and the error describes the charge that may exist', async () => {
			shop.fault('loseAnswer');
			const dearer = { retrying: await shop.ask(), more: FIFTY };
			const refused = await shop.ask(dearer);

			expect(errorOf(refused)).toContain(`The customer ${MAYBE}, so this item was not sent`);
			expect(errorOf(refused)).toMatch(/Details: cart .*; amount R\$ 39,80; /);
			expect(errorOf(refused)).toContain('cancel it on your platform first');
			await shop.charge({ ...dearer, ...decide() });
			expect(shop.charges).toBe(2);
		});
	});

	describe('the Retry of an execution that crashed', () => {
		const START = { name: 'Start', finished: true };
		const STARTED = [START, { name: 'Digital Sales', finished: false }];
		/** Charges the first items. The Retry gets all items, in this order. */
		const crash = async (nodes: typeof STARTED, charged: number, retried = ITEMS) => {
			const items = ITEMS.slice(0, charged);
			const { begun } = await shop.ask({ more: OWN_DOCUMENT, items, ...otherProcess() });
			const [stack] = begun.executionData?.nodeExecutionStack ?? [];
			const given = retried.map((json) => ({ json }));
			stack?.data.main?.splice(0, 1, given);
			return { retryOf: crashedData(begun, nodes), more: OWN_DOCUMENT, ...otherProcess() };
		};

		test.each<[string, string[], string[]]>([
			['in another order', ['1'], ['2', '1']],
			['after a mistake of an earlier item was corrected', ['x', '2'], ['1', '2']],
		])('charges no cart of a customer again %s', async (_what, first, second) => {
			const cartOf = (quantities: string[]) => ({
				cart: {
					items: [
						{
							offerHash: shop.offer,
							price: '10',
							quantity: `={{ ${JSON.stringify(quantities)}[$itemIndex] }}`,
						},
					],
				},
			});
			const made = first.at(-1);
			const items = second.map(() => ({}));
			const { begun } = await shop.ask({
				items: items.slice(0, first.length),
				more: cartOf(first),
				continueOnFail: true,
			});
			const retryOf = crashedData(begun, [{ name: 'Digital Sales', finished: false }]);
			await shop.ask({
				...{ items, more: cartOf(second), continueOnFail: true, retryOf },
				...otherProcess(),
			});
			const sent = shop.account.bodies().map(({ cart }) => JSON.stringify(cart));

			expect(sent.filter((cart) => cart.includes(`"quantity":${made}`))).toHaveLength(1);
		});

		test('returns what was charged, and makes missing charges once', async () => {
			const retry = await crash(STARTED, 2);
			const runs = [await shop.charge(retry), await shop.charge({ ...retry, ...otherProcess() })];

			for (const { json } of runs) {
				expect(json.map(({ hash }) => hash)).toEqual(shop.hashes);
				expect(json.map((item) => item.already_charged)).toEqual([false, false, false]);
			}
			expect(shop.charges).toBe(3);
		});

		test('stops at a charge that may exist, and the error says what to do', async () => {
			shop.fault('loseAnswer', 1);
			const retry = await shop.ask(await crash(STARTED, 2));

			expect(errorOf(retry)).toContain('Options > Charges in Doubt > Add Decision');
			expect(shop.charges).toBe(2);
		});

		test.each([
			['after the node had finished', [START, { name: 'Digital Sales', finished: true }]],
			['with Start as the last node that n8n recorded', [...STARTED].reverse()],
		])('charges nobody again %s', async (_when, nodes) => {
			const retry = await shop.charge(await crash(nodes, 3));

			expect(retry.json.map(({ hash }) => hash)).toEqual(shop.hashes);
			expect(shop.charges).toBe(3);
		});

		test('charges nobody again if its input comes in another order', async () => {
			// The query before the node now returns the newest item first.
			const retry = await shop.charge(await crash(STARTED, 2, [{ n: 3 }, { n: 1 }, { n: 2 }]));
			const [one, two, three] = shop.hashes;

			expect(retry.json.map(({ hash }) => hash)).toEqual([three, one, two]);
			expect(shop.charges).toBe(3);
		});
	});

	test('the Retry of a loop that crashed charges nobody again if the list has become shorter', async () => {
		/** Charges one customer after the other. */
		const loop = async (list: IDataObject[], retryOf?: IRunExecutionData) => {
			const [first = {}, ...others] = list;
			const next = testDouble(async () => [others.splice(0, 1).map((json) => ({ json }))]);
			return await runWorkflow({
				id: shop.workflowId,
				credentials: shop.account.credentials,
				mode: 'trigger',
				startItems: [first],
				retryOf,
				...otherProcess(),
				nodes: [
					{ name: 'Start', type: START_TYPE },
					{ name: 'PIX', type: ACTION_TYPE, parameters: shop.parameters(undefined, OWN_DOCUMENT) },
					{ name: 'Next', type: 'test.next' },
				],
				nodeTypes: { 'test.next': next },
				connections: connect({ Start: 'PIX', PIX: 'Next', Next: 'PIX' }),
			});
		};
		const { begun } = await loop(ITEMS);
		const [stack] = begun.executionData?.nodeExecutionStack ?? [];
		// The query before the loop now omits the first row, which is marked as charged.
		stack?.data.main?.splice(0, 1, [{ json: { n: 2 } }]);
		const crashed = crashedData(begun, [
			{ name: 'Start', finished: true },
			{ name: 'PIX', finished: false },
		]);
		const { data } = await loop([{ n: 2 }], crashed);

		expect(data.PIX?.items[0]?.json).toMatchObject({
			hash: shop.hashes[1],
			already_charged: false,
		});
		expect(shop.charges).toBe(3);
	});

	test('another node and a copy of the workflow do not know of a doubt, and charge again', async () => {
		const ask = { order: 'order-1' };
		shop.fault('loseAnswer');
		await shop.ask(ask);
		await shop.charge({ ...ask, workflowId: 'a copy' });
		await shop.charge({ ...ask, name: 'Another node' });

		expect(shop.charges).toBe(3);
	});

	test('the Retry of a node that was made again under its name knows of its doubt', async () => {
		shop.fault('loseAnswer');
		const failed = await shop.ask({});
		const retried = await shop.ask({ retrying: failed, settings: { id: 'made-again' } });

		expect(errorOf(retried)).toContain('may already have been charged');
		expect(shop.charges).toBe(1);
	});

	test.each(['expired', 'canceled'])(
		'a Retry that makes an %s charge again says so, because another execution may have charged the customer since',
		async (status) => {
			const list = { items: ITEMS, more: OWN_DOCUMENT };
			shop.fault('refuse', 2);
			const failed = await shop.ask(list);
			const [first = ''] = shop.hashes;
			await shop.account.sandbox.setStatus(first, status);
			await shop.charge({ ...list, items: ITEMS.slice(0, 1) });
			const retried = await shop.charge({ ...list, retrying: failed });

			expect(JSON.stringify(retried.hints)).toContain(first);
		},
	);
});
