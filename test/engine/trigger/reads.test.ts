import type { INodeParameters } from 'n8n-workflow';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { delayCredential } from '../../helpers/engine/credentials';
import { useInbox } from '../../helpers/inbox';

/** The longest time to an answer, whatever the platform does. */
const ANSWER_WITHIN_MS = 9_500;
const PAID = { triggerOn: ['paid'] };
const REVERSED = { triggerOn: ['reversed'] };
const BOTH = { triggerOn: ['waiting', 'paid'] };
const ANY = { triggerOn: ['any'] };
const ABANDONED = { triggerOn: ['other'], otherStatuses: 'checkout_abandoned' };
const PIX = { ...PAID, filters: { paymentMethods: ['pix'] } };

describe('Digital Sales Trigger: what is read twice within three seconds counts', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	describe.each<[INodeParameters, string, string | undefined, string]>([
		[PAID, 'waiting_payment', 'approved', 'paid'],
		[{ triggerOn: ['paid', 'reversed'] }, 'paid', 'estornado', 'refunded'],
		[ANY, 'refused', 'waiting_payment', 'waiting_payment'],
		[REVERSED, 'med_analysis', 'med_received', 'med_received'],
	])('Trigger On %j, read as %s, claimed %s: starts with %s', (form, before, word, after) => {
		test.each(['nobody', 'this process', 'a restarted process', 'another process'])(
			'if %s knew the sale an hour ago',
			async (who) => {
				const hash = await inbox.begin(form, before);
				if (who === 'another process') inbox.trigger.addProcess();
				if (who !== 'nobody') await inbox.post(hash, before);
				await clock.sleep(3_600_000);
				if (who === 'a restarted process') await inbox.trigger.restart();
				const { reads } = inbox;
				inbox.show(hash, after, 2_000);

				expect([await inbox.post(hash, word), inbox.reads - reads]).toEqual([200, 2]);
				await inbox.trigger.settled();
				expect(inbox.statuses.filter((status) => status !== before)).toEqual([after]);
			},
		);
	});

	test.each(['waiting_payment', 'approved', undefined])(
		'copies of a started status are answered at once and cost no read, also if the first webhook said %s',
		async (status) => {
			const hash = await inbox.begin(PAID, 'paid');
			await inbox.post(hash, status);
			const { reads } = inbox;

			for (let nth = 0; nth < 3; nth++) expect(await inbox.post(hash, 'paid')).toBe(200);
			expect([inbox.reads, inbox.statuses]).toEqual([reads, ['paid']]);
		},
	);

	test('a change that is reported during a read is read next', async () => {
		const hash = await inbox.begin(ANY);
		inbox.account.fault('read', { kind: 'delayAfterProcessing', ms: 100 });
		const first = inbox.post(hash, 'waiting_payment');
		await clock.sleep(50);
		await inbox.account.sandbox.setStatus(hash, 'paid');

		expect([await inbox.post(hash, 'paid'), await first]).toEqual([200, 200]);
		expect([inbox.statuses, inbox.reads]).toEqual([['waiting_payment', 'paid'], 2]);
	});

	test.each<[INodeParameters, string, string | undefined, string, number]>([
		[PAID, 'paid', 'approved', 'paid', 10_000],
		[PAID, 'waiting_payment', 'approved', 'paid', 10_000],
		[BOTH, 'waiting_payment', undefined, 'paid', 100_000],
		[ANY, 'paid', 'refunded', 'refunded', 10_000],
	])(
		'Trigger On %j, read as %s, claimed %s: if the second read fails, the execution looks, and starts with %s',
		async (form, before, word, after, lagMs) => {
			const hash = await inbox.begin(form, before);
			await inbox.post(hash, before);
			await inbox.trigger.restart();
			inbox.show(hash, after, lagMs);
			for (let nth = 0; nth < 2; nth++) {
				inbox.account.fault('read', { kind: 'status', status: 500, after: 1, body: {} }, 'always');
				expect(await inbox.post(hash, word)).toBe(200);
				inbox.account.sandbox.clearFaults();
				await clock.sleep(300_000);
			}

			await inbox.trigger.settled();
			expect(new Set(inbox.statuses)).toContain(after);
			expect(inbox.statuses).toEqual([...new Set(inbox.statuses)]);
		},
	);

	test('a sale that the first read shows needs no second one, even if no execution may wait', async () => {
		const hash = await inbox.begin(PAID, 'paid', { workflowSettings: { executionTimeout: 3_600 } });
		inbox.account.fault('read', { kind: 'status', status: 500, after: 1 }, 'always');

		expect(await inbox.post(hash, 'approved')).toBe(200);
		expect(inbox.statuses).toEqual(['paid']);
	});

	test.each([undefined, 'approved'])(
		'claimed %s: a payment that reads show later starts the workflow, although the second read fails and the first shows a wanted status',
		async (word) => {
			const hash = await inbox.begin(BOTH, 'waiting_payment');
			inbox.account.fault('read', { kind: 'status', status: 404, after: 1, body: {} });
			inbox.show(hash, 'paid', 500);

			expect(await inbox.post(hash, word)).toBe(200);
			await inbox.trigger.settled();
			expect(inbox.statuses).toContain('paid');
		},
	);

	test.each<[INodeParameters, Record<string, unknown>, string]>([
		[PIX, { payment_method: 'credit_card' }, 'refused'],
		[PIX, { payment_method: null }, 'waiting_payment'],
		[{ ...PAID, filters: { minimumAmount: '0,01' } }, { amount: null }, 'waiting_payment'],
	])('if a read does not match the filter yet: %j, %j, %s', async (form, set, status) => {
		const hash = await inbox.begin(form, status);
		inbox.account.fault('read', { kind: 'patchBody', set }, 'always');
		await inbox.post(hash, status);
		setTimeout(() => inbox.account.sandbox.clearFaults(), 2_000);
		inbox.show(hash, 'paid', 2_000);

		expect(await inbox.post(hash, 'paid')).toBe(200);
		expect(inbox.statuses).toEqual(['paid']);
	});

	test('a read that is a few seconds old is repeated', async () => {
		const hash = await inbox.begin(PAID, 'paid');
		inbox.trigger.failingStores = 1;
		expect(await inbox.post(hash, 'paid')).toBe(500);
		await inbox.account.sandbox.setStatus(hash, 'refunded');
		await clock.sleep(3_100);

		expect(await inbox.post(hash, 'paid')).toBe(200);
		expect(inbox.items).toEqual([]);
	});

	test.each<[INodeParameters, string, object]>([
		[PAID, 'paid', { event: 'abandoned_cart_recovered', status: 'approved' }],
		[PAID, 'paid', { type: 'teste_gratis' }],
		[ABANDONED, 'checkout_abandoned', { status: 'checkout_abandoned' }],
	])(
		'a sale that cannot be read for two seconds starts the workflow: %j, %s, %j',
		async (form, read, webhook) => {
			const hash = await inbox.begin(form, read);
			inbox.account.fault('read', { kind: 'status', status: 404, body: {} }, 'always');
			setTimeout(() => inbox.account.sandbox.clearFaults(), 2_000);

			expect((await inbox.trigger.post({ hash, ...webhook })).status).toBe(200);
			expect(inbox.statuses).toEqual([read]);
		},
	);
});

