import type { INodeParameters } from 'n8n-workflow';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { delayCredential } from '../../helpers/engine/credentials';
import { useInbox } from '../../helpers/inbox';
import { isTaken, sendAsPlatform, type Sent } from '../../helpers/platform';

/** The longest time to an answer, whatever the service does. */
const ANSWER_WITHIN_MS = 9_500;
const PAID = { triggerOn: ['paid'] };
const REVERSED = { triggerOn: ['reversed'] };
const ABANDONED = { triggerOn: ['other'], otherStatuses: 'checkout_abandoned' };

describe('Digital Sales Trigger: what is read twice within three seconds counts', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	const begin = async (form: INodeParameters, before: string): Promise<string> => {
		await inbox.publish(form);
		const hash = await inbox.charge();
		await inbox.account.sandbox.setStatus(hash, before);
		return hash;
	};
	const change = (hash: string, status: string, ms: number): void => {
		setTimeout(() => void inbox.account.sandbox.setStatus(hash, status), ms);
	};
	const post = async (hash: string, status?: string): Promise<number> =>
		(await inbox.trigger.post({ hash, status })).status;
	const statuses = (): unknown[] => inbox.items.map(({ payment_status: status }) => status);

	test.each<[INodeParameters, string, string | undefined, string]>([
		[PAID, 'waiting_payment', 'approved', 'paid'],
		[PAID, 'waiting_payment', undefined, 'paid'],
		[REVERSED, 'paid', undefined, 'refunded'],
		[{ triggerOn: ['waiting', 'paid'] }, 'waiting_payment', 'approved', 'paid'],
		[{ triggerOn: ['any'] }, 'waiting_payment', undefined, 'paid'],
		[{ triggerOn: ['waiting'] }, 'refused', 'waiting_payment', 'waiting_payment'],
	])('Trigger On %j, read as %s, claimed %s: starts with %s', async (form, before, word, after) => {
		const hash = await begin(form, before);
		change(hash, after, 2_000);

		expect(await post(hash, word)).toBe(200);
		expect([statuses(), inbox.reads]).toEqual([[after], 2]);
	});

	test.each(['the same process', 'a restarted process', 'another process'])(
		'also if the status before has started the workflow an hour ago: %s',
		async (where) => {
			for (const [on, was, word, is] of [
				[['paid', 'reversed'], 'paid', 'estornado', 'refunded'],
				[['any'], 'refused', 'waiting_payment', 'waiting_payment'],
				[['reversed'], 'med_analysis', 'med_received', 'med_received'],
			] as const) {
				const hash = await begin({ triggerOn: [...on] }, was);
				if (where === 'another process') inbox.trigger.addProcess();
				await post(hash, was);
				await clock.sleep(3_600_000);
				if (where === 'a restarted process') await inbox.trigger.restart();
				change(hash, is, 2_000);

				expect(await post(hash, word)).toBe(200);
				await inbox.trigger.settled();
				expect(statuses()).toEqual([was, is]);
			}
		},
	);

	test.each(['waiting_payment', 'approved', undefined])(
		'copies of a started status are answered at once and cost no read, also if the first webhook said %s',
		async (status) => {
			const hash = await begin(PAID, 'paid');
			await post(hash, status);
			const { reads } = inbox;

			for (let nth = 0; nth < 3; nth++) expect(await post(hash, 'paid')).toBe(200);
			expect([inbox.reads, statuses()]).toEqual([reads, ['paid']]);
		},
	);

	test('five changes within minutes, each in two webhooks in own words, are all answered 200', async () => {
		const path = ['waiting_payment', 'paid', 'med_received', 'med_analysis', 'refunded'];
		const hash = await begin({ triggerOn: ['paid', 'reversed'] }, 'waiting_payment');
		const sending: Array<Promise<Sent>> = [];
		for (const status of path) {
			await inbox.account.sandbox.setStatus(hash, status);
			for (const by of ['account', 'charge']) {
				sending.push(sendAsPlatform(inbox.trigger.url, { hash, status: `o ${status}`, by }));
			}
			await clock.sleep(100_000);
		}

		expect((await Promise.all(sending)).filter((sent) => !isTaken(sent))).toEqual([]);
		expect(statuses()).toEqual(path.slice(1));
	});

	test('a webhook without a status about a known sale is answered 200, and starts nothing', async () => {
		const hash = await begin({ triggerOn: ['any'] }, 'paid');

		expect([await post(hash, 'paid'), await post(hash), await post(hash, 'odd')]).toEqual([
			200, 200, 200,
		]);
		expect(statuses()).toEqual(['paid']);
	});

	test('a sale that the service shows without a status starts the workflow under Any Status', async () => {
		const hash = await begin({ triggerOn: ['any'] }, 'paid');
		inbox.account.fault('read', { kind: 'patchBody', remove: ['payment_status'] }, 'always');

		expect([await post(hash, 'frozen'), await post(hash)]).toEqual([200, 200]);
		expect(inbox.items).toMatchObject([{ hash, payment_status: null }]);
	});

	test('two webhooks at the same moment share their reads, and start the workflow once', async () => {
		const hash = await begin({ triggerOn: ['paid', 'reversed'] }, 'paid');

		expect(await Promise.all([post(hash), post(hash)])).toContain(200);
		expect([inbox.reads, statuses()]).toEqual([2, ['paid']]);
	});

	test('a change that is reported during a read is read next', async () => {
		const hash = await begin({ triggerOn: ['any'] }, 'waiting_payment');
		inbox.account.fault('read', { kind: 'delayAfterProcessing', ms: 100 });
		const first = post(hash, 'waiting_payment');
		await clock.sleep(50);
		await inbox.account.sandbox.setStatus(hash, 'paid');

		expect([await post(hash, 'paid'), await first]).toEqual([200, 200]);
		expect([statuses(), inbox.reads]).toEqual([['waiting_payment', 'paid'], 2]);
	});

	test.each<[INodeParameters, string, string | undefined, string]>([
		[PAID, 'paid', 'approved', 'paid'],
		[PAID, 'waiting_payment', 'approved', 'paid'],
		[{ triggerOn: ['waiting', 'paid'] }, 'waiting_payment', undefined, 'paid'],
		[{ triggerOn: ['any'] }, 'paid', 'refunded', 'refunded'],
	])(
		'Trigger On %j, read as %s, claimed %s: if the second read fails, the execution looks, and starts with %s',
		async (form, before, word, after) => {
			const hash = await begin(form, before);
			await post(hash, before);
			await inbox.trigger.restart();
			inbox.account.fault('read', { kind: 'status', status: 500, after: 1, body: {} }, 'always');
			expect(await post(hash, word)).toBe(200);
			inbox.account.sandbox.clearFaults();
			change(hash, after, 10_000);

			await inbox.trigger.settled();
			expect(statuses().filter((status) => status !== before || before === after)).toEqual([after]);
		},
	);

	test('a read that is a few seconds old is repeated', async () => {
		const hash = await begin(PAID, 'paid');
		inbox.trigger.failingStores = 1;
		expect(await post(hash, 'paid')).toBe(500);
		await inbox.account.sandbox.setStatus(hash, 'refunded');
		await clock.sleep(3_100);

		expect(await post(hash, 'paid')).toBe(200);
		expect(inbox.items).toEqual([]);
	});

	describe('a sale that cannot be read yet', () => {
		const hideFor = (ms: number): void => {
			inbox.account.fault('read', { kind: 'status', status: 404, body: {} }, 'always');
			setTimeout(inbox.account.sandbox.clearFaults.bind(inbox.account.sandbox), ms);
		};

		test.each([
			[PAID, 'paid', { event: 'abandoned_cart_recovered' }],
			[ABANDONED, 'checkout_abandoned', { status: 'checkout_abandoned' }],
		])('for two seconds is read again and starts the workflow', async (form, read, webhook) => {
			const hash = await begin(form, read);
			hideFor(2_000);

			expect((await inbox.trigger.post({ hash, ...webhook })).status).toBe(200);
			expect(inbox.items).toHaveLength(1);
		});

		test('for a minute makes the sender try again', async () => {
			const hash = await begin(PAID, 'paid');
			hideFor(60_000);

			const { status, headers } = await inbox.trigger.post({ hash, status: 'paid' });
			expect([status, Number(headers['retry-after'])]).toEqual([503, 60]);
			await clock.sleep(60_000);
			expect(await post(hash, 'paid')).toBe(200);
		});
	});
});

