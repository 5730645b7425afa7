import type { INodeParameters } from 'n8n-workflow';
import * as cleaning from '../../../../nodes/DigitalSales/notice/body';
import { useInbox } from '../support/inbox';

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
	const inbox = useInbox({ resendAfterSeconds: [] });
	let hash: string;

	beforeEach(async () => {
		hash = await inbox.charge();
	});

	const publish = async (options: INodeParameters) =>
		await inbox.publish({ triggerOn: ['any'], options });
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

	test('is included on request, without any field named like a secret', async () => {
		await publish({ includeNotification: true });

		expect((await inbox.trigger.post(notice())).status).toBe(200);

		expect(inbox.items[0]).toMatchObject({ hash, verified: true });
		expect(inbox.items[0]?.notification).toEqual(cleaned());
		await inbox.trigger.settled();
		expect(JSON.stringify([inbox.trigger.logs, inbox.trigger.begun])).not.toContain('X-SECRET');
	});

	test('is the item without verification, which says so and holds no secret', async () => {
		await publish({ verify: false });
		const before = inbox.account.sandbox.requests.length;

		await inbox.trigger.post({
			...notice(),
			note: `with ${inbox.account.sandbox.bodyApiToken} in it`,
		});

		expect(inbox.items[0]).toEqual({
			...cleaned(),
			note: 'with [token removed] in it',
			verified: false,
		});
		expect(inbox.account.sandbox.requests).toHaveLength(before);
	});

	test.each([
		['100,000 deep in lists', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
		['40,000 deep in objects', `${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}`],
	])('nested %s is cut, and still starts the workflow', async (_, deep) => {
		for (const options of [{ includeNotification: true }, { verify: false }]) {
			await publish(options);

			const { status } = await inbox.trigger.send({
				headers: { 'content-type': 'application/json' },
				body: `{"hash":"${hash}","status":"waiting_payment","deep":${deep}}`,
			});

			expect(status).toBe(200);
			await inbox.trigger.settled();
			expect(JSON.stringify(inbox.items[0]).length).toBeLessThan(1_000);
			expect(inbox.items[0]).toMatchObject({ hash, verified: !('verify' in options) });
		}
	});

	test('nested deep, it starts the workflow once also without verification', async () => {
		await publish({ verify: false });
		const deep = `${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}`;
		const call = {
			headers: { 'content-type': 'application/json' },
			body: `{"hash":"${hash}","status":"waiting_payment","deep":${deep}}`,
		};

		await inbox.trigger.send(call);
		await inbox.trigger.settled();
		await inbox.trigger.restart();
		await inbox.trigger.send(call);
		await inbox.trigger.settled();

		expect(inbox.trigger.executions).toHaveLength(1);
		expect(inbox.items[0]).toMatchObject({ hash, status: 'waiting_payment' });
	});

	test.each([{ includeNotification: true }, { verify: false }])(
		'is cleaned only if it is emitted: %j',
		async (options) => {
			const clean = jest.spyOn(cleaning, 'cleanNotification');
			await publish(options);
			await inbox.trigger.post({ ...notice(), status: 'waiting_payment' });
			await inbox.trigger.settled();
			expect(clean).toHaveBeenCalled();
			clean.mockClear();

			await inbox.trigger.post({ ...notice(), status: 'waiting_payment' });
			await inbox.publish({ triggerOn: ['paid'], options });
			await inbox.trigger.post({ ...notice(), status: 'waiting_payment' });

			expect(clean).not.toHaveBeenCalled();
			clean.mockRestore();
		},
	);
});
