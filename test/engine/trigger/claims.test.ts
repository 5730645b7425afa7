import type { INodeParameters } from 'n8n-workflow';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { NO_OP_TYPE, processedItems } from '../../helpers/engine';
import { products, useInbox } from '../../helpers/inbox';

const PAID = { triggerOn: ['paid'] };
const MINUTE_MS = 60_000;
const DELIVER = [{ name: 'Deliver', type: NO_OP_TYPE }];

describe('Digital Sales Trigger: a webhook names a status that reads do not show yet', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	/** Publishes the trigger, and makes a charge that reads show with this status. */
	const begin = async (form: INodeParameters, read = 'waiting_payment', more = {}) => {
		await inbox.publish(form, more);
		const hash = await inbox.charge();
		await inbox.account.sandbox.setStatus(hash, read);
		return hash;
	};
	const show = (hash: string, status: string, afterMs: number): void => {
		setTimeout(() => void inbox.account.sandbox.setStatus(hash, status), afterMs);
	};
	const post = async (hash: string, status?: string): Promise<number> =>
		(await inbox.trigger.post({ hash, status })).status;
	const statuses = (): unknown[] => inbox.items.map(({ payment_status: status }) => status);
	const ended = async (): Promise<string[]> =>
		(await inbox.trigger.settled()).map(({ status }) => status);

	describe.each<[INodeParameters, string, string, string]>([
		[PAID, 'waiting_payment', 'PAID', 'paid'],
		[PAID, 'expired', 'Paid', 'paid'],
		[PAID, 'never_heard_of', 'paid', 'paid'],
		[{ triggerOn: ['reversed'] }, 'paid', 'med_analysis', 'med_analysis'],
		[
			{ triggerOn: ['other'], otherStatuses: 'frozen, Em Análise' },
			'paid',
			'em análise',
			'Em Análise',
		],
		[{ triggerOn: ['failed'] }, 'waiting_payment', 'canceled', 'cancelled'],
		[{ triggerOn: ['waiting', 'paid'] }, 'waiting_payment', 'paid', 'paid'],
		[{ triggerOn: ['any'] }, 'paid', 'chargeback', 'chargeback'],
	])('Trigger On %j, read as %s, claimed %s', (form, before, claimed, after) => {
		test.each([2_000, 70_000, 15 * MINUTE_MS])(
			'starts the workflow once, although the webhook comes once and reads lag by %i ms',
			async (lagMs) => {
				const hash = await begin(form, before);
				show(hash, after, lagMs);

				expect(await post(hash, claimed)).toBe(200);
				await ended();
				expect(inbox.items).toMatchObject([{ hash, payment_status: after }]);
			},
		);
	});

	test('one execution waits, and a webhook that comes once reads show it starts the workflow sooner', async () => {
		const hash = await begin(PAID);
		expect([await post(hash, 'paid'), await post(hash, 'paid')]).toEqual([200, 503]);
		await clock.sleep(90_000);
		await inbox.account.sandbox.setStatus(hash, 'paid');

		expect(await post(hash, 'paid')).toBe(200);
		expect(statuses()).toEqual(['paid']);
		expect(await ended()).toEqual(['success', 'success']);
		expect(statuses()).toEqual(['paid']);
	});

	test('looks five times, and then ends without an item, even with Always Output Data', async () => {
		const settings = { settings: { alwaysOutputData: true }, next: DELIVER };
		const hash = await begin(PAID, 'waiting_payment', settings);
		await post(hash, 'paid');
		const { reads } = inbox;
		const [outcome] = await inbox.trigger.settled();

		expect([outcome?.status, outcome?.data.Deliver]).toEqual(['success', undefined]);
		expect(inbox.reads - reads).toBe(5);
	});

	test('hands on one item, with Always Output Data, too', async () => {
		const settings = { settings: { alwaysOutputData: true }, next: DELIVER };
		const hash = await begin(PAID, 'waiting_payment', settings);
		show(hash, 'paid', 30_000);
		await post(hash, 'paid');
		const [outcome] = await inbox.trigger.settled();

		expect(outcome?.data.Deliver?.items).toMatchObject([
			{ json: { hash }, pairedItem: { item: 0 } },
		]);
	});

	test.each<[INodeParameters, string, string[]]>([
		[PAID, 'refunded', []],
		[{ triggerOn: ['paid', 'reversed'] }, 'refunded', ['refunded']],
		[{ ...PAID, filters: { minimumAmount: '50' } }, 'refunded', []],
	])('Trigger On %j: looks no more once the sale is %s', async (form, status, started) => {
		const hash = await begin(form);
		show(hash, status, 10_000);
		await post(hash, 'paid');
		const startedAt = clock.elapsed();

		expect(await ended()).toEqual(['success']);
		expect(clock.elapsed() - startedAt).toBeLessThan(2 * MINUTE_MS);
		expect(statuses()).toEqual(started);
	});

	test('another word for the claimed status starts the workflow at the last look', async () => {
		const hash = await begin({ triggerOn: ['failed'] });
		show(hash, 'refused', 10_000);
		await post(hash, 'rejected');

		await ended();
		expect(statuses()).toEqual(['refused']);
	});

	test('reads that fail in between do no harm, and if the last fails, the execution fails and a Retry looks again', async () => {
		const hash = await begin(PAID);
		expect(await post(hash, 'paid')).toBe(200);
		inbox.account.fault('read', { kind: 'status', status: 500 }, 'always');
		const [failed] = await inbox.trigger.settled();
		expect(failed?.error).toMatchObject({ message: 'The service returned an error (500)' });
		inbox.account.sandbox.clearFaults();
		await inbox.account.sandbox.setStatus(hash, 'paid');

		const { data } = await inbox.trigger.retry(failed?.run.data as never);
		expect(Object.values(data)[0]?.items).toMatchObject([{ json: { hash } }]);
	});

	test.each(['restart', 'another process'])('goes on after a %s, and starts once', async (how) => {
		const hash = await begin(PAID);
		if (how === 'another process') inbox.trigger.addProcess();
		await post(hash, 'paid');
		if (how === 'restart') await inbox.trigger.restart();
		expect(await post(hash, 'paid')).toBe(200);
		show(hash, 'paid', 100_000);

		expect(await ended()).toEqual(['success', 'success']);
		expect(statuses()).toEqual(['paid']);
	});

	test('is answered 503 if n8n would cancel the execution after a time', async () => {
		const hash = await begin(PAID, 'waiting_payment', {
			workflowSettings: { executionTimeout: 3_600 },
		});

		expect(await post(hash, 'paid')).toBe(503);
		expect(inbox.trigger.outcomes).toEqual([]);
		await inbox.account.sandbox.setStatus(hash, 'paid');
		expect(await post(hash, 'paid')).toBe(200);
		expect(statuses()).toEqual(['paid']);
	});

	test('is answered 503 if n8n could not store the execution, and waits at the next try', async () => {
		const hash = await begin(PAID);
		inbox.trigger.failingStores = 1;

		expect([await post(hash, 'paid'), await post(hash, 'paid')]).toEqual([500, 200]);
	});

	test.each<[INodeParameters, string, string | undefined]>([
		[PAID, 'refunded', 'paid'],
		[PAID, 'med_analysis', undefined],
		[PAID, 'waiting_payment', 'Expired'],
		[PAID, 'waiting_payment', 'Aguardando pagamento'],
		[PAID, 'expired', 'waiting_payment'],
		[{ triggerOn: ['failed'] }, 'paid', 'expired'],
		[{ ...PAID, ...products('another1') }, 'waiting_payment', 'paid'],
	])(
		'Trigger On %j, read as %s, claimed %s: is answered 200, and nothing waits',
		async (form, read, claimed) => {
			const hash = await begin(form, read);

			expect(await post(hash, claimed)).toBe(200);
			expect([inbox.trigger.outcomes, inbox.reads <= 2]).toEqual([[], true]);
		},
	);

	test.each([{ onError: 'continueRegularOutput' }, { continueOnFail: true }] as const)(
		'what nobody has verified starts nothing if the form fails meanwhile, even under %j',
		async (settings) => {
			const minimumAmount = `={{ $now.toMillis() > ${Date.now() + 10_000} ? 'abc' : '1' }}`;
			const more = { settings, next: DELIVER };
			const hash = await begin({ ...PAID, filters: { minimumAmount } }, 'waiting_payment', more);
			expect(await post(hash, 'paid')).toBe(200);
			const [failed] = await inbox.trigger.settled();

			expect(failed?.error?.message).toContain('Minimum Amount in Reais');
			expect(failed?.data.Deliver).toBeUndefined();
		},
	);

	test('in a test listening run, the execution of the editor waits, and puts out the item', async () => {
		const hash = await begin(PAID, 'waiting_payment', { mode: 'test' });
		show(hash, 'paid', 60_000);

		expect(await post(hash, 'paid')).toBe(200);
		await ended();
		expect(statuses()).toEqual(['paid']);
		expect(processedItems.size).toBe(0);
	});
});

