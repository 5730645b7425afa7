import { ACTION_TYPE, NO_OP_TYPE, runWorkflow, START_TYPE } from '../harness';
import { pixParameters } from '../support/account';
import { received, useWaitingRoom, waitParameters } from '../support/waiting';

describe('Transaction > Wait for Payment: until it is settled', () => {
	const room = useWaitingRoom();

	test.each(['paid', 'expired'])('passes on at once a payment that is %s', async (status) => {
		const hash = await room.charge();
		await room.settle([hash], status);

		const run = await room.wait([hash]);

		expect(run.status).toBe('success');
		expect(received(run)).toMatchObject([
			{ paid: status === 'paid', hash, payment_status: status, timedOut: false },
		]);
		expect(room.reads()).toBe(1);
	});

	test.each(['waiting_payment', 'never_heard_of'])(
		'waits while one is %s, and shows which are settled',
		async (status) => {
			const [settled, open] = [await room.charge(), await room.charge()];
			await room.settle([settled]);
			await room.settle([open], status);

			const run = await room.wait([settled, open]);

			expect(run.status).toBe('waiting');
			expect(received(run)).toBeUndefined();
			const shown = run.data.Wait?.items.map(({ json }) => json);
			expect(shown).toMatchObject([
				{ paid: true, hash: settled, timedOut: false },
				{ paid: false, hash: open, payment_status: status },
			]);
			expect(shown?.[1]).not.toHaveProperty('timedOut');
		},
	);

	test('returns the chosen fields, settled at once or later', async () => {
		const parameters = { options: { fields: ['amount', 'product_hash'] } };
		const [first, second] = [await room.charge(), await room.charge()];
		await room.settle([first]);
		const parked = await room.park([first, second], { parameters });
		await room.settle([second]);

		const url = await parked.resumeUrl();
		await room.account.sandbox.notify(second, { url });

		const items = received(await parked.finished) ?? [];
		expect(items).toMatchObject([
			{ paid: true, hash: first, amount: 1990, product_hash: expect.any(String) },
			{ paid: true, hash: second, amount: 1990, product_hash: expect.any(String) },
		]);
		expect(items.map((item) => Object.keys(item).length)).toEqual([6, 6]);
	});

	test('is notified by the service if Create PIX sent it the address of this execution', async () => {
		const { sandbox } = room.account;
		const run = await runWorkflow({
			nodes: [
				{ name: 'Start', type: START_TYPE },
				{
					name: 'Charge',
					type: ACTION_TYPE,
					parameters: pixParameters(sandbox, { notify: 'automatic' }),
				},
				{ name: 'Wait for {{ it }}', type: ACTION_TYPE, parameters: waitParameters() },
				{ name: 'After', type: NO_OP_TYPE },
			],
			credentials: room.account.credentials,
		});
		const [charge] = sandbox.transactions;
		expect(charge?.postback_url).toBe(await run.parked?.resumeUrl());

		const [report] = await sandbox.pay(charge?.hash ?? '');

		expect(report?.status).toBe(200);
		expect(received(await run.parked?.finished)).toMatchObject([
			{ hash: charge?.hash, payment_status: 'paid', timedOut: false },
		]);
	});

	test('returns the whole transaction without Simplify; nothing takes the place of paid and timedOut', async () => {
		const hash = await room.charge();
		await room.settle([hash], 'refused');
		room.account.fault('read', { kind: 'patchBody', set: { paid: true, timedOut: true } });

		const whole = received(await room.wait([hash], { parameters: { simplify: false } }));

		expect(whole).toMatchObject([
			{ paid: false, hash, split_recipients: expect.any(Array), timedOut: false },
		]);
		const keys = Object.keys(whole?.[0] ?? {});
		expect([keys[0], keys.at(-1)]).toEqual(['paid', 'timedOut']);
	});

	test('stays suspended until every item is settled, and keeps their order', async () => {
		const hashes = [await room.charge(), await room.charge(), await room.charge()];
		const [first = '', second = '', third = ''] = hashes;
		await room.settle([second], 'refused');
		const parked = await room.park(hashes);

		await room.settle([third]);
		const early = await parked.resumeByWebhook({ hash: third, status: 'paid' });
		await room.settle([first]);
		const last = await parked.resumeByWebhook({ hash: first, status: 'paid' });

		expect(early).toMatchObject({ answer: { status: 200, json: { waiting: true } } });
		expect(early.outcome).toBeUndefined();
		expect(received(last.outcome)).toMatchObject([
			{ paid: true, hash: first, payment_status: 'paid', timedOut: false },
			{ paid: false, hash: second, payment_status: 'refused', timedOut: false },
			{ hash: third, payment_status: 'paid', timedOut: false },
		]);
		for (const node of ['Wait', 'After']) {
			const paired = last.outcome?.data[node]?.items.map(({ pairedItem }) => pairedItem);
			expect(paired).toEqual([{ item: 0 }, { item: 1 }, { item: 2 }]);
		}
	});

	test('looks again at what was paid before: it may have been charged back', async () => {
		const [paid, open] = [await room.charge(), await room.charge()];
		await room.settle([paid]);
		const parked = await room.park([paid, open]);
		await room.settle([paid], 'chargeback');
		await room.settle([open]);

		const url = await parked.resumeUrl();
		await room.account.sandbox.notify(open, { url });

		expect(received(await parked.finished)).toMatchObject([
			{ paid: false, hash: paid, payment_status: 'chargeback' },
			{ paid: true, hash: open, payment_status: 'paid' },
		]);
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
		await room.settle([first]);
		while (run.parked?.legs === 1) await new Promise((resolve) => setTimeout(resolve, 5));
		await room.settle([second], 'canceled');

		const end = await run.parked?.finished;

		expect(end?.data.One?.items[0]?.json).toMatchObject({ hash: first, payment_status: 'paid' });
		expect(received(end)).toMatchObject([{ hash: second, payment_status: 'canceled' }]);
	});
});
