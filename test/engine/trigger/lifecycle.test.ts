import { activateTrigger, runWorkflow, serveWebhook, START_TYPE, ACTION_TYPE } from '../harness';
import { openAccount, pixParameters, type Account } from '../support/account';

describe('Digital Sales Trigger: publication', () => {
	let account: Account;

	beforeAll(async () => {
		account = await openAccount();
	});
	beforeEach(() => account.reset());
	afterAll(async () => await account.sandbox.close());

	test('leaves its production URL where Create PIX of the same workflow finds it', async () => {
		const trigger = await activateTrigger({ credentials: account.credentials });
		const run = await runWorkflow({
			nodes: [
				{ name: 'Start', type: START_TYPE },
				{
					name: 'Charge',
					type: ACTION_TYPE,
					parameters: pixParameters(account.sandbox, { notify: 'trigger' }),
				},
			],
			staticData: trigger.staticData,
			credentials: account.credentials,
		});

		expect(run.status).toBe('success');
		expect(account.sandbox.transactions[0]?.postback_url).toBe(trigger.url);
		expect(trigger.hooks).toEqual([
			{ method: 'checkExists', result: false },
			{ method: 'create', result: true },
		]);
	});

	test('is not registered again at the next start', async () => {
		const trigger = await activateTrigger({ credentials: account.credentials });
		await trigger.restart();

		expect(trigger.hooks.at(-1)).toEqual({ method: 'checkExists', result: true });
	});

	test('takes its URL back when the workflow is unpublished', async () => {
		const trigger = await activateTrigger({ credentials: account.credentials });
		await trigger.deactivate();

		expect(JSON.stringify(trigger.staticData)).not.toContain(trigger.url);
	});

	test('leaves nothing behind while the editor listens for a test event', async () => {
		const trigger = await activateTrigger({ credentials: account.credentials, mode: 'test' });

		expect(JSON.stringify(trigger.staticData)).not.toContain('http');
		await trigger.deactivate();
	});

	test('takes a test notice in as it would take a real one', async () => {
		await account.run(pixParameters(account.sandbox));
		const hash = account.sandbox.transactions[0]?.hash ?? '';
		const trigger = await serveWebhook({
			credentials: account.credentials,
			mode: 'test',
			parameters: { triggerOn: ['any'] },
		});

		const report = await account.sandbox.notify(hash, { url: trigger.url });
		await trigger.settled();

		expect(report.status).toBe(200);
		expect(trigger.executions).toMatchObject([[{ json: { hash, verified: true } }]]);
	});
});
