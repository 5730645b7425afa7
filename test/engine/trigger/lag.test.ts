import type { INodeParameters } from 'n8n-workflow';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { chargesAt } from '../../helpers/charge';
import { HarnessCredentials } from '../../helpers/engine/credentials';
import { products, useInbox } from '../../helpers/inbox';
import { isTaken, postFrom, sendAsPlatform, type Sent } from '../../helpers/platform';

/** The longest time to an answer, whatever the service does. */
const ANSWER_WITHIN_MS = 9_500;
/** For one webhook. */
const MOST_READS = 3;

describe('Digital Sales Trigger: a webhook says that a sale is paid, but reads show it unpaid', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });
	let hash: string;

	beforeEach(async () => {
		hash = await inbox.charge();
	});

	/** Publishes the trigger, and reads the charge once before it is paid. */
	const publish = async (triggerOn = 'paid'): Promise<void> => {
		await inbox.publish({ triggerOn: [triggerOn] });
		await inbox.trigger.post({ hash, status: 'waiting_payment' });
		await clock.sleep(10_000);
	};
	/** Reads show the payment after this time. */
	const pay = (ms: number): void => {
		setTimeout(() => void inbox.account.sandbox.setStatus(hash, 'paid'), ms);
	};
	/** Sends a webhook that claims the payment. */
	const notify = async () => {
		const [startedAt, before] = [clock.elapsed(), inbox.reads];
		const { status, headers } = await inbox.trigger.post({ hash, status: 'paid' });
		const tookMs = clock.elapsed() - startedAt;
		return { status, headers, tookMs, reads: inbox.reads - before };
	};

	test('a read that lags by two seconds is repeated, and starts the workflow', async () => {
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
	])('a read that lags by a minute makes the sender retry: Trigger On %s', async (on, before) => {
		await publish(on);
		pay(60_000);

		const { status, headers, tookMs, reads } = await notify();

		expect(status).toBe(503);
		expect(Number(headers['retry-after'])).toBeGreaterThan(0);
		expect(tookMs).toBeLessThan(ANSWER_WITHIN_MS);
		expect(reads).toBeLessThanOrEqual(MOST_READS);
		expect(inbox.items).toHaveLength(before);
		await clock.sleep(60_000);
		expect((await notify()).status).toBe(200);
		expect(inbox.items).toHaveLength(before + 1);
		expect(inbox.items.at(-1)).toMatchObject({ payment_status: 'paid' });
	});

	test('a minute of forged webhooks costs few reads', async () => {
		await publish();
		const before = inbox.reads;
		const until = clock.elapsed() + 60_000;

		while (clock.elapsed() < until) {
			await Promise.all(Array.from({ length: 5 }, notify));
			await clock.sleep(1_000);
		}

		expect(inbox.reads - before).toBeLessThanOrEqual(6);
		expect(inbox.items).toEqual([]);
	});

	test('a read that is ahead of the webhook starts the workflow', async () => {
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

	test('unconfirmed webhooks do not delay another transaction', async () => {
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

describe('Digital Sales Trigger: a read that lags behind a webhook', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });
	/** Publishes the trigger, and makes a charge that reads show with this status. */
	const begin = async (form: INodeParameters, before: string): Promise<string> => {
		await inbox.publish(form);
		const hash = await inbox.charge();
		await inbox.account.sandbox.setStatus(hash, before);
		return hash;
	};
	const change = (hash: string, status: string, ms: number): void => {
		setTimeout(() => void inbox.account.sandbox.setStatus(hash, status), ms);
	};
	const statuses = (): unknown[] => inbox.items.map(({ payment_status: status }) => status);
	const PAID = { triggerOn: ['paid'] };
	const REVERSED = { triggerOn: ['reversed'] };
	const OTHER = { triggerOn: ['other'], otherStatuses: 'frozen, Em Análise' };

	describe.each<[INodeParameters, string, string | undefined, string]>([
		[PAID, 'waiting_payment', 'PAID', 'paid'],
		[PAID, 'waiting_payment', 'approved', 'paid'],
		[PAID, 'waiting_payment', undefined, 'paid'],
		[PAID, 'expired', 'Paid', 'paid'],
		[PAID, 'never_heard_of', 'paid', 'paid'],
		[REVERSED, 'paid', 'med_analysis', 'med_analysis'],
		[REVERSED, 'paid', 'WAITING_REFUND', 'waiting_refund'],
		[REVERSED, 'paid', undefined, 'refunded'],
		[OTHER, 'paid', 'frozen', 'frozen'],
		[OTHER, 'paid', 'em análise', 'Em Análise'],
		[OTHER, 'waiting_payment', 'pago', 'frozen'],
		[{ triggerOn: ['failed'] }, 'waiting_payment', 'Expired', 'expired'],
		[{ triggerOn: ['waiting', 'paid'] }, 'waiting_payment', 'paid', 'paid'],
		[{ triggerOn: ['any'] }, 'paid', 'chargeback', 'chargeback'],
	])('Trigger On %j, read as %s, claimed %s', (form, before, claimed, after) => {
		test('a read that lags by two seconds is repeated and starts the workflow', async () => {
			const hash = await begin(form, before);
			change(hash, after, 2_000);

			expect((await inbox.trigger.post({ hash, status: claimed })).status).toBe(200);
			expect(inbox.items).toMatchObject([{ payment_status: after }]);
		});

		test('a read that lags by a minute makes the sender try again', async () => {
			const hash = await begin(form, before);
			change(hash, after, 60_000);

			const { status, headers } = await inbox.trigger.post({ hash, status: claimed });
			expect([status, inbox.items]).toEqual([503, []]);
			expect(Number(headers['retry-after'])).toBeGreaterThan(0);
			await clock.sleep(60_000);
			expect((await inbox.trigger.post({ hash, status: claimed })).status).toBe(200);
			expect(inbox.items).toMatchObject([{ payment_status: after }]);
		});
	});

	test.each<[INodeParameters, string, string | undefined]>([
		[PAID, 'refunded', 'paid'],
		[PAID, 'med_analysis', undefined],
		[PAID, 'waiting_payment', 'waiting_payment'],
		[PAID, 'waiting_payment', 'Expired'],
		[PAID, 'expired', 'waiting_payment'],
		[{ triggerOn: ['failed'] }, 'paid', 'expired'],
		[{ triggerOn: ['waiting'] }, 'paid', undefined],
		[{ ...PAID, ...products('another1') }, 'paid', undefined],
	])(
		'Trigger On %j, read as %s, claimed %s: one read is enough, and nothing starts',
		async (form, read, claimed) => {
			const hash = await begin(form, read);

			expect((await inbox.trigger.post({ hash, status: claimed })).status).toBe(200);
			expect([inbox.items, inbox.reads]).toEqual([[], 1]);
		},
	);

	describe('under Any Status, a webhook with a status that the package does not know', () => {
		const ANY = { triggerOn: ['any'] };
		const send = async (hash: string, status: string): Promise<Sent> =>
			await sendAsPlatform(inbox.trigger.url, { hash, status });

		test.each(['paid', 'approved'])(
			'is answered 200 at last if reads have not changed since a webhook that said %s',
			async (first) => {
				const hash = await begin(ANY, 'paid');
				expect(await send(hash, first)).toEqual([200]);

				expect(await send(hash, 'approved')).toEqual([503, 503, 200]);
				expect(inbox.items).toHaveLength(1);
			},
		);

		test('starts the workflow once reads show it', async () => {
			const hash = await begin(ANY, 'paid');
			await send(hash, 'paid');
			change(hash, 'frozen', 90_000);

			expect(await send(hash, 'frozen')).toEqual([503, 503, 200]);
			expect(inbox.items.at(-1)).toMatchObject({ payment_status: 'frozen' });
		});

		test('starts the workflow once reads show the payment of a charge that was emitted before', async () => {
			const hash = await begin(ANY, 'waiting_payment');
			await send(hash, 'created');
			await clock.sleep(300_000);
			change(hash, 'paid', 90_000);

			expect(await send(hash, 'approved')).toEqual([503, 503, 200]);
			expect(inbox.items.at(-1)).toMatchObject({ payment_status: 'paid' });
		});
	});

	describe.each<[string[], string | undefined, string, string]>([
		[['any'], undefined, 'waiting_payment', 'paid'],
		[['waiting', 'paid'], 'approved', 'waiting_payment', 'paid'],
		[['waiting', 'paid'], undefined, 'waiting_payment', 'paid'],
		[['paid', 'reversed'], 'estornado', 'paid', 'refunded'],
	])('Trigger On %j, claimed %s, emitted %s before', (triggerOn, word, was, is) => {
		test.each([2_000, 60_000])('no status is lost if reads lag by %i ms', async (ms) => {
			const hash = await begin({ triggerOn }, was);
			await sendAsPlatform(inbox.trigger.url, { hash, status: was });
			await clock.sleep(200_000);
			change(hash, is, ms);

			await sendAsPlatform(inbox.trigger.url, { hash, status: word });
			expect(statuses()).toEqual([was, is]);
		});

		test('the webhook is answered 200 at last if reads never change', async () => {
			const hash = await begin({ triggerOn }, was);
			await sendAsPlatform(inbox.trigger.url, { hash, status: was });

			const sent = await sendAsPlatform(inbox.trigger.url, { hash, status: word });
			expect([sent, statuses()]).toEqual([[503, 503, 200], [was]]);
		});
	});

	describe.each([[['any']], [['waiting', 'paid']]])('Trigger On %j', (triggerOn) => {
		test.each(['approved', undefined])(
			'the first webhook about a charge, claimed %s, waits two seconds until reads show the payment',
			async (status) => {
				const hash = await begin({ triggerOn }, 'waiting_payment');
				change(hash, 'paid', 2_000);

				expect((await inbox.trigger.post({ hash, status })).status).toBe(200);
				expect(statuses()).toEqual(['paid']);
			},
		);
	});

	describe.each<[string[], string, string | undefined, string]>([
		[['paid', 'reversed'], 'paid', undefined, 'refunded'],
		[['paid', 'reversed'], 'paid', 'estornado', 'refunded'],
		[['failed', 'paid'], 'expired', 'approved', 'paid'],
		[['paid', 'other'], 'paid', 'frozen', 'frozen'],
		[['reversed'], 'med_analysis', 'med_received', 'med_received'],
		[['any'], 'paid', undefined, 'med_analysis'],
		[['any'], 'waiting_payment', 'authorized', 'authorized'],
		[['any'], 'refused', 'waiting_payment', 'waiting_payment'],
	])('Trigger On %j: %s was emitted an hour before a webhook claims %s', (on, was, claimed, is) => {
		test.each(['the same process', 'a restarted process', 'another process'])(
			'%s reads again until the new status appears, and starts the workflow',
			async (where) => {
				const hash = await begin({ triggerOn: on, otherStatuses: 'frozen' }, was);
				if (where === 'another process') inbox.trigger.addProcess();
				await sendAsPlatform(inbox.trigger.url, { hash, status: was });
				await clock.sleep(3_600_000);
				if (where === 'a restarted process') await inbox.trigger.restart();
				change(hash, is, 2_000);

				await sendAsPlatform(inbox.trigger.url, { hash, status: claimed });
				expect(statuses()).toEqual([was, is]);
			},
		);
	});

	test.each([
		[['reversed'], 'med_analysis', 'med_received'],
		[['any'], 'refunded', 'chargeback'],
		[['paid', 'other'], 'paid', 'frozen'],
		[['waiting'], 'waiting_payment', 'authorized'],
	])(
		'Trigger On %j: %s and %s within a second start the workflow, even if the webhook of the later status comes first',
		async (triggerOn, was, is) => {
			const hash = await begin({ triggerOn, otherStatuses: 'frozen' }, was);
			change(hash, is, 2_000);
			const later = sendAsPlatform(inbox.trigger.url, { hash, status: is });
			await clock.sleep(500);

			await Promise.all([later, sendAsPlatform(inbox.trigger.url, { hash, status: was })]);
			expect(statuses()).toContain(is);
		},
	);

	test.each(['waiting_payment', 'Aguardando pagamento'])(
		'a new PIX after a refused card starts the workflow although a read lags: the webhook claims %s',
		async (claimed) => {
			const hash = await begin({ triggerOn: ['waiting'] }, 'refused');
			await sendAsPlatform(inbox.trigger.url, { hash, status: 'refused' });
			await clock.sleep(120_000);
			change(hash, 'waiting_payment', 2_000);

			await sendAsPlatform(inbox.trigger.url, { hash, status: claimed });
			expect(statuses()).toEqual(['waiting_payment']);
		},
	);

	test.each([undefined, 'approved'])(
		'a webhook from a stranger five minutes earlier does not make the trigger give up sooner: both claim %s',
		async (status) => {
			const hash = await begin(PAID, 'waiting_payment');
			await postFrom('203.0.113.7', inbox.trigger.url, { hash, status });
			await clock.sleep(300_000);
			change(hash, 'paid', 1_000);

			await sendAsPlatform(inbox.trigger.url, { hash, status });
			expect(statuses()).toEqual(['paid']);
		},
	);

	test.each([undefined, 'success'])(
		'a webhook that was never answered 200 does not make the trigger give up sooner on the next: both claim %s',
		async (status) => {
			const hash = await begin(PAID, 'waiting_payment');
			const notice = { hash, status, updated_at: '2026-11-26 21:47:01' };
			expect(await postFrom('192.0.2.1', inbox.trigger.url, notice)).toBe(503);
			await clock.sleep(130_000);
			change(hash, 'paid', 1_000);

			const next = { ...notice, updated_at: '2026-11-26 21:49:11' };
			await sendAsPlatform(inbox.trigger.url, next, '192.0.2.1');
			expect(statuses()).toEqual(['paid']);
		},
	);

	test.each<[INodeParameters, (status: string) => string | undefined, string[]]>([
		[{ triggerOn: ['any'] }, () => undefined, ['expired', 'paid', 'refunded']],
		[{ triggerOn: ['any'] }, (status) => `o ${status}`, ['expired', 'paid', 'refunded']],
		[{ triggerOn: ['any'] }, (status) => status, ['med_received', 'med_analysis', 'med_approved']],
		[REVERSED, (status) => `o ${status}`, ['med_received', 'med_analysis', 'refunded']],
		[REVERSED, (status) => status, ['med_received', 'med_analysis', 'refunded']],
	])(
		'Trigger On %j: a webhook that starts the workflow with the status before its own loses none (%p, %j)',
		async (form, word, [first = '', second = '', third = '']) => {
			const hash = await begin(form, 'waiting_payment');
			const send = async (status: string): Promise<Sent> =>
				await sendAsPlatform(inbox.trigger.url, { hash, status: word(status), nth: status });
			change(hash, first, 90_000);
			change(hash, second, 95_000);
			change(hash, third, 210_000);
			const sending = [send('waiting_payment')];
			for (const status of [first, second, third]) {
				await clock.sleep(500);
				sending.push(send(status));
				await clock.sleep(60_000);
			}

			await Promise.all(sending);
			expect(statuses().filter((status) => status !== 'waiting_payment')).toEqual([
				first,
				second,
				third,
			]);
		},
	);

	test.each([
		['reversed', 'paid', 'med_received', 'med_analysis'],
		['reversed', 'paid', 'refunded', 'chargeback'],
		['waiting', 'new', 'waiting_payment', 'processing'],
		['failed', 'waiting_payment', 'refused', 'expired'],
	])(
		'Trigger On %s, read as %s: a webhook that says %s, and comes again, brings the %s of a webhook that brought its status',
		async (group, before, first, second) => {
			const hash = await begin({ triggerOn: [group] }, before);
			change(hash, first, 90_000);
			change(hash, second, 190_000);

			const one = sendAsPlatform(inbox.trigger.url, { hash, status: first });
			await clock.sleep(100_000);
			expect(await sendAsPlatform(inbox.trigger.url, { hash, status: second })).toEqual([200]);
			expect(await one).toEqual([503, 503, 503, 200]);
			expect(statuses()).toEqual([first, second]);
		},
	);

	test('a webhook whose status another brought is answered 200 at last, and further copies at once', async () => {
		const hash = await begin(REVERSED, 'med_received');
		const send = async (status: string, nth = 0): Promise<Sent> =>
			await sendAsPlatform(inbox.trigger.url, { hash, status, nth });

		expect(await send('med_analysis')).toEqual([200]);
		expect(await send('med_received')).toEqual([503, 503, 200]);
		const { reads } = inbox;
		expect([await send('med_received'), await send('med_received', 1)]).toEqual([[200], [200]]);
		expect([inbox.reads, statuses()]).toEqual([reads, ['med_received']]);
	});

	test.each(['waiting_payment', 'approved', undefined])(
		'copies of a started status are answered at once and cost no read, also if the first webhook said %s',
		async (status) => {
			const hash = await begin(PAID, 'paid');
			await sendAsPlatform(inbox.trigger.url, { hash, status });
			const { reads } = inbox;

			for (let nth = 0; nth < 3; nth++) {
				expect((await inbox.trigger.post({ hash, status: 'paid', nth })).status).toBe(200);
			}
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
				const webhook = { hash, status: `o ${status}`, by };
				sending.push(sendAsPlatform(inbox.trigger.url, webhook));
			}
			await clock.sleep(100_000);
		}

		expect((await Promise.all(sending)).filter((sent) => !isTaken(sent))).toEqual([]);
		expect(statuses()).toEqual(path.slice(1));
	});

	test('a webhook without a status is answered 200 at last, although reads change before each of its copies', async () => {
		const hash = await begin(PAID, 'waiting_payment');
		change(hash, 'processing', 100_000);
		change(hash, 'expired', 600_000);

		expect(await sendAsPlatform(inbox.trigger.url, { hash })).toEqual([503, 503, 503, 200]);
		expect(statuses()).toEqual([]);
	});

	test('a partial refund after a restart is answered 200 at last', async () => {
		const hash = await begin(PAID, 'paid');
		await sendAsPlatform(inbox.trigger.url, { hash, status: 'paid' });
		await inbox.trigger.restart();

		const refund = { hash, status: 'refunded' };
		expect(await sendAsPlatform(inbox.trigger.url, refund)).toEqual([503, 503, 200]);
		expect(statuses()).toEqual(['paid']);
	});

	test('a sale that two senders report at the same moment starts the workflow after two reads', async () => {
		const hash = await begin({ triggerOn: ['paid', 'reversed'] }, 'paid');

		const sent = ['192.0.2.1', '192.0.2.2'].map(
			async (sender) => await postFrom(sender, inbox.trigger.url, { hash }),
		);
		expect(await Promise.all(sent)).toContain(200);
		expect([inbox.reads, statuses()]).toEqual([2, ['paid']]);
	});

	test('a webhook with the platform’s own word for an open charge is answered 200 at last, and starts nothing', async () => {
		const hash = await begin(PAID, 'waiting_payment');
		const notice = { hash, status: 'Aguardando pagamento' };

		expect(await sendAsPlatform(inbox.trigger.url, notice)).toEqual([503, 503, 200]);
		expect(statuses()).toEqual([]);
	});

	test('a payment starts the workflow at once, however often webhooks reported the open charge before', async () => {
		const hash = await begin(PAID, 'waiting_payment');
		for (let nth = 0; nth < 3; nth++) {
			await sendAsPlatform(inbox.trigger.url, { hash, status: 'Aguardando pagamento', nth });
		}
		await clock.sleep(120_000);
		change(hash, 'paid', 500);

		const notice = { hash, status: 'Pagamento aprovado' };
		expect(await sendAsPlatform(inbox.trigger.url, notice)).toEqual([200]);
		expect(statuses()).toEqual(['paid']);
	});

	test.each(['success', undefined])(
		'a second change starts the workflow, too, even if the webhooks of both changes claim %s',
		async (status) => {
			const hash = await begin({ triggerOn: ['any'] }, 'waiting_payment');
			await sendAsPlatform(inbox.trigger.url, { hash, status });
			await clock.sleep(130_000);
			change(hash, 'paid', 2_000);

			await sendAsPlatform(inbox.trigger.url, { hash, status });
			expect(statuses()).toEqual(['waiting_payment', 'paid']);
		},
	);

	test.each<INodeParameters>([
		{ triggerOn: ['any'] },
		{ triggerOn: ['other'], otherStatuses: 'approved' },
	])('a sale that only webhooks call paid starts the workflow once: %j', async (form) => {
		const hash = await begin(form, 'approved');
		const notice = { hash, status: 'paid' };

		expect(await sendAsPlatform(inbox.trigger.url, notice)).toEqual([503, 503, 200]);
		expect((await sendAsPlatform(inbox.trigger.url, notice)).at(-1)).toBe(200);
		expect(statuses()).toEqual(['approved']);
	});

	test('a sale that the service shows without a status starts the workflow under Any Status', async () => {
		const hash = await begin({ triggerOn: ['any'] }, 'paid');
		inbox.account.fault('read', { kind: 'patchBody', remove: ['payment_status'] }, 'always');

		await sendAsPlatform(inbox.trigger.url, { hash, status: 'paid' });
		expect(inbox.items).toMatchObject([{ hash, payment_status: null }]);
	});

	test('a partial refund, after which the sale stays paid, is answered 200 at once', async () => {
		const hash = await begin(PAID, 'paid');
		await sendAsPlatform(inbox.trigger.url, { hash, status: 'paid' });

		expect((await inbox.trigger.post({ hash, status: 'refunded' })).status).toBe(200);
		expect(statuses()).toEqual(['paid']);
	});

	test('a repeat that spells the status in another way is answered 200 at last', async () => {
		const hash = await begin({ triggerOn: ['failed'] }, 'cancelled');
		const notice = { hash, status: 'canceled' };

		expect(await sendAsPlatform(inbox.trigger.url, notice)).toEqual([200]);
		expect(await sendAsPlatform(inbox.trigger.url, notice)).toEqual([503, 503, 200]);
	});

	test('a newer status of the same Trigger On is emitted, too, although the first read is old', async () => {
		const hash = await begin({ triggerOn: ['waiting'] }, 'waiting_payment');
		await inbox.trigger.post({ hash });
		change(hash, 'authorized', 2_000);
		await inbox.trigger.post({ hash, status: 'authorized' });

		expect(inbox.items).toMatchObject([
			{ payment_status: 'waiting_payment' },
			{ payment_status: 'authorized' },
		]);
	});

	test('a read starts the workflow even if the webhook claims an earlier status', async () => {
		const hash = await begin(PAID, 'paid');

		await inbox.trigger.post({ hash, status: 'waiting_payment' });

		expect(inbox.items).toMatchObject([{ payment_status: 'paid' }]);
	});

	describe('a sale that cannot be read yet', () => {
		const hide = (): void => {
			inbox.account.fault('read', { kind: 'status', status: 404, body: {} }, 'always');
		};
		const show = (ms: number): void =>
			void setTimeout(inbox.account.sandbox.clearFaults.bind(inbox.account.sandbox), ms);

		test('for two seconds is read again and starts the workflow', async () => {
			const hash = await begin(PAID, 'paid');
			hide();
			show(2_000);

			expect((await inbox.trigger.post({ hash, status: 'paid' })).status).toBe(200);
			expect(inbox.items).toHaveLength(1);
		});

		test('for a minute makes the sender try again', async () => {
			const hash = await begin(PAID, 'paid');
			hide();
			show(60_000);

			const { status, headers } = await inbox.trigger.post({ hash, status: 'paid' });
			expect(status).toBe(503);
			expect(Number(headers['retry-after'])).toBeGreaterThan(0);
			await clock.sleep(60_000);
			expect((await inbox.trigger.post({ hash, status: 'paid' })).status).toBe(200);
		});
	});
});

describe('Digital Sales Trigger: an answer before the sender stops waiting', () => {
	const inbox = useInbox();

	beforeEach(async () => {
		await inbox.publish();
		jest.spyOn(clock, 'random').mockReturnValue(0.9);
	});
	afterEach(() => jest.restoreAllMocks());

	/** n8n returns the credential after this time. */
	const delayCredential = (ms: number): void => {
		const { getDecrypted } = HarnessCredentials.prototype;
		jest.spyOn(HarnessCredentials.prototype, 'getDecrypted').mockImplementation(async function (
			this: HarnessCredentials,
			...given
		) {
			await clock.sleep(ms);
			return await getDecrypted.apply(this, given);
		});
	};

	test('a service that is down is asked a second time, but not a third time', async () => {
		const notice = { hash: await inbox.charge(), status: 'waiting_payment' };
		inbox.account.fault('read', { kind: 'status', status: 503 }, 3);

		expect((await inbox.trigger.post(notice)).status).toBe(503);
		expect(inbox.reads).toBe(2);
		expect((await inbox.trigger.post(notice)).status).toBe(200);
		expect(inbox.reads).toBe(4);
		expect(inbox.trigger.emitted).toHaveLength(1);
	});

	test('the service gets no request if little time is left', async () => {
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
