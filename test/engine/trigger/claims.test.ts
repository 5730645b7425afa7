import type { INodeParameters } from 'n8n-workflow';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import type { Fault } from '../../sandbox';
import { NO_OP_TYPE, processedItems } from '../../helpers/engine';
import { products, useInbox } from '../../helpers/inbox';

const PAID = { triggerOn: ['paid'] };
const FAILED = { triggerOn: ['failed'] };
const MINUTE_MS = 60_000;
const DELIVER = [{ name: 'Deliver', type: NO_OP_TYPE }];

describe('Digital Sales Trigger: a webhook names a status that reads do not show yet', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	const ended = async (): Promise<string[]> =>
		(await inbox.trigger.settled()).map(({ status }) => status);

	test.each<[INodeParameters, string, string, string, number]>([
		[PAID, 'waiting_payment', 'PAID', 'paid', 2_000],
		[PAID, 'waiting_payment', 'paid', 'paid', 15 * MINUTE_MS],
		[PAID, 'never_heard_of', 'paid', 'paid', 70_000],
		[
			{ triggerOn: ['other'], otherStatuses: 'frozen, Em Análise' },
			'paid',
			'em análise',
			'Em Análise',
			70_000,
		],
		[FAILED, 'waiting_payment', 'canceled', 'cancelled', 70_000],
		[{ triggerOn: ['any'] }, 'paid', 'chargeback', 'chargeback', 70_000],
	])(
		'Trigger On %j, read as %s, claimed %s: starts with %s once, although the webhook comes once and reads lag by %i ms',
		async (form, before, claimed, after, lagMs) => {
			const hash = await inbox.begin(form, before);
			inbox.show(hash, after, lagMs);

			expect(await inbox.post(hash, claimed)).toBe(200);
			await ended();
			expect(inbox.items).toMatchObject([{ hash, payment_status: after }]);
		},
	);

	test.each(['data', 'payload'])('the status may stand beside %s', async (part) => {
		const hash = await inbox.begin(PAID);
		inbox.show(hash, 'paid', 70_000);

		await inbox.trigger.post({ status: 'paid', [part]: { hash } });
		await ended();
		expect(inbox.statuses).toEqual(['paid']);
	});

	test('one execution waits, and a webhook that comes once reads show it starts the workflow sooner', async () => {
		const hash = await inbox.begin(PAID);
		expect([await inbox.post(hash, 'paid'), await inbox.post(hash, 'paid')]).toEqual([200, 503]);
		await clock.sleep(90_000);
		await inbox.account.sandbox.setStatus(hash, 'paid');

		expect(await inbox.post(hash, 'paid')).toBe(200);
		expect(inbox.statuses).toEqual(['paid']);
		expect(await ended()).toEqual(['success', 'success']);
		expect(inbox.statuses).toEqual(['paid']);
	});

	test.each([
		['five looks: no item', 'waiting_payment', 5, undefined],
		['a look shows it: one item', 'paid', 1, 1],
	])('also with Always Output Data, after %s', async (_name, status, looks, items) => {
		const settings = { settings: { alwaysOutputData: true }, next: DELIVER };
		const hash = await inbox.begin(PAID, 'waiting_payment', settings);
		await inbox.post(hash, 'paid');
		const { reads } = inbox;
		inbox.show(hash, status, 10_000);
		const [outcome] = await inbox.trigger.settled();

		expect([outcome?.status, inbox.reads - reads]).toEqual(['success', looks]);
		expect(outcome?.data.Deliver?.items.length).toBe(items);
	});

	test('a look that shows the status, but not yet what a filter wants, is not the last', async () => {
		const hash = await inbox.begin({ ...PAID, filters: { minimumAmount: '5' } });
		await inbox.post(hash, 'paid');
		inbox.show(hash, 'paid', 10_000);
		inbox.account.fault('read', { kind: 'patchBody', set: { amount: null } }, 'always');
		setTimeout(() => inbox.account.sandbox.clearFaults(), 2 * MINUTE_MS);

		expect(await ended()).toEqual(['success']);
		expect(inbox.statuses).toEqual(['paid']);
	});

	test.each<[INodeParameters, string, string[]]>([
		[PAID, 'refunded', []],
		[{ triggerOn: ['paid', 'reversed'] }, 'refunded', ['refunded']],
		[{ ...PAID, filters: { minimumAmount: '50' } }, 'refunded', []],
	])('Trigger On %j: looks no more once the sale is %s', async (form, status, started) => {
		const hash = await inbox.begin(form);
		inbox.show(hash, status, 10_000);
		await inbox.post(hash, 'paid');
		const startedAt = clock.elapsed();

		expect(await ended()).toEqual(['success']);
		expect(clock.elapsed() - startedAt).toBeLessThan(2 * MINUTE_MS);
		expect(inbox.statuses).toEqual(started);
	});

	test('reads that fail in between do no harm, and if the last fails, the execution fails, a Retry looks again, and a repeated webhook starts nothing', async () => {
		const hash = await inbox.begin(PAID);
		expect(await inbox.post(hash, 'paid')).toBe(200);
		inbox.account.fault('read', { kind: 'status', status: 500 }, 'always');
		const [failed] = await inbox.trigger.settled();
		expect(failed?.error).toMatchObject({ message: 'The platform returned an error (500)' });
		inbox.account.sandbox.clearFaults();
		await inbox.account.sandbox.setStatus(hash, 'paid');

		const { data } = await inbox.trigger.retry(failed?.run.data as never);
		expect(Object.values(data)[0]?.items).toMatchObject([{ json: { hash } }]);

		expect(await inbox.post(hash, 'paid')).toBe(200);
		expect(inbox.trigger.outcomes).toHaveLength(1);
	});

	test.each(['restarts', 'another process'])(
		'goes on after %s, beside a status that has started, and starts once',
		async (how) => {
			const hash = await inbox.begin({ triggerOn: ['reversed'] }, 'med_analysis', {
				next: DELIVER,
			});
			if (how === 'another process') inbox.trigger.addProcess();
			for (const status of ['med_analysis', 'med_received', 'med_received']) {
				expect(await inbox.post(hash, status)).toBe(200);
				if (how === 'restarts') await inbox.trigger.restart();
			}
			inbox.show(hash, 'med_received', 100_000);

			expect(await ended()).toEqual(['success', 'success', 'success']);
			expect(inbox.statuses).toEqual(['med_analysis', 'med_received']);
		},
	);

	test('starts once, although n8n resumes the execution twice at its start', async () => {
		const hash = await inbox.begin(PAID);
		expect(await inbox.post(hash, 'paid')).toBe(200);
		await inbox.trigger.restart();
		await inbox.account.sandbox.setStatus(hash, 'paid');

		const outcomes = await inbox.trigger.waiting[0]?.resumeTwice();
		const items = outcomes?.flatMap(({ data }) => Object.values(data)[0]?.items ?? []);
		expect(items).toMatchObject([{ json: { hash } }]);
	});

	test('is answered 503 if n8n would cancel the execution after a time', async () => {
		const workflowSettings = { executionTimeout: 3_600 };
		const hash = await inbox.begin(PAID, 'waiting_payment', { workflowSettings });

		expect(await inbox.post(hash, 'paid')).toBe(503);
		expect(inbox.trigger.outcomes).toEqual([]);
		await inbox.account.sandbox.setStatus(hash, 'paid');
		expect(await inbox.post(hash, 'paid')).toBe(200);
		expect(inbox.statuses).toEqual(['paid']);
	});

	test('waits at the next try if n8n could not store the execution', async () => {
		const hash = await inbox.begin(PAID);
		inbox.trigger.failingStores = 1;

		expect([await inbox.post(hash, 'paid'), await inbox.post(hash, 'paid')]).toEqual([500, 200]);
	});

	test.each<[INodeParameters, string, string | undefined]>([
		[PAID, 'refunded', 'paid'],
		[PAID, 'waiting_payment', 'Expired'],
		[PAID, 'waiting_payment', 'Aguardando pagamento'],
		[FAILED, 'paid', 'expired'],
		[{ triggerOn: ['other'], otherStatuses: 'waiting_refund' }, 'refunded', 'waiting_refund'],
		[{ ...PAID, ...products('another1') }, 'waiting_payment', 'paid'],
	])(
		'Trigger On %j, read as %s, claimed %s: is answered 200, and nothing waits',
		async (form, read, claimed) => {
			const hash = await inbox.begin(form, read);

			expect(await inbox.post(hash, claimed)).toBe(200);
			expect([inbox.trigger.outcomes, inbox.reads <= 2]).toEqual([[], true]);
		},
	);

	test.each([{ onError: 'continueRegularOutput' }, { continueOnFail: true }] as const)(
		'what nobody has verified starts nothing if the form fails meanwhile, even under %j',
		async (settings) => {
			const minimumAmount = `={{ $now.toMillis() > ${Date.now() + 10_000} ? 'abc' : '1' }}`;
			const more = { settings, next: DELIVER };
			const form = { ...PAID, filters: { minimumAmount } };
			const hash = await inbox.begin(form, 'waiting_payment', more);
			expect(await inbox.post(hash, 'paid')).toBe(200);
			const [failed] = await inbox.trigger.settled();

			expect(failed?.error?.message).toContain('Minimum Amount in Reais');
			expect(failed?.data.Deliver).toBeUndefined();
		},
	);

	test('in a test listening run, the execution of the editor waits, and puts out the item', async () => {
		const hash = await inbox.begin(PAID, 'waiting_payment', { mode: 'test' });
		inbox.show(hash, 'paid', MINUTE_MS);

		expect(await inbox.post(hash, 'paid')).toBe(200);
		await ended();
		expect(inbox.statuses).toEqual(['paid']);
		expect(processedItems.size).toBe(0);
	});
});

