import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { DigitalSales } from '../../../../nodes/DigitalSales/DigitalSales.node';
import { ACTION_TYPE, everythingIn } from '../harness';
import { received, useWaitingRoom, waitParameters } from '../support/waiting';

describe('Transaction > Wait for Payment: until the time is up', () => {
	const room = useWaitingRoom();

	test('ends at the time limit with a fresh state, and costs three reads within a minute', async () => {
		const hash = await room.charge();
		const startedAt = clock.now();
		const parked = await room.park([hash], { seconds: 8 });
		await room.settle([hash], 'analyzing');

		const end = await parked.finished;

		expect(received(end)).toMatchObject([
			{ paid: false, hash, payment_status: 'analyzing', timedOut: true },
		]);
		expect(clock.now() - startedAt).toBeGreaterThanOrEqual(8_000);
		expect(clock.now() - startedAt).toBeLessThan(11_000);
		// At the start, a moment after it was suspended, and at the limit.
		expect(room.reads()).toBe(3);
	});

	test('without its timers n8n ends it, with the state at suspension', async () => {
		const [settled, open] = [await room.charge(), await room.charge()];
		await room.settle([settled]);
		const before = Date.now();
		const parameters = { timeLimit: 2, timeLimitUnit: 'hours' };
		const run = await room.wait([settled, open], { parameters });
		room.forget();

		const end = await run.parked?.resumeAtTimeLimit();

		expect(received(end)).toMatchObject([
			{ paid: true, hash: settled, payment_status: 'paid', timedOut: false },
			{ paid: false, hash: open, payment_status: 'waiting_payment', timedOut: true },
		]);
		for (const node of ['Wait', 'After']) {
			const paired = end?.data[node]?.items.map(({ pairedItem }) => pairedItem);
			expect(paired).toEqual([{ item: 0 }, { item: 1 }]);
		}
		const limit = (run.waitTill?.getTime() ?? 0) - before;
		expect(limit).toBeGreaterThan(2 * 3_600_000 + 14 * 60_000);
		expect(limit).toBeLessThan(2 * 3_600_000 + 16 * 60_000);
	});

	test('adds nothing of its own: neither fields nor parts of an item', async () => {
		const hash = await room.charge();
		const run = await room.wait([hash]);
		room.forget();
		const end = await run.parked?.resumeAtTimeLimit();

		const [item = { json: {} }] = end?.data.After?.items ?? [];
		expect(Object.keys(item).sort()).toEqual(['json', 'pairedItem']);
		expect(Object.keys(item.json)).toEqual([
			...['paid', 'hash', 'payment_status', 'amount_reais', 'customer_name'],
			...['customer_email', 'customer_phone', 'product_title', 'pix_qr_code', 'timedOut'],
		]);
		expect(item.json).toMatchObject({ pix_qr_code: expect.stringMatching(/^000201/) as string });
		expect(end && everythingIn(end)).not.toContain(room.account.sandbox.apiToken);
	});

	test('leaves out the items that Execute Once leaves out', async () => {
		const [only, left] = [await room.charge(), await room.charge()];
		const options = { settings: { executeOnce: true } };
		const byNotice = await room.park([only, left], options);
		const byLimit = await room.park([only, left], options);
		room.forget();
		await room.settle([only]);

		const noticed = await byNotice.resumeByWebhook({ hash: only, status: 'paid' });

		expect(received(noticed.outcome)).toMatchObject([{ hash: only, timedOut: false }]);
		expect(received(await byLimit.resumeAtTimeLimit())).toMatchObject([
			{ hash: only, timedOut: true },
		]);
	});

	test('asks again at the limit for a payment that could not be read', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash], { seconds: 8 });
		await clock.sleep(4_000);
		await room.settle([hash]);
		// Two checks fail. After a longer pause, the second one would be the last.
		const random = jest.spyOn(clock, 'random').mockReturnValue(0.5);
		room.account.sandbox.addFault({ kind: 'status', status: 503, times: 4 });

		expect(received(await parked.finished)).toMatchObject([{ paid: true, timedOut: false }]);
		random.mockRestore();
	});

	test('takes the longest limit of its items', async () => {
		const hashes = [await room.charge(), await room.charge(), await room.charge()];
		const startedAt = clock.now();
		const parked = await room.park(hashes, {
			parameters: { timeLimit: '={{ [1, 16, 2][$itemIndex] }}', timeLimitUnit: 'seconds' },
		});

		await parked.finished;

		expect(clock.now() - startedAt).toBeGreaterThanOrEqual(16_000);
	});

	test('is not suspended if the limit passes while it reads', async () => {
		const hash = await room.charge();
		room.account.sandbox.addFault({ kind: 'delay', ms: 1_500 });

		const run = await room.wait([hash], { seconds: 1 });

		expect(run.status).toBe('success');
		expect(received(run)).toMatchObject([{ paid: false, hash, timedOut: true }]);
	});

	test.each([
		[{ timeLimit: 0 }, /^Time Limit must be a number above 0/],
		[{ timeLimit: '' }, /^Time Limit is empty/],
		[{ timeLimit: 366, timeLimitUnit: 'days' }, /^Time Limit must be at most 365 days/],
		[{ timeLimitUnit: 'weeks' }, /^Time Limit Unit must be seconds, minutes, hours or days/],
	])('refuses %j and asks nothing', async (parameters, message) => {
		const { error } = await room.wait(['ab12'], { parameters });

		expect(error?.message).toMatch(message);
		expect(room.reads()).toBe(0);
	});

	test('accepts a limit of a whole year', async () => {
		const hash = await room.charge();
		const parameters = { timeLimit: 365, timeLimitUnit: 'days' };

		expect((await room.wait([hash], { parameters })).status).toBe('waiting');
	});

	test('refuses to be the tool of an agent, which cannot wait', async () => {
		const type = `${ACTION_TYPE}Tool`;
		const tool = new DigitalSales();
		const run = await room.account.fail(waitParameters({ transactionHash: 'ab12' }), {
			type,
			nodeTypes: { [type]: tool },
		});

		expect(run.message).toBe('Wait for Payment cannot be used as a tool by an agent');
		expect(run.description).toBe(
			'Give the agent Transaction > Get to check a payment, or put Wait for Payment after the agent.',
		);
		expect(run.itemIndex).toBe(0);
	});
});
