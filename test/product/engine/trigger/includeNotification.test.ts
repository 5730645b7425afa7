import type { INodeParameters } from 'n8n-workflow';
import * as cleaning from '../../../../nodes/DigitalSales/notice/body';
import { serveWebhook, type PublishedTrigger } from '../harness';
import { openAccount, type Account } from '../support/account';
import { chargeAt } from '../../../support/charge';

const SECRETS = {
	token: 'X-SECRET',
	api_token: 'X-SECRET',
	webhookToken: 'X-SECRET',
	TOKEN: { of: 'X-SECRET' },
	client_secret: ['X-SECRET'],
	Password: 'X-SECRET',
	apiKey: 'X-SECRET',
	'x-api-key': 'X-SECRET',
	Authorization: 'Bearer X-SECRET',
};
const KEPT = { status: 'odd', authorization_code: 'A1', method: 'pix', id: 17 };

describe('Digital Sales Trigger: the notice in the item', () => {
	let account: Account;
	let trigger: PublishedTrigger;
	let hash: string;

	beforeAll(async () => {
		account = await openAccount({ resendAfterSeconds: [] });
	});
	beforeEach(async () => {
		account.reset();
		hash = await chargeAt(account.sandbox);
	});
	afterEach(async () => {
		await trigger.settled();
		trigger.stopListening();
		expect(trigger.thrown).toEqual([]);
	});
	afterAll(async () => await account.sandbox.close());

	const publish = async (options: INodeParameters): Promise<void> => {
		trigger = await serveWebhook({
			credentials: account.credentials,
			parameters: { triggerOn: ['any'], options },
		});
	};
	const item = () => trigger.executions[0]?.[0]?.json;
	const notice = () => ({
		...SECRETS,
		...KEPT,
		data: { ...SECRETS, ...KEPT },
		items: [[{ ...SECRETS, ...KEPT }]],
		transaction: { ...SECRETS, id: hash },
	});
	const cleaned = () => ({
		...KEPT,
		data: KEPT,
		items: [[KEPT]],
		transaction: { id: hash },
	});

	test('is there on request, without any field that is called a secret', async () => {
		await publish({ includeNotification: true });

		expect((await trigger.post(notice())).status).toBe(200);

		expect(item()).toMatchObject({ hash, verified: true });
		expect(item()?.notification).toEqual(cleaned());
		await trigger.settled();
		expect(JSON.stringify([trigger.logs, trigger.begun])).not.toContain('X-SECRET');
	});

	test('is the item without verification, which says so and holds no secret either', async () => {
		await publish({ verify: false });
		const before = account.sandbox.requests.length;

		await trigger.post({ ...notice(), note: `with ${account.sandbox.bodyApiToken} in it` });

		expect(item()).toEqual({ ...cleaned(), note: 'with [token removed] in it', verified: false });
		expect(account.sandbox.requests).toHaveLength(before);
	});

	test.each([
		['100,000 deep in lists', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
		['40,000 deep in objects', `${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}`],
	])('nested %s is cut, and starts the workflow all the same', async (_, deep) => {
		for (const options of [{ includeNotification: true }, { verify: false }]) {
			await publish(options);

			const { status } = await trigger.send({
				headers: { 'content-type': 'application/json' },
				body: `{"hash":"${hash}","status":"waiting_payment","deep":${deep}}`,
			});

			expect(status).toBe(200);
			await trigger.settled();
			expect(JSON.stringify(item()).length).toBeLessThan(1_000);
			expect(item()).toMatchObject({ hash, verified: !('verify' in options) });
			trigger.stopListening();
		}
	});

	test('nested deep starts the workflow once without verification, too', async () => {
		await publish({ verify: false });
		const deep = `${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}`;
		const call = {
			headers: { 'content-type': 'application/json' },
			body: `{"hash":"${hash}","status":"waiting_payment","deep":${deep}}`,
		};

		await trigger.send(call);
		await trigger.settled();
		await trigger.restart();
		await trigger.send(call);
		await trigger.settled();

		expect(trigger.executions).toHaveLength(1);
		expect(item()).toMatchObject({ hash, status: 'waiting_payment' });
	});

	test.each([{ includeNotification: true }, { verify: false }])(
		'is cleaned only where it is handed over: %j',
		async (options) => {
			const clean = jest.spyOn(cleaning, 'cleanNotification');
			await publish(options);
			await trigger.post({ ...notice(), status: 'waiting_payment' });
			await trigger.settled();
			expect(clean).toHaveBeenCalled();
			clean.mockClear();

			await trigger.post({ ...notice(), status: 'waiting_payment' });
			trigger.stopListening();
			trigger = await serveWebhook({
				credentials: account.credentials,
				parameters: { triggerOn: ['paid'], options },
			});
			await trigger.post({ ...notice(), status: 'waiting_payment' });

			expect(clean).not.toHaveBeenCalled();
			clean.mockRestore();
		},
	);
});
