import type { INodeParameters } from 'n8n-workflow';
import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { HarnessCredentials } from '../harness/credentials';
import { useInbox } from '../support/inbox';

/** The longest time to an answer, whatever the service does. */
const ANSWER_WITHIN_MS = 9_500;
/** What one notice may cost, be it forged. */
const MOST_READS = 3;

describe('Digital Sales Trigger: the service reads open what a notice says is settled', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });
	let hash: string;

	beforeEach(async () => {
		hash = await inbox.charge();
	});

	/** Publishes the trigger, and reads the charge once as it is before it is paid. */
	const publish = async (triggerOn: string): Promise<void> => {
		await inbox.publish({ triggerOn: [triggerOn] } satisfies INodeParameters);
		await inbox.trigger.post({ hash, status: 'waiting_payment' });
		await clock.sleep(10_000);
	};
	/** How the service's state changes, so much later. */
	const settle = (ms: number, status = 'paid'): void => {
		setTimeout(() => void inbox.account.sandbox.setStatus(hash, status), ms);
	};
	const statuses = (): unknown[] =>
		inbox.items.map(({ payment_status: status }) => status).filter((one) => one === 'paid');

	describe.each(['paid', 'any'])('Trigger On %s', (triggerOn) => {
		test.each([200, 2_000])('it is read again: behind by %i ms', async (ms) => {
			await publish(triggerOn);
			const before = inbox.reads;
			settle(ms);

			const { status, text } = await inbox.trigger.post({ hash, status: 'paid' });

			expect([status, text]).toEqual([200, '']);
			expect(statuses()).toEqual(['paid']);
			expect(inbox.reads - before).toBeLessThanOrEqual(MOST_READS);
		});

		test('the sender has to come again: behind by a minute', async () => {
			await publish(triggerOn);
			settle(60_000);
			const startedAt = clock.elapsed();

			const early = await inbox.trigger.post({ hash, status: 'paid' });
			const tookMs = clock.elapsed() - startedAt;
			await clock.sleep(60_000);
			const late = await inbox.trigger.post({ hash, status: 'paid' });

			expect(early.status).toBe(503);
			expect(Number(early.headers['retry-after'])).toBeGreaterThan(0);
			expect(tookMs).toBeLessThan(ANSWER_WITHIN_MS);
			expect(late.status).toBe(200);
			expect(statuses()).toEqual(['paid']);
		});

		test('a forged notice costs few reads and starts nothing', async () => {
			await publish(triggerOn);
			const [before, started] = [inbox.reads, inbox.items.length];

			expect((await inbox.trigger.post({ hash, status: 'paid' })).status).toBe(503);
			expect(inbox.reads - before).toBeLessThanOrEqual(MOST_READS);
			expect(inbox.items).toHaveLength(started);
		});
	});

	test('of a minute of forged notices few are read: one at a time, with its pause', async () => {
		await publish('paid');
		const before = inbox.reads;
		const until = clock.elapsed() + 60_000;

		while (clock.elapsed() < until) {
			await Promise.all(
				Array.from({ length: 5 }, async () => await inbox.trigger.post({ hash, status: 'paid' })),
			);
			await clock.sleep(100);
		}

		expect(inbox.reads - before).toBeLessThanOrEqual(40);
		expect(inbox.items).toEqual([]);
	});

	test.each([
		['reversed', 'paid', 'refunded'],
		['reversed', 'paid', 'chargeback'],
		['paid', 'expired', 'paid'],
		['paid', 'canceled', 'paid'],
		['paid', 'refused', 'paid'],
	])('Trigger On %s: it still reads %s and is %s', async (triggerOn, before, status) => {
		await publish(triggerOn);
		await inbox.account.sandbox.setStatus(hash, before);
		settle(60_000, status);

		expect((await inbox.trigger.post({ hash, status })).status).toBe(503);
		await clock.sleep(60_000);
		expect((await inbox.trigger.post({ hash, status })).status).toBe(200);
		expect(inbox.items).toMatchObject([{ payment_status: status }]);
	});

	test('the last status counts, and nothing of the first', async () => {
		await publish('any');
		settle(500, 'refunded');

		await inbox.trigger.post({ hash, status: 'paid' });

		expect(inbox.items).toMatchObject([
			{ payment_status: 'waiting_payment' },
			{ payment_status: 'refunded' },
		]);
	});

	test.each([
		['paid', 'med_analysis'],
		['paid', 'waiting_refund'],
		['refused', 'paid'],
		['med_analysis', 'paid'],
		['authorized', 'paid'],
	])('late or not, %s where %s is read is taken as it is read', async (claimed, read) => {
		await publish('any');
		await inbox.account.sandbox.setStatus(hash, read);
		const before = inbox.reads;

		expect((await inbox.trigger.post({ hash, status: claimed })).status).toBe(200);
		expect(inbox.items.at(-1)).toMatchObject({ payment_status: read });
		expect(inbox.reads - before).toBe(1);
	});

	test.each([null, '', 'never_heard_of', 3])(
		'a status that nobody knows may still become paid: %j',
		async (status) => {
			await publish('paid');
			settle(0);
			const fault = { kind: 'patchBody', set: { payment_status: status } } as const;
			inbox.account.fault('read', { ...fault }, 'always');

			const early = await inbox.trigger.post({ hash, status: 'paid' });
			inbox.account.sandbox.clearFaults();
			await clock.sleep(10_000);
			const late = await inbox.trigger.post({ hash, status: 'paid' });

			expect([early.status, late.status]).toEqual([503, 200]);
			expect(statuses()).toEqual(['paid']);
		},
	);

	test('however slowly the service answers, the sender is answered in time', async () => {
		await publish('paid');
		inbox.account.fault('read', { kind: 'delay', ms: 3_000 }, 'always');
		const startedAt = clock.elapsed();

		expect((await inbox.trigger.post({ hash, status: 'paid' })).status).toBe(503);
		expect(clock.elapsed() - startedAt).toBeLessThanOrEqual(ANSWER_WITHIN_MS);
	});

	test('another transaction is not held up meanwhile', async () => {
		await publish('paid');
		const other = await inbox.charge();
		await inbox.account.sandbox.setStatus(other, 'paid');
		const forged = await Promise.all(Array.from({ length: 12 }, async () => await inbox.charge()));

		const held = forged.map(async (one) => await inbox.trigger.post({ hash: one, status: 'paid' }));
		await clock.sleep(100);
		const startedAt = clock.elapsed();
		const answer = await inbox.trigger.post({ hash: other, status: 'paid' });

		expect(answer.status).toBe(200);
		expect(clock.elapsed() - startedAt).toBeLessThan(500);
		expect((await Promise.all(held)).map(({ status }) => status)).toEqual(forged.map(() => 503));
	});
});

