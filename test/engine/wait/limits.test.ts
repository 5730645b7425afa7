import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { DigitalSales } from '../../../nodes/DigitalSales/DigitalSales.node';
import { ACTION_TYPE } from '../../helpers/engine';
import { received, useWaitingRoom, waitParameters } from '../../helpers/waiting';

const MINUTE_MS = 60_000;

describe('Transaction > Wait for Payment: until the time is up', () => {
	const room = useWaitingRoom();

	test('ends at the time limit with the status that is read then', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash], { minutes: 30 });
		await clock.sleep(29.5 * MINUTE_MS);
		await room.setStatus([hash], 'analyzing');

		const [item] = received(await parked.finished) ?? [];

		expect(item).toMatchObject({ paid: false, hash, payment_status: 'analyzing', timed_out: true });
		expect(room.lookMinutes(hash).at(-1)).toBeCloseTo(30, 1);
	});

	test('finds a payment that was reported five seconds before the limit, although the read lags', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash], { minutes: 30 });
		await clock.sleep(30 * MINUTE_MS - 5_000);
		setTimeout(() => void room.setStatus([hash]), 10_000);
		await parked.resumeByWebhook({ hash, status: 'paid' });

		expect(received(await parked.finished)).toMatchObject([{ paid: true }]);
	});

	test.each([10, 9.7])(
		'a payment that is first read as expired at the limit of 10 minutes, or just before (%s), is read once more a minute later',
		async (expiresAt) => {
			const hash = await room.charge();
			const parked = await room.park([hash], { minutes: 10 });
			await clock.sleep(expiresAt * MINUTE_MS - 5_000);
			await room.setStatus([hash], 'expired');
			if (expiresAt < 10) await parked.resumeByWebhook({ hash, status: 'expired' });
			await clock.sleep(30_000);
			await room.setStatus([hash]);

			expect(received(await parked.finished)).toMatchObject([{ paid: true }]);
			expect(room.lookMinutes(hash).at(-1)).toBeLessThan(12);
		},
	);

	test('webhooks half a minute apart hold the wait open for 15 minutes at most', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash], { minutes: 10 });
		let isEnded = false;
		void parked.finished.then(() => (isEnded = true));
		await clock.sleep(9.9 * MINUTE_MS);
		for (let nth = 0; nth < 80 && !isEnded; nth++) {
			await parked.resumeByWebhook({ hash, status: 'refused' });
			await clock.sleep(MINUTE_MS / 2);
		}

		expect(received(await parked.finished)).toMatchObject([{ paid: false, timed_out: true }]);
		expect(room.lookMinutes(hash).at(-1)).toBeLessThan(10 + 15 + 2);
	});

	test('a payment that is reported within the minute of another webhook at the limit is found', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash], { minutes: 10 });
		await clock.sleep(10 * MINUTE_MS - 2_000);
		await parked.resumeByWebhook({ hash, status: 'refused' });
		await clock.sleep(55_000);
		setTimeout(() => void room.setStatus([hash]), 10_000);
		await parked.resumeByWebhook({ hash, status: 'paid' });

		expect(received(await parked.finished)).toMatchObject([{ paid: true }]);
	});

	test.each(['paid', 'expired'])(
		'a webhook within the minute after a failed status at the limit has it read, and read as %s',
		async (status) => {
			const hash = await room.charge();
			const parked = await room.park([hash], { minutes: 10 });
			await clock.sleep(9.95 * MINUTE_MS);
			await room.setStatus([hash], 'expired');
			await clock.sleep(0.35 * MINUTE_MS);
			const looks = room.lookMinutes(hash).length;
			await room.setStatus([hash], status);
			await parked.resumeByWebhook({ hash, status });

			expect(received(await parked.finished)).toMatchObject([{ paid: status === 'paid' }]);
			expect(room.lookMinutes(hash).length - looks).toBeGreaterThan(status === 'paid' ? 0 : 1);
		},
	);

	test('a webhook about a payment that was read at the limit has it read again while another cannot be read', async () => {
		const hashes = [await room.charge(), await room.charge()];
		const parked = await room.park(hashes, { minutes: 10 });
		await clock.sleep(9.9 * MINUTE_MS);
		room.account.fault('read', { kind: 'status', status: 500, body: {} }, 1);
		await clock.sleep(0.5 * MINUTE_MS);
		await room.setStatus(hashes);
		await parked.resumeByWebhook({ hash: hashes[0], status: 'paid' });

		expect(received(await parked.finished)).toMatchObject([{ paid: true }, { paid: true }]);
	});

	test('uses the longest limit of its items', async () => {
		jest.spyOn(clock, 'random').mockReturnValue(0);
		const hashes = [await room.charge(), await room.charge(), await room.charge()];
		const parked = await room.park(hashes, {
			parameters: {
				timeLimit: '={{ [10, " 15,5 ", "12"][$itemIndex] }}',
				timeLimitUnit: 'minutes',
			},
		});

		await parked.finished;

		expect(room.lookMinutes(hashes[0] ?? '').at(-1)).toBeCloseTo(15.5, 1);
	});

	test('reads decided payments once more at the time limit', async () => {
		const [paid, open] = [await room.charge(), await room.charge()];
		await room.setStatus([paid]);
		const parked = await room.park([paid, open], { minutes: 10 });
		await clock.sleep(9 * MINUTE_MS);
		await room.setStatus([paid], 'refunded');

		expect(received(await parked.finished)).toMatchObject([
			{ hash: paid, paid: false, payment_status: 'refunded' },
			{ hash: open, paid: false, timed_out: true },
		]);
	});

	test('tries again after the limit for a payment that cannot be read then', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash], { minutes: 10 });
		await clock.sleep(9 * MINUTE_MS);
		await room.setStatus([hash]);
		room.account.fault('read', { kind: 'status', status: 503 }, 'always');
		await clock.sleep(5 * MINUTE_MS);
		room.account.sandbox.clearFaults();

		expect(received(await parked.finished)).toMatchObject([{ paid: true }]);
		expect(room.lookMinutes(hash).at(-1)).toBeLessThan(21);
	});

	test('reads within the 15 minutes after the limit although reads had failed for long before', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash], { minutes: 60 });
		await clock.sleep(2 * MINUTE_MS);
		room.account.fault('read', { kind: 'status', status: 503 }, 'always');
		await room.setStatus([hash]);
		await clock.sleep(60 * MINUTE_MS);
		room.account.sandbox.clearFaults();
		await clock.sleep(11 * MINUTE_MS);
		room.account.fault('read', { kind: 'status', status: 503 }, 'always');

		expect(received(await parked.finished)).toMatchObject([{ paid: true }]);
	});

	test('tries for 15 minutes at most, then returns the last read with its time', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash], { minutes: 10 });
		await clock.sleep(7 * MINUTE_MS);
		room.account.fault('read', { kind: 'status', status: 503 }, 'always');

		const [item] = received(await parked.finished) ?? [];

		expect(item).toMatchObject({ paid: false, payment_status: 'waiting_payment', timed_out: true });
		const looks = room.lookMinutes(hash);
		expect(looks.at(-1)).toBeCloseTo(25, 1);
		const lastRead = looks.filter((at) => at < 7).at(-1) ?? NaN;
		const firstAt = room.account.sandbox.requests.find(({ method }) => method === 'GET')?.at ?? NaN;
		expect((Date.parse(String(item?.checked_at)) - firstAt) / MINUTE_MS).toBeCloseTo(lastRead, 1);
	});

	test('an open payment says timed_out, also if its look began just before the limit', async () => {
		const hash = await room.charge();
		const deadline = Date.now() + 10 * MINUTE_MS;
		const parked = await room.park([hash], { minutes: 10 });
		await clock.sleep(9.9 * MINUTE_MS);
		const { now } = clock;
		// The node begins before the limit, and its read after it.
		jest
			.spyOn(clock, 'now')
			.mockReturnValueOnce(deadline - 200)
			.mockImplementation(() => Math.max(now(), deadline + 200));

		const { outcome } = await parked.resumeByWebhook({ hash, status: 'paid' });
		jest.restoreAllMocks();

		expect(received(outcome)).toMatchObject([{ paid: false, timed_out: true }]);
	});

	test('an item whose payment could never be read has timed_out, and null for the time of the read', async () => {
		const hash = await room.charge();
		room.account.fault('read', { kind: 'status', status: 500 }, 'always');
		const parked = await room.park([hash], { minutes: 3, parameters: { simplify: false } });

		expect(received(await parked.finished)).toEqual([
			{ paid: false, hash, timed_out: true, checked_at: null },
		]);
	});

	test.each([
		[{ timeLimit: 0 }, /^Options > Time Limit must be a number above 0/],
		[{ timeLimit: '' }, /^Options > Time Limit is empty/],
		[{ timeLimitUnit: 'weeks' }, /^Options > Time Limit Unit must be minutes, hours or days/],
	])('refuses %j before anything is read', async (parameters, message) => {
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
		expect(run.itemIndex).toBeUndefined();
	});
});

describe('Transaction > Wait for Payment: a platform that allows few reads', () => {
	const room = useWaitingRoom({ readsPerMinute: 2 });

	test.each([5, 22])(
		'reads %i payments in turn within the 15 minutes after the limit',
		async (count) => {
			const hashes: string[] = [];
			while (hashes.length < count) hashes.push(await room.charge());
			const parked = await room.park(hashes, { minutes: 10 });
			await clock.sleep(9 * MINUTE_MS);
			await room.setStatus(hashes);

			const items = received(await parked.finished) ?? [];

			expect(items.map(({ paid }) => paid)).toEqual(hashes.map(() => true));
		},
	);

	test('unknown hashes do not take all of its reads', async () => {
		const hash = await room.charge();
		const settings = { onError: 'continueRegularOutput' };
		const parked = await room.park(['nosuch1', 'nosuch2', hash], { settings });
		await room.setStatus([hash]);

		expect(received(await parked.finished)?.[0]).toMatchObject({ hash, paid: true });
	});
});