describe('Digital Sales Trigger: an answer before the sender stops waiting', () => {
	const inbox = useInbox();

	beforeEach(async () => {
		await inbox.publish(PAID);
		jest.spyOn(clock, 'random').mockReturnValue(0.9);
	});
	afterEach(() => jest.restoreAllMocks());

	test('a platform that is down is asked a second time, but not a third time', async () => {
		const notice = { hash: await inbox.charge(), status: 'waiting_payment' };
		inbox.account.fault('read', { kind: 'status', status: 503 }, 3);

		expect([(await inbox.trigger.post(notice)).status, inbox.reads]).toEqual([503, 2]);
		expect([(await inbox.trigger.post(notice)).status, inbox.reads]).toEqual([200, 4]);
	});

	test.each([
		['delay', 3_000, 200],
		['delay', 5_500, 200],
		['delay', 20_000, 503],
		['slowBody', 110_000, 503],
	] as const)('however slowly the platform answers: %s of %i ms', async (kind, ms, expected) => {
		const hash = await inbox.charge();
		inbox.account.fault('read', { kind, ms }, 'always');
		const startedAt = clock.elapsed();

		expect((await inbox.trigger.post({ hash, status: 'paid' })).status).toBe(expected);
		expect(clock.elapsed() - startedAt).toBeLessThanOrEqual(ANSWER_WITHIN_MS);
	});

	test.each([
		['gets no request if little time is left', 2_600, 0],
		['is read for a shorter time if less is left', 3_100, 1],
	])('the platform %s', async (_name, leftMs, reads) => {
		delayCredential(ANSWER_WITHIN_MS - leftMs);
		inbox.account.fault('read', { kind: 'delay', ms: 4_000 }, 'always');
		const startedAt = clock.elapsed();

		expect((await inbox.trigger.post({ hash: 'ab12' })).status).toBe(503);
		expect(inbox.reads).toBe(reads);
		expect(clock.elapsed() - startedAt).toBeLessThanOrEqual(ANSWER_WITHIN_MS);
	});
});