describe('Digital Sales Trigger: an answer before the sender stops waiting', () => {
	const inbox = useInbox();
	let hash: string;
	/** How long n8n takes to return the credential. */
	let credentialTakesMs: number;

	beforeEach(async () => {
		hash = await inbox.charge();
		credentialTakesMs = 0;
		await inbox.publish();
		jest.spyOn(clock, 'random').mockReturnValue(0.9);
		const { getDecrypted } = HarnessCredentials.prototype;
		jest.spyOn(HarnessCredentials.prototype, 'getDecrypted').mockImplementation(async function (
			this: HarnessCredentials,
			...args
		) {
			if (credentialTakesMs > 0) await clock.sleep(credentialTakesMs);
			return await getDecrypted.apply(this, args);
		});
	});
	afterEach(() => jest.restoreAllMocks());

	const down = (times: number | 'always') =>
		inbox.account.fault('read', { kind: 'status', status: 503, times });

	test('a service that was down for a moment is asked once more', async () => {
		down(1);

		expect((await inbox.trigger.post({ hash })).status).toBe(200);
		expect(inbox.reads).toBe(2);
		expect(inbox.trigger.executions).toHaveLength(1);
	});

	test('a service that stays down is asked twice, no more', async () => {
		down('always');

		expect((await inbox.trigger.post({ hash })).status).toBe(503);
		expect(inbox.reads).toBe(2);
	});

	test('it is not asked if little time is left', async () => {
		credentialTakesMs = ANSWER_WITHIN_MS - 2_600;

		expect((await inbox.trigger.post({ hash })).status).toBe(503);
		expect(inbox.reads).toBe(0);
	});

	test('the less time is left, the sooner a read of a silent service is aborted', async () => {
		await inbox.trigger.post({ hash: 'nosuch1' });
		inbox.account.reset();
		inbox.account.fault('read', { kind: 'delay', ms: 4_000 }, 'always');
		credentialTakesMs = ANSWER_WITHIN_MS - 3_100;
		const startedAt = clock.elapsed();

		const answer = await inbox.trigger.post({ hash: 'ab12' });

		expect(answer.status).toBe(503);
		expect(clock.elapsed() - startedAt - credentialTakesMs).toBeLessThan(1_000);
	});
});
