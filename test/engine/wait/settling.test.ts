import { pixParameters } from '../../helpers/account';
import {
	ACTION_TYPE,
	connect,
	everythingIn,
	NO_OP_TYPE,
	runWorkflow,
	START_TYPE,
} from '../../helpers/engine';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { leftBy, received, useWaitingRoom, waitParameters } from '../../helpers/waiting';

const MINUTE_MS = 60_000;

describe('Transaction > Wait for Payment: until the payment is decided', () => {
	const room = useWaitingRoom();

	test.each(['paid', 'PAID'])('passes on at once a payment that is %s', async (status) => {
		const hash = await room.charge();
		await room.setStatus([hash], status);

		const run = await room.wait([hash]);

		expect(run.status).toBe('success');
		expect(received(run)).toMatchObject([{ paid: true, hash, payment_status: status }]);
		expect(room.reads()).toBe(1);
	});

	test.each(['expired', 'refused', 'chargeback'])(
		'reads a payment that is %s once more a minute later, and then passes it on',
		async (status) => {
			const hash = await room.charge();
			await room.setStatus([hash], status);

			const parked = await room.park([hash]);

			expect(received(await parked.finished)).toMatchObject([
				{ paid: false, hash, payment_status: status },
			]);
			const [, second = NaN, ...more] = room.lookMinutes(hash);
			expect(more).toEqual([]);
			expect(second).toBeCloseTo(1.05, 0);
		},
	);

	test('a payment that is called expired is paid if a webhook says so, and reads show it within a minute of the webhook', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash]);
		await room.setStatus([hash], 'expired');
		await parked.resumeByWebhook({ hash, status: 'expired' });
		await clock.sleep(55_000);
		setTimeout(() => void room.setStatus([hash]), 50_000);
		await parked.resumeByWebhook({ hash, status: 'paid' });

		expect(received(await parked.finished)).toMatchObject([{ hash, paid: true }]);
	});

	test.each([
		['paid', ['Delivered']],
		['expired', ['Not delivered']],
	])('runs only the branch of a payment that is %s', async (status, branches) => {
		const hash = await room.charge();
		const run = await runWorkflow({
			nodes: [
				{ name: 'Start', type: START_TYPE },
				{ name: 'Wait', type: ACTION_TYPE, parameters: waitParameters() },
				{ name: 'Delivered', type: NO_OP_TYPE },
				{ name: 'Not delivered', type: NO_OP_TYPE },
			],
			connections: connect({ Start: 'Wait', Wait: ['Not delivered', 'Delivered'] }),
			startItems: [{ hash }],
			mode: 'trigger',
			credentials: room.account.credentials,
		});
		await room.setStatus([hash], status);

		const end = await run.parked?.finished;

		expect(Object.keys(end?.data ?? {})).toEqual(['Start', 'Wait', ...branches]);
	});

	test.each(['waiting_payment', 'never_heard_of', 'authorized'])(
		'waits while one of two payments is %s',
		async (status) => {
			const [settled, open] = [await room.charge(), await room.charge()];
			await room.setStatus([settled]);
			await room.setStatus([open], status);

			const run = await room.wait([settled, open]);

			expect(run.status).toBe('waiting');
			expect(received(run)).toBeUndefined();
		},
	);

	test('an item has the fields of Create PIX and of the trigger, no code that is paid, and paid, timed_out and checked_at', async () => {
		const hash = await room.charge();
		const run = await room.wait([hash]);
		await room.setStatus([hash]);
		const readAt = (room.account.sandbox.requests.at(-1)?.at ?? 0) + 1;

		const end = await run.parked?.finished;

		const [item] = end?.data.After?.items ?? [];
		expect(Object.keys(item ?? {}).sort()).toEqual(['json', 'pairedItem']);
		expect(Object.keys(item?.json ?? {})).toEqual([
			'paid',
			'hash',
			'payment_status',
			'amount_reais',
			'customer_name',
			'customer_email',
			'customer_phone',
			'product_hash',
			'product_title',
			'updated_at',
			'checked_at',
		]);
		expect(item?.json).toMatchObject({ paid: true });
		expect(Date.parse(String(item?.json.checked_at))).toBeGreaterThanOrEqual(readAt);
		expect(end && everythingIn(end)).not.toContain(room.account.sandbox.apiToken);
	});

	test('returns the chosen fields of payments that are decided at once or later', async () => {
		const parameters = { options: { fields: ['amount', 'product_hash'] } };
		const [first, second] = [await room.charge(), await room.charge()];
		await room.setStatus([first]);
		const parked = await room.park([first, second], { parameters });
		await room.setStatus([second]);

		const items = received(await parked.finished) ?? [];

		expect(items).toMatchObject([
			{ paid: true, hash: first, amount: 1990, product_hash: expect.any(String) },
			{ paid: true, hash: second, amount: 1990, product_hash: expect.any(String) },
		]);
		expect(items.map((item) => Object.keys(item).length)).toEqual([6, 6]);
	});

	test('without Simplify returns the whole transaction, whose fields cannot replace paid, timed_out and checked_at', async () => {
		const hash = await room.charge();
		await room.setStatus([hash], 'refused');
		const set = { paid: true, timed_out: true, checked_at: 'never' };
		room.account.fault('read', { kind: 'patchBody', set });

		const parked = await room.park([hash], { parameters: { simplify: false } });
		room.account.fault('read', { kind: 'patchBody', set });

		const [whole = {}] = received(await parked.finished) ?? [];

		expect(whole).toMatchObject({
			paid: false,
			hash,
			split_recipients: expect.any(Array),
		});
		expect(whole).not.toHaveProperty('timed_out');
		expect(whole.checked_at).not.toBe('never');
		expect(Object.keys(whole)[0]).toBe('paid');
	});

	test('is woken by the platform if Create PIX sent it the address of this execution', async () => {
		const { sandbox } = room.account;
		const { parked } = await room.chargeAndWait();
		const [charge] = sandbox.transactions;
		expect(charge?.postback_url).toBe(await parked?.resumeUrl());

		const [report] = await sandbox.pay(charge?.hash ?? '');

		expect(report?.status).toBe(200);
		expect(received(await parked?.finished)).toMatchObject([
			{ hash: charge?.hash, payment_status: 'paid' },
		]);
	});

	test('a branch below it runs only after the wait, and one above it before, as the form says', async () => {
		const hash = await room.charge();
		const beside = ['Above', 'Wait', 'Below'].map((node) => ({
			node,
			type: 'main' as const,
			index: 0,
		}));
		const run = await runWorkflow({
			nodes: [
				{ name: 'Start', type: START_TYPE },
				{ name: 'Above', type: NO_OP_TYPE, position: [200, -200] },
				{ name: 'Wait', type: ACTION_TYPE, parameters: waitParameters(), position: [200, 0] },
				{ name: 'Below', type: NO_OP_TYPE, position: [200, 200] },
			],
			connections: { Start: { main: [beside] } },
			startItems: [{ hash }],
			credentials: room.account.credentials,
		});
		await room.setStatus([hash]);
		const after = await run.parked?.resumeByWebhook({ hash, status: 'paid' });

		expect(run.status).toBe('waiting');
		expect([run.data.Above, run.data.Below].map((node) => node?.items.length)).toEqual([
			1,
			undefined,
		]);
		expect(after?.outcome?.data.Below?.items).toHaveLength(1);
	});

	test('after a list of which Create PIX refuses one customer, under Continue (using error output), waits for the others', async () => {
		const parameters = pixParameters(room.account.sandbox, { customerEmail: '={{ $json.email }}' });
		const run = await runWorkflow({
			nodes: [
				{ name: 'Start', type: START_TYPE },
				{ name: 'Charge', type: ACTION_TYPE, parameters, onError: 'continueErrorOutput' },
				{ name: 'Wait', type: ACTION_TYPE, parameters: waitParameters() },
				{ name: 'Failed', type: NO_OP_TYPE },
			],
			connections: connect({ Start: 'Charge', Charge: ['Wait', 'Failed'] }),
			startItems: [{ email: 'maria@example.com' }, { email: 'maria' }],
			credentials: room.account.credentials,
		});

		expect(run.status).toBe('waiting');
	});

	test('waits until every item is decided, keeps their order, and reads a decided payment again only at the end', async () => {
		const hashes = [await room.charge(), await room.charge(), await room.charge()];
		const [first = '', second = '', third = ''] = hashes;
		await room.setStatus([second], 'refused');
		const parked = await room.park(hashes);

		await clock.sleep(1.5 * MINUTE_MS);
		await room.setStatus([third]);
		const early = await parked.resumeByWebhook({ hash: third, status: 'paid' });
		await clock.sleep(1_000);
		await room.setStatus([first]);
		const last = await parked.resumeByWebhook({ hash: first, status: 'paid' });

		expect([early.answer.status, early.outcome?.status]).toEqual([200, 'waiting']);
		expect(leftBy(last.outcome)).toMatchObject([
			[{ paid: false, hash: second, payment_status: 'refused' }],
			[
				{ paid: true, hash: first, payment_status: 'paid' },
				{ paid: true, hash: third, payment_status: 'paid' },
			],
		]);
		const outputs = last.outcome?.data.Wait?.outputs ?? [];
		const paired = outputs.map((items) => items.map(({ pairedItem }) => pairedItem));
		expect(paired).toEqual([[{ item: 1 }], [{ item: 0 }, { item: 2 }]]);
		expect(hashes.map((hash) => room.reads(hash))).toEqual([4, 3, 4]);
	});

	describe('if the last read of a paid payment', () => {
		/** Parks with two payments, of which the first is read as paid. Then `laterMs` pass. */
		const waitWithPaid = async (laterMs = 0) => {
			const [paid, open] = [await room.charge(), await room.charge()];
			await room.setStatus([paid]);
			const parked = await room.park([paid, open]);
			await clock.sleep(laterMs);
			return { parked, paid, open };
		};

		test('fails for 15 minutes, the earlier read is used, with its checked_at', async () => {
			const { parked, paid, open } = await waitWithPaid();
			await room.setStatus([open]);
			// The next look first reads the open payment, then the paid payment.
			room.account.fault('read', { kind: 'status', status: 500, after: 1 }, 'always');

			const [item, other] = received(await parked.finished) ?? [];

			expect(item).toMatchObject({ hash: paid, paid: true });
			const ms = Date.parse(String(other?.checked_at)) - Date.parse(String(item?.checked_at));
			expect(ms).toBeGreaterThanOrEqual(MINUTE_MS);
		});

		test('fails, the next read shows the refund', async () => {
			const { parked, paid, open } = await waitWithPaid(20 * MINUTE_MS);
			await room.setStatus([paid], 'refunded');
			await room.setStatus([open]);
			room.account.fault('read', { kind: 'status', status: 500, after: 1 }, 2);

			expect(received(await parked.finished)).toMatchObject([
				{ hash: open, paid: true },
				{ hash: paid, paid: false, payment_status: 'refunded' },
			]);
		});

		test.each(['waiting_payment', 'pending_review'])(
			'shows %s again, it is read once more',
			async (status) => {
				const { parked, open } = await waitWithPaid();
				await room.setStatus([open]);
				const set = { payment_status: status };
				room.account.fault('read', { kind: 'patchBody', set, after: 1 });

				const items = received(await parked.finished) ?? [];

				expect(items).toMatchObject([{ paid: true }, { paid: true }]);
			},
		);

		test.each(['pending_review', 'never_heard_of'])(
			'shows %s to the end, it is not paid, and no time was up',
			async (status) => {
				const { parked, paid, open } = await waitWithPaid(5 * MINUTE_MS);
				await room.setStatus([paid], status);
				await room.setStatus([open]);

				const [, item] = received(await parked.finished) ?? [];

				expect(item).toMatchObject({ hash: paid, paid: false, payment_status: status });
				expect(item).not.toHaveProperty('timed_out');
			},
		);
	});

	test('waits twice in one execution, each time for its own payment', async () => {
		const first = await room.charge();
		const second = await room.charge();
		const run = await runWorkflow({
			nodes: [
				{ name: 'Start', type: START_TYPE },
				{ name: 'One', type: ACTION_TYPE, parameters: waitParameters() },
				{ name: 'Two', type: ACTION_TYPE, parameters: waitParameters({ transactionHash: second }) },
				{ name: 'After', type: NO_OP_TYPE },
			],
			startItems: [{ hash: first }],
			mode: 'trigger',
			credentials: room.account.credentials,
		});
		await clock.sleep(5 * MINUTE_MS);
		await room.setStatus([first]);
		await clock.sleep(20 * MINUTE_MS);
		await room.setStatus([second], 'canceled');

		const end = await run.parked?.finished;

		const [, paid] = end?.data.One?.outputs ?? [];
		expect(paid?.[0]?.json).toMatchObject({ hash: first, payment_status: 'paid' });
		expect(received(end)).toMatchObject([{ hash: second, payment_status: 'canceled' }]);
	});

	test('runs a parallel branch once', async () => {
		const hash = await room.charge();
		const run = await runWorkflow({
			nodes: [
				{ name: 'Start', type: START_TYPE },
				{ name: 'Wait', type: ACTION_TYPE, parameters: waitParameters() },
				{ name: 'Beside', type: NO_OP_TYPE },
				{ name: 'After', type: NO_OP_TYPE },
			],
			connections: {
				Start: {
					main: [
						[
							{ node: 'Wait', type: 'main', index: 0 },
							{ node: 'Beside', type: 'main', index: 0 },
						],
					],
				},
				...connect({ Wait: ['After', 'After'] }),
			},
			startItems: [{ hash }],
			mode: 'trigger',
			credentials: room.account.credentials,
		});
		await clock.sleep(3 * MINUTE_MS);
		await room.setStatus([hash]);

		const end = await run.parked?.finished;

		const runs = Object.entries(end?.run.data.resultData.runData ?? {});
		expect(Object.fromEntries(runs.map(([name, { length }]) => [name, length]))).toEqual({
			...{ Start: 1, Wait: 1, Beside: 1, After: 1 },
		});
		expect(received(end)).toMatchObject([{ hash, paid: true }]);
	});

	test('runs the next nodes once with Always Output Data, by the timer and by webhooks', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash], { settings: { alwaysOutputData: true } });
		await clock.sleep(3.5 * MINUTE_MS);
		await parked.resumeByWebhook({ hash, status: 'paid' });
		await room.setStatus([hash]);

		const { outcome } = await parked.resumeByWebhook({ hash, status: 'paid' });

		const runs = outcome?.run.data.resultData.runData.After ?? [];
		expect(runs.map(({ data }) => data?.main?.[0]?.map(({ json }) => json))).toEqual([
			[expect.objectContaining({ hash, paid: true })],
		]);
	});

	test('leaves nothing but its items in the execution', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash], { parameters: { simplify: false } });
		await clock.sleep(3 * MINUTE_MS);
		await room.setStatus([hash]);

		const end = await parked.finished;

		const [{ data: _items, ...rest } = { data: undefined }] =
			end.run.data.resultData.runData.Wait ?? [];
		expect(JSON.stringify(rest)).not.toContain('maria@example.test');
	});

	test('leaves out the items that Execute Once leaves out', async () => {
		const [only, left] = [await room.charge(), await room.charge()];
		const parked = await room.park([only, left], { settings: { executeOnce: true } });
		await clock.sleep(2 * MINUTE_MS);
		await room.setStatus([only]);

		expect(received(await parked.finished)).toMatchObject([{ hash: only }]);
		expect(room.reads(left)).toBe(0);
	});
});
