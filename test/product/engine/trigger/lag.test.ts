import { accounts } from '../../../../nodes/DigitalSales/notice/verify';
import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { chargesAt } from '../../../support/charge';
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
	const publish = async (triggerOn = 'paid'): Promise<void> => {
		await inbox.publish({ triggerOn: [triggerOn] });
		await inbox.trigger.post({ hash, status: 'waiting_payment' });
		await clock.sleep(10_000);
	};
	/** Has reads show so much later that it is paid. */
	const pay = (ms: number): void => {
		setTimeout(() => void inbox.account.sandbox.setStatus(hash, 'paid'), ms);
	};
	/** What a notice that it is paid leads to. */
	const notify = async () => {
		const [startedAt, before] = [clock.elapsed(), inbox.reads];
		const { status, headers } = await inbox.trigger.post({ hash, status: 'paid' });
		const tookMs = clock.elapsed() - startedAt;
		return { status, headers, tookMs, reads: inbox.reads - before };
	};

	test('it is read again: behind by two seconds', async () => {
		await publish();
		pay(2_000);

		const { status, reads } = await notify();

		expect(status).toBe(200);
		expect(reads).toBeLessThanOrEqual(MOST_READS);
		expect(inbox.items).toMatchObject([{ payment_status: 'paid' }]);
	});

	test.each([
		['paid', 0],
		['any', 1],
	])('the sender has to come again: behind by a minute, Trigger On %s', async (on, started) => {
		await publish(on);
		pay(60_000);

		const { status, headers, tookMs, reads } = await notify();

		expect(status).toBe(503);
		expect(Number(headers['retry-after'])).toBeGreaterThan(0);
		expect(tookMs).toBeLessThan(ANSWER_WITHIN_MS);
		expect(reads).toBeLessThanOrEqual(MOST_READS);
		expect(inbox.items).toHaveLength(started);
		await clock.sleep(60_000);
		expect((await notify()).status).toBe(200);
		expect(inbox.items).toHaveLength(started + 1);
		expect(inbox.items.at(-1)).toMatchObject({ payment_status: 'paid' });
	});

	test('of a minute of forged notices few are read: one at a time, with its pause', async () => {
		await publish();
		const before = inbox.reads;
		const until = clock.elapsed() + 60_000;

		while (clock.elapsed() < until) {
			await Promise.all(Array.from({ length: 5 }, notify));
			await clock.sleep(100);
		}

		expect(inbox.reads - before).toBeLessThanOrEqual(40);
		expect(inbox.items).toEqual([]);
	});

	test('what is read counts where the notice tells of the past', async () => {
		await publish('any');
		await inbox.account.sandbox.setStatus(hash, 'refunded');

		const { status, reads } = await notify();

		expect([status, reads]).toEqual([200, 1]);
		expect(inbox.items.at(-1)).toMatchObject({ payment_status: 'refunded' });
	});

	test('however slowly the service answers, the sender is answered in time', async () => {
		await publish();
		inbox.account.fault('read', { kind: 'delay', ms: 3_000 }, 'always');

		const { status, tookMs } = await notify();

		expect(status).toBe(503);
		expect(tookMs).toBeLessThanOrEqual(ANSWER_WITHIN_MS);
	});

	test('another transaction is not held up meanwhile', async () => {
		await publish();
		const [other = '', ...forged] = await chargesAt(inbox.account.sandbox, 13);
		await inbox.account.sandbox.setStatus(other, 'paid');

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

	beforeEach(async () => {
		await inbox.publish();
		jest.spyOn(clock, 'random').mockReturnValue(0.9);
	});
	afterEach(() => jest.restoreAllMocks());

	/** Has n8n take so long to return the credential. */
	const delayCredential = (ms: number): void => {
		const get = accounts.get.bind(accounts);
		jest.spyOn(accounts, 'get').mockImplementation(async (...args) => {
			await clock.sleep(ms);
			return await get(...args);
		});
	};

	test('a service that is down for a moment is asked once more, and no more than that', async () => {
		const hash = await inbox.charge();
		inbox.account.fault('read', { kind: 'status', status: 503 }, 3);

		expect((await inbox.trigger.post({ hash })).status).toBe(503);
		expect(inbox.reads).toBe(2);
		expect((await inbox.trigger.post({ hash })).status).toBe(200);
		expect(inbox.reads).toBe(4);
		expect(inbox.trigger.executions).toHaveLength(1);
	});

	test('it is not asked if little time is left', async () => {
		delayCredential(ANSWER_WITHIN_MS - 2_600);

		expect((await inbox.trigger.post({ hash: await inbox.charge() })).status).toBe(503);
		expect(inbox.reads).toBe(0);
	});

	test('the less time is left, the sooner a read of a silent service is aborted', async () => {
		delayCredential(ANSWER_WITHIN_MS - 3_100);
		inbox.account.fault('read', { kind: 'delay', ms: 4_000 }, 'always');
		const startedAt = clock.elapsed();

		expect((await inbox.trigger.post({ hash: 'ab12' })).status).toBe(503);
		expect(inbox.reads).toBe(1);
		expect(clock.elapsed() - startedAt).toBeLessThan(ANSWER_WITHIN_MS - 2_100);
	});
});
