import type { INodeParameters } from 'n8n-workflow';
import { clock } from '../../../nodes/DigitalSales/api/clock';
import { processState } from '../../../nodes/DigitalSales/api/processState';
import { NodeProcess, runNode, type NodeOutcome, type NodeRunOptions } from '../harness';
import { openAccount, pixParameters, type Account } from '../support/account';

/** n8n's Retry On Fail, without its pause. */
const RETRY = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };

describe('A charge is made once', () => {
	let account: Account;

	beforeAll(async () => {
		account = await openAccount();
	});
	beforeEach(() => {
		account.reset();
		processState.charges.clear();
	});
	afterAll(async () => await account.sandbox.close());

	const parameters = (reference?: string, more: INodeParameters = {}): INodeParameters =>
		pixParameters(account.sandbox, {
			additionalFields: reference === undefined ? {} : { orderReference: reference },
			...more,
		});
	const production = async (
		given: INodeParameters,
		options: NodeRunOptions = {},
	): Promise<NodeOutcome> =>
		await runNode(given, { credentials: account.credentials, mode: 'trigger', ...options });
	/** The first try ends with an error after it has charged the customer of item 0. */
	const threeChargesInTwoTries = async (): Promise<NodeOutcome> => {
		account.sandbox.addFault({
			endpoint: 'POST /transactions',
			kind: 'status',
			status: 422,
			after: 1,
		});
		return await production(parameters(), { settings: RETRY, items: [{}, {}, {}] });
	};
	const posts = (): number =>
		account.sandbox.requests.filter(({ method }) => method === 'POST').length;

	test('an outcome that is not known says what it was about and what to do', async () => {
		account.sandbox.addFault({ endpoint: 'POST /transactions', kind: 'resetAfterProcessing' });

		const { message, description } = await account.fail(parameters());

		expect(message).toContain('It is not known whether the service did this');
		expect(description).toContain('2 x Curso de Fotografia');
		expect(description).toContain('R$ 39,80');
		expect(description).toContain('document ending in 4725');
		expect(description).not.toContain('52998224725');
		expect(description).toContain('may charge the customer twice');
	});

	test('Retry On Fail sends nothing again whose outcome is not known', async () => {
		account.sandbox.addFault({ endpoint: 'POST /transactions', kind: 'resetAfterProcessing' });

		const run = await production(parameters(), { settings: RETRY });

		expect(run.status).toBe('error');
		expect(run.node?.error?.message).toBe(
			'It is not known whether this was charged before, so it was not charged again',
		);
		expect(run.node?.error?.description).toContain(
			'An earlier try in this execution got no usable answer. It was about: cart 2 x Curso de Fotografia',
		);
		expect(posts()).toBe(1);
		expect(account.sandbox.charges()).toBe(1);
	});

	test('Retry On Fail charges nobody again who was charged in the first try', async () => {
		const run = await threeChargesInTwoTries();

		expect(run.status).toBe('success');
		expect(account.sandbox.charges()).toBe(3);
		expect(run.json.map(({ hash }) => hash)).toEqual(
			account.sandbox.transactions.map(({ hash }) => hash),
		);
		expect(JSON.stringify(run.hints)).toContain(
			'The customer of item 0 had been charged before; no second charge was made',
		);
	});

	test('what a first try charged is kept among the latest 10,000 charges', async () => {
		const { charges } = processState;
		for (let index = 0; index < 10_000; index++) {
			charges.set(`other ${index}`, { state: 'made', hash: 'abc123' });
		}
		const run = await threeChargesInTwoTries();

		expect(run.status).toBe('success');
		expect(account.sandbox.charges()).toBe(3);
		expect(charges.size).toBe(10_000);
		expect(['other 2', 'other 3'].filter((key) => charges.has(key))).toEqual(['other 3']);
	});

	test('Retry On Fail charges nobody twice where failed items go on as items', async () => {
		account.sandbox.addFault({ endpoint: 'POST /transactions', kind: 'status', status: 422 });

		await production(parameters(), {
			settings: { ...RETRY, onError: 'continueRegularOutput' },
			items: [{}, {}],
		});

		expect(account.sandbox.charges()).toBe(2);
	});

	test('two items of one run, and two runs of a node, are charges of their own', async () => {
		await production(parameters(), { items: [{}, {}] });
		await production(parameters());

		expect(account.sandbox.charges()).toBe(3);
	});

	describe('Order Reference', () => {
		/** One workflow for all runs of a test, as far as they say so. */
		const shop = { workflowId: 'shop of several processes' };

		test('a repeat gives the existing transaction', async () => {
			const first = await production(parameters('order-1'));
			const second = await production(parameters('order-1'), { staticData: first.staticData });

			expect(second.json[0]?.hash).toBe(first.json[0]?.hash);
			expect(account.sandbox.charges()).toBe(1);
			expect(second.hints).toEqual([
				{
					message: `The customer had been charged before under order reference "order-1"; no second charge was made, and the existing transaction ${String(first.json[0]?.hash)} is given.`,
					location: 'outputPane',
				},
			]);
		});

		test('it is not sent to the service', async () => {
			await production(parameters('order-secret-name'));

			expect(JSON.stringify(account.sandbox.requests)).not.toContain('order-secret-name');
		});

		test('it holds over a restart', async () => {
			const first = await production(parameters('order-1'), { process: NodeProcess.fresh() });
			const second = await production(parameters('order-1'), {
				process: NodeProcess.fresh(),
				staticData: first.staticData,
			});

			expect(second.json[0]?.hash).toBe(first.json[0]?.hash);
			expect(account.sandbox.charges()).toBe(1);
		});

		describe('where n8n hands no static data over', () => {
			const LOST = 'has not kept the order references';
			const { now } = clock;
			const later = (minutes: number): void => {
				clock.now = () => now() + minutes * 60_000;
			};
			const worker = { workflowId: 'shop of a worker' };

			beforeEach(async () => {
				processState.orders.clear();
				processState.ordersStoredAt.clear();
				await production(parameters('order-1'), worker);
			});
			afterEach(() => {
				clock.now = now;
			});

			test('it is said, and what other nodes keep there is not replaced', async () => {
				later(6);

				const { hints, logs, staticData } = await production(parameters('order-2'), worker);

				expect(JSON.stringify(hints)).toContain(LOST);
				expect(logs.filter(({ level }) => level === 'warn')).toHaveLength(1);
				expect(JSON.stringify(staticData)).not.toContain('order-2');
			});

			test('it is said from the first order on that was kept, however many came since', async () => {
				later(4);
				await production(parameters('order-2'), worker);
				later(6);

				const { hints } = await production(parameters('order-3'), worker);

				expect(JSON.stringify(hints)).toContain(LOST);
			});

			test('nothing is said where only manual runs were before', async () => {
				processState.ordersStoredAt.clear();
				await production(parameters('order-2'), { ...worker, mode: 'manual' });
				later(6);

				const { hints } = await production(parameters('order-3'), worker);

				expect(JSON.stringify(hints)).not.toContain(LOST);
			});

			test.each([
				['an execution before may still be running', 4, {}],
				['a manual run keeps none anyway', 6, { mode: 'manual' as const }],
				[
					'the references are there',
					6,
					{ staticData: { global: { digitalSalesOrders: [['order-1', 'x']] } } },
				],
			])('nothing is said where %s', async (_why, minutes, options) => {
				later(minutes);

				const { hints } = await production(parameters('order-2'), { ...worker, ...options });

				expect(JSON.stringify(hints)).not.toContain(LOST);
			});
		});

		test('one process after another learns what the other has charged', async () => {
			const here = NodeProcess.fresh();
			const there = NodeProcess.fresh();
			const first = await production(parameters('order-1'), { ...shop, process: here });
			const second = await production(parameters('order-2'), {
				...shop,
				process: there,
				staticData: first.staticData,
			});
			const again = await production(parameters('order-2'), {
				...shop,
				process: here,
				staticData: second.staticData,
			});

			expect(again.json[0]?.hash).toBe(second.json[0]?.hash);
			expect(account.sandbox.charges()).toBe(2);
		});

		test('a charge in doubt here is not made again where another process has made it', async () => {
			const here = NodeProcess.fresh();
			account.sandbox.addFault({ endpoint: 'POST /transactions', kind: 'resetBeforeProcessing' });
			const first = await production(parameters('order-1'), { ...shop, process: here });
			const clearing = parameters('order-1', { options: { orderInDoubt: 'chargeAgain' } });
			const second = await production(clearing, {
				...shop,
				process: NodeProcess.fresh(),
				staticData: first.staticData,
			});
			const again = await production(clearing, {
				...shop,
				process: here,
				staticData: second.staticData,
			});

			expect(again.json[0]?.hash).toBe(second.json[0]?.hash);
			expect(account.sandbox.charges()).toBe(1);
		});

		test('what is known here is not forgotten for what an older state of the workflow says', async () => {
			const here = NodeProcess.fresh();
			const first = await production(parameters('order-1'), { ...shop, process: here });
			const digitalSalesOrders = [['order-1', '?2026-01-01T00:00:00.000Z']];
			const again = await production(parameters('order-1'), {
				...shop,
				process: here,
				staticData: { global: { digitalSalesOrders } },
			});

			expect(again.json[0]?.hash).toBe(first.json[0]?.hash);
			expect(account.sandbox.charges()).toBe(1);
		});

		test('another order leaves the time of a doubt as it is', async () => {
			const digitalSalesOrders = [['order-1', '?2026-01-01T00:00:00.000Z']];
			const { staticData } = await production(parameters('order-2'), {
				process: NodeProcess.fresh(),
				staticData: { global: { digitalSalesOrders } },
			});

			expect(JSON.stringify(staticData)).toContain('["order-1","?2026-01-01T00:00:00.000Z"]');
		});

		test('the same reference twice in one run is one charge', async () => {
			const { json } = await production(parameters('order-1'), { items: [{}, {}] });

			expect(json[0]?.hash).toBe(json[1]?.hash);
			expect(account.sandbox.charges()).toBe(1);
		});

		test('simultaneous executions make one charge', async () => {
			account.sandbox.addFault({
				endpoint: 'POST /transactions',
				kind: 'delay',
				ms: 50,
				times: 'always',
			});
			const runs = await Promise.all(
				Array.from(
					{ length: 5 },
					async () => await production(parameters('order-1'), { workflowId: 'shop' }),
				),
			);

			expect(account.sandbox.charges()).toBe(1);
			expect(runs.filter(({ status }) => status === 'success')).toHaveLength(1);
			expect(runs.find(({ status }) => status === 'error')?.node?.error?.description).toContain(
				'Another execution is charging this order right now',
			);
		});

		test('one in doubt is refused, after a restart too, until the user clears it', async () => {
			account.sandbox.addFault({ endpoint: 'POST /transactions', kind: 'resetBeforeProcessing' });
			const first = await production(parameters('order-1'), { process: NodeProcess.fresh() });
			const { staticData } = first;
			const second = await production(parameters('order-1'), {
				process: NodeProcess.fresh(),
				staticData,
			});

			expect([first.status, second.status]).toEqual(['error', 'error']);
			expect(second.node?.error?.message).toContain('under order reference "order-1"');
			const since = /\["order-1","\?([^"]+)"\]/.exec(JSON.stringify(staticData))?.[1] ?? '';
			expect(Math.abs(Date.now() - Date.parse(since))).toBeLessThan(60_000);
			expect(second.node?.error?.description).toContain(
				`An attempt at ${since} got no usable answer. It was about: cart 2 x Curso de Fotografia`,
			);
			expect(second.node?.error?.description).toContain(
				'\nLook in the panel of the service. If the transaction exists, go on with its hash (Transaction > Get). If it does not, run again with Options > Order in Doubt set to Charge Again.',
			);
			expect(posts()).toBe(1);

			const third = await production(
				parameters('order-1', { options: { orderInDoubt: 'chargeAgain' } }),
				{ process: NodeProcess.fresh(), staticData },
			);
			expect(third.status).toBe('success');
			expect(account.sandbox.charges()).toBe(1);
		});

		test('one that the service refused can be tried again', async () => {
			account.sandbox.addFault({ endpoint: 'POST /transactions', kind: 'status', status: 422 });
			const first = await production(parameters('order-1'));
			const second = await production(parameters('order-1'), { staticData: first.staticData });

			expect([first.status, second.status]).toEqual(['error', 'success']);
			expect(account.sandbox.charges()).toBe(1);
		});

		test('the memory is bounded, and what is in doubt is kept longest', async () => {
			const digitalSalesOrders = [
				['doubtful', '?2026-01-01T00:00:00.000Z'],
				...Array.from({ length: 1_000 }, (_, index) => [`old-${index}`, 'abc123']),
			];
			const run = await production(parameters('order-1'), {
				process: NodeProcess.fresh(),
				staticData: { global: { digitalSalesOrders } },
			});

			const kept = JSON.stringify(run.staticData);
			expect(kept).toContain('doubtful');
			expect(kept).toContain('order-1');
			expect(kept).not.toContain('"old-0"');
			expect(kept).not.toContain('"old-1"');
			expect(kept).toContain('"old-2"');
			expect(kept).toContain('"old-999"');
		});
	});

	test('cancelling stops the wait for a rate limit at once', async () => {
		account.sandbox.addFault({
			endpoint: 'POST /transactions',
			kind: 'retryAfter',
			seconds: 60,
			times: 'always',
		});
		const running = runNode(parameters(), { credentials: account.credentials });
		const answered = (): boolean => account.sandbox.requests.some(({ status }) => status === 429);
		while (!answered()) await new Promise((resolve) => setTimeout(resolve, 5));
		// Cancelled before the answer arrives, nobody would know what became of the charge.
		await new Promise((resolve) => setTimeout(resolve, 100));
		const canceledAt = Date.now();
		running.cancel();
		const run = await running;

		expect(run.node?.error?.message).toBe('The execution was cancelled');
		expect(Date.now() - canceledAt).toBeLessThan(1_000);
		expect(posts()).toBe(1);
	});
});