describe('Digital Sales Trigger: a fault that only the owner can correct', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });
	const HOUR_MS = 3_600_000;
	const errors = async () => (await inbox.trigger.settled()).map(({ error }) => error?.message);

	test.each([
		[401, 'The service does not accept the API token (401)'],
		[403, 'The API token has no permission for this (403)'],
	])(
		'starts one execution an hour that fails, and a Retry looks at the sale: %i',
		async (status, text) => {
			await inbox.publish(PAID, { settings: { onError: 'continueRegularOutput' }, next: DELIVER });
			const hash = await inbox.charge();
			inbox.account.fault('read', { kind: 'status', status }, 'always');
			const post = async () => (await inbox.trigger.post({ hash, status: 'paid' })).status;

			expect([await post(), await post(), await post()]).toEqual([503, 503, 503]);
			expect(await errors()).toEqual([text]);
			await clock.sleep(HOUR_MS);
			expect(await post()).toBe(503);
			const [failed] = await inbox.trigger.settled();
			expect(failed?.error).toMatchObject({
				description: expect.stringContaining(
					`Then choose Retry with currently saved workflow, which looks at transaction ${hash}.`,
				),
			});
			expect([await errors(), failed?.data.Deliver]).toEqual([[text, text], undefined]);

			inbox.account.sandbox.clearFaults();
			await inbox.account.sandbox.setStatus(hash, 'paid');
			const { data } = await inbox.trigger.retry(failed?.run.data as never);
			expect(data.Deliver?.items).toMatchObject([{ json: { hash } }]);
		},
	);

	test.each<[string, object, string]>([
		['no credential', {}, 'The credential of this node could not be loaded'],
		[
			'an empty token',
			{ digitalSalesApi: { baseUrl: 'https://a.example/v1' } },
			'API Token in the credential is empty',
		],
	])('starts an execution that fails: %s', async (_name, credential, text) => {
		const credentials = { ...inbox.account.credentials };
		await inbox.publish(PAID, { credentials });
		Reflect.deleteProperty(credentials, 'digitalSalesApi');
		Object.assign(credentials, credential);

		expect((await inbox.trigger.post({ hash: 'ab12' })).status).toBe(503);
		expect(await errors()).toEqual([expect.stringContaining(text)]);
	});

	test('starts an execution that fails: a form that cannot be read', async () => {
		const form = { ...PAID, filters: { minimumAmount: 'abc' } };
		await inbox.publish(form, { activation: 'init' });

		expect((await inbox.trigger.post({ hash: 'ab12' })).status).toBe(503);
		expect(await errors()).toEqual([expect.stringContaining('Minimum Amount')]);
	});

	test.each([404, 500, 503])('a service that fails starts none: %i', async (status) => {
		await inbox.publish(PAID);
		inbox.account.fault('read', { kind: 'status', status, body: {} }, 'always');

		expect((await inbox.trigger.post({ hash: 'ab12' })).status).toBe(503);
		expect(await errors()).toEqual([]);
	});
});