describe('Digital Sales Trigger: an answer before the sender stops waiting', () => {
	const inbox = useInbox();

	beforeEach(async () => {
		await inbox.publish(PAID);
		jest.spyOn(clock, 'random').mockReturnValue(0.9);
	});
	afterEach(() => jest.restoreAllMocks());

	test('a service that is down is asked a second time, but not a third time', async () => {
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
	] as const)('however slowly the service answers: %s of %i ms', async (kind, ms, expected) => {
		const hash = await inbox.charge();
		inbox.account.fault('read', { kind, ms }, 'always');
		const startedAt = clock.elapsed();

		expect((await inbox.trigger.post({ hash, status: 'paid' })).status).toBe(expected);
		expect(clock.elapsed() - startedAt).toBeLessThanOrEqual(ANSWER_WITHIN_MS);
	});

	test.each([
		['gets no request if little time is left', 2_600, 0],
		['is read for a shorter time if less is left', 3_100, 1],
	])('the service %s', async (_name, leftMs, reads) => {
		delayCredential(ANSWER_WITHIN_MS - leftMs);
		inbox.account.fault('read', { kind: 'delay', ms: 4_000 }, 'always');
		const startedAt = clock.elapsed();

		expect((await inbox.trigger.post({ hash: 'ab12' })).status).toBe(503);
		expect(inbox.reads).toBe(reads);
		expect(clock.elapsed() - startedAt).toBeLessThan(ANSWER_WITHIN_MS - 2_000);
	});
});
