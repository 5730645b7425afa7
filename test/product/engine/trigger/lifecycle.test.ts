import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { activateTrigger, runWorkflow, START_TYPE, ACTION_TYPE } from '../harness';
import { pixParameters } from '../support/account';
import { useInbox } from '../support/inbox';

describe('Digital Sales Trigger: publication', () => {
	const inbox = useInbox();

	test('stores its production URL, and Create PIX of the same workflow finds it', async () => {
		const trigger = await activateTrigger({ credentials: inbox.account.credentials });
		const run = await runWorkflow({
			nodes: [
				{ name: 'Start', type: START_TYPE },
				{
					name: 'Charge',
					type: ACTION_TYPE,
					parameters: pixParameters(inbox.account.sandbox, { notify: 'trigger' }),
				},
			],
			staticData: trigger.staticData,
			credentials: inbox.account.credentials,
		});

		expect(run.status).toBe('success');
		expect(inbox.account.sandbox.transactions[0]?.postback_url).toBe(trigger.url);
		expect(trigger.hooks).toEqual([
			{ method: 'checkExists', result: false },
			{ method: 'create', result: true },
		]);
	});

	test('is not registered again at the next start', async () => {
		const trigger = await activateTrigger({ credentials: inbox.account.credentials });
		await trigger.restart();

		expect(trigger.hooks.at(-1)).toEqual({ method: 'checkExists', result: true });
	});

	describe('is registered again when n8n restarts', () => {
		const SETTINGS = { id: 'trigger-node', webhookId: 'the-webhook' };
		const LOCKED = { options: { urlSecret: true } };
		/** The same trigger in a workflow that already holds this, and what it leaves there. */
		const startAgain = async (parameters: INodeParameters, staticData: IDataObject) => {
			const trigger = await activateTrigger({
				credentials: inbox.account.credentials,
				settings: SETTINGS,
				parameters,
				staticData,
			});
			const { digitalSalesTriggers } = trigger.staticData.global as IDataObject;
			return { trigger, addresses: Object.values(digitalSalesTriggers ?? {}) };
		};
		const first = async (parameters: INodeParameters): Promise<IDataObject> =>
			(await startAgain(parameters, {})).trigger.staticData;
		const ANEW = [
			{ method: 'checkExists', result: false },
			{ method: 'create', result: true },
		];

		test('under another public address', async () => {
			const before = await first({});
			const moved = JSON.parse(
				JSON.stringify(before).replaceAll('127.0.0.1', 'old.example.com'),
			) as IDataObject;

			const { trigger, addresses } = await startAgain({}, moved);

			expect(JSON.stringify(moved)).toContain('old.example.com');
			expect(trigger.hooks).toEqual(ANEW);
			expect(addresses).toEqual([trigger.url]);
		});

		test('with a secret that it did not have', async () => {
			const { trigger, addresses } = await startAgain(LOCKED, await first({}));

			expect(trigger.hooks).toEqual(ANEW);
			expect(addresses).toEqual([expect.stringMatching(/\?key=[\w-]{32}$/)]);
		});

		test('without the secret that it had', async () => {
			const before = await first(LOCKED);
			const [, secret = ''] = /\?key=([\w-]{32})/.exec(JSON.stringify(before)) ?? [];
			const { trigger, addresses } = await startAgain({}, before);

			expect(trigger.hooks).toEqual(ANEW);
			expect(addresses).toEqual([trigger.url]);
			expect(secret).toHaveLength(32);
			expect(JSON.stringify(trigger.staticData)).not.toContain(secret);
		});

		test.each(['', 5, null])('with a secret in place of %j, which is none', async (urlSecret) => {
			const broken = { ...(await first(LOCKED)), 'node:Digital Sales Trigger': { urlSecret } };

			const { trigger, addresses } = await startAgain(LOCKED, broken);

			expect(trigger.hooks).toEqual(ANEW);
			expect(addresses).toEqual([expect.stringMatching(/\?key=[\w-]{32}$/)]);
		});

		test('but not with the secret that it has', async () => {
			const { trigger } = await startAgain(LOCKED, await first(LOCKED));

			expect(trigger.hooks).toEqual([{ method: 'checkExists', result: true }]);
		});
	});

	test('keeps the URLs of other triggers of the workflow', async () => {
		const other = 'https://n8n.example.com/webhook/other/digital-sales';
		const trigger = await activateTrigger({
			credentials: inbox.account.credentials,
			staticData: { global: { digitalSalesTriggers: { other } } },
		});
		expect(JSON.stringify(trigger.staticData)).toContain(trigger.url);
		expect(JSON.stringify(trigger.staticData)).toContain(other);

		await trigger.deactivate();

		expect(trigger.staticData.global).toEqual({ digitalSalesTriggers: { other } });
	});

	test('is published even if the stored data of the workflow is broken', async () => {
		const trigger = await activateTrigger({
			credentials: inbox.account.credentials,
			staticData: { global: { digitalSalesTriggers: { other: 17 } } },
		});

		const { digitalSalesTriggers } = trigger.staticData.global as IDataObject;
		expect(Object.values(digitalSalesTriggers ?? {})).toEqual([trigger.url]);
	});

	test('removes its URL when the workflow is unpublished', async () => {
		const trigger = await activateTrigger({ credentials: inbox.account.credentials });
		await trigger.deactivate();

		expect(JSON.stringify(trigger.staticData)).not.toContain(trigger.url);
	});

	test('stores nothing while the editor listens for a test event', async () => {
		const trigger = await activateTrigger({ credentials: inbox.account.credentials, mode: 'test' });

		expect(JSON.stringify([trigger.staticData, trigger.editorStaticData])).not.toContain('http');
		await trigger.deactivate();
		expect(trigger.hooks).toEqual([
			{ method: 'checkExists', result: false },
			{ method: 'create', result: true },
			{ method: 'delete', result: true },
		]);
	});

	test('handles a test notice like a real one', async () => {
		const hash = await inbox.chargeHere();
		const trigger = await inbox.publish(undefined, { mode: 'test' });

		const report = await inbox.account.sandbox.notify(hash, { url: trigger.url });
		await trigger.settled();

		expect(report.status).toBe(200);
		expect(trigger.executions).toMatchObject([[{ json: { hash, verified: true } }]]);
	});
});