describe('Digital Sales Trigger: a fault', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });
	const errors = async () => (await inbox.trigger.settled()).map(({ error }) => error?.message);

	test.each([
		[401, 'The platform does not accept the API token (401)', 'paid'],
		[403, 'The platform does not accept the API token (403)', 'approved'],
	])(
		'that only the owner can correct starts one execution an hour that fails, and a Retry looks at the sale: %i',
		async (status, text, word) => {
			const settings = { onError: 'continueRegularOutput' } as const;
			const hash = await inbox.begin(PAID, 'paid', { settings, next: DELIVER });
			inbox.account.fault('read', { kind: 'status', status }, 'always');
			const post = async () => await inbox.post(hash, word);

			expect([await post(), await post(), await post()]).toEqual([503, 503, 503]);
			expect(await errors()).toEqual([text]);
			await clock.sleep(60 * MINUTE_MS);
			expect(await post()).toBe(503);
			const [failed] = await inbox.trigger.settled();
			expect(failed?.error).toMatchObject({
				description: expect.stringContaining(
					`Then choose Retry with currently saved workflow, which looks at transaction ${hash}.`,
				),
			});
			expect([await errors(), failed?.data.Deliver]).toEqual([[text, text], undefined]);

			inbox.account.sandbox.clearFaults();
			const { data } = await inbox.trigger.retry(failed?.run.data as never);
			expect(data.Deliver?.items).toMatchObject([{ json: { hash } }]);
			expect(inbox.trigger.waiting).toEqual([]);
		},
	);

	test('a page of a firewall starts none, because the owner cannot correct it', async () => {
		const hash = await inbox.begin(PAID, 'paid');
		inbox.account.fault('read', { kind: 'html', status: 403 }, 'always');

		expect(await inbox.post(hash, 'paid')).toBe(503);
		expect(await errors()).toEqual([]);
	});

	test.each<[string, object, string]>([
		['no credential', {}, 'The credential of this node could not be loaded'],
		[
			'an empty token',
			{ digitalSalesApi: { baseUrl: 'https://a.example/v1' } },
			'API Token in the credential is empty',
		],
	])('of the credential starts an execution that fails: %s', async (_name, credential, text) => {
		const credentials = { ...inbox.account.credentials };
		const hash = await inbox.begin(PAID, 'paid', { credentials });
		Reflect.deleteProperty(credentials, 'digitalSalesApi');
		Object.assign(credentials, credential);

		expect(await inbox.post(hash)).toBe(503);
		expect(await errors()).toEqual([expect.stringContaining(text)]);
		Object.assign(credentials, inbox.account.credentials);
		await clock.sleep(5_000);
		expect(await inbox.post(hash)).toBe(200);
	});

	test.each<Fault>([
		{ kind: 'html', status: 404 },
		{ kind: 'patchBody', set: { hash: 'another1' } },
		...[404, 500, 503].map((status) => ({ kind: 'status' as const, status, body: {} })),
	])('of the platform starts nothing, and the platform has to try again: %j', async (fault) => {
		const hash = await inbox.begin(PAID, 'paid');
		inbox.account.fault('read', fault, 'always');
		const { status, headers } = await inbox.trigger.post({ hash });
		expect([status, Number(headers['retry-after']) > 0]).toEqual([503, true]);
		expect(await errors()).toEqual([]);

		inbox.account.sandbox.clearFaults();
		expect(await inbox.post(hash)).toBe(200);
		expect(inbox.items).toHaveLength(1);
	});
});
