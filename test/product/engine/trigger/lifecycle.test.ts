import type { INodeParameters, WorkflowActivateMode } from 'n8n-workflow';
import { activateTrigger } from '../harness';
import { PublishedTrigger } from '../harness/trigger';
import { useInbox } from '../support/inbox';

const UNREADABLE = { triggerOn: ['paid'], filters: { minimumAmount: 'abc' } };
const PROBLEM = 'Filters > Minimum Amount in Reais must be an amount';

describe('Digital Sales Trigger: publication', () => {
	const inbox = useInbox();

	const prepare = async (parameters: INodeParameters): Promise<PublishedTrigger> =>
		await PublishedTrigger.prepare({ credentials: inbox.account.credentials, parameters });

	test.each<WorkflowActivateMode>(['activate', 'update', 'create'])(
		'reads the form while the user is there to correct it (%s)',
		async (activation) => {
			const publishing = (await prepare(UNREADABLE)).activate(activation);

			await expect(publishing).rejects.toMatchObject({
				name: 'NodeOperationError',
				message: expect.stringContaining(PROBLEM) as string,
				description: expect.stringContaining('publish the workflow') as string,
			});
		},
	);

	test.each<WorkflowActivateMode>(['init', 'leadershipChange'])(
		'reads no form while nobody is there (%s)',
		async (activation) => {
			const trigger = await prepare(UNREADABLE);
			await trigger.activate(activation);

			expect(trigger.hooks).toEqual([{ method: 'checkExists', result: true }]);
		},
	);

	test('reads the form again when the user changes it', async () => {
		const trigger = await activateTrigger({ credentials: inbox.account.credentials });

		await expect(trigger.change(UNREADABLE)).rejects.toThrow(PROBLEM);
	});

	test.each(['production', 'test'] as const)(
		'stores nothing and asks the service nothing (%s)',
		async (mode) => {
			const trigger = await inbox.publish({}, { mode });
			await trigger.restart();
			await trigger.deactivate();

			expect(trigger.hooks).toContainEqual({ method: 'create', result: true });
			expect(trigger.hooks.at(-1)).toEqual({ method: 'delete', result: true });
			expect(trigger.staticData).toEqual({});
			expect(trigger.editorStaticData ?? {}).toEqual({});
			expect(inbox.account.sandbox.requests).toEqual([]);
		},
	);

	test('leaves what the workflow has stored', async () => {
		const staticData = {
			global: { other: 17 },
			'node:Digital Sales Trigger': { urlSecret: 'old' },
		};
		const trigger = await inbox.publish({}, { staticData });
		await trigger.deactivate();

		expect(trigger.staticData).toEqual(staticData);
	});

	test('what the trigger no longer has does no harm', async () => {
		const hash = await inbox.charge();
		const options = { urlSecret: true, verify: false, deduplicate: false };
		const trigger = await inbox.publish({ triggerOn: ['any'], options });

		expect((await trigger.post({ hash })).status).toBe(200);
		expect((await trigger.post({ hash: 'nosuch1' })).status).toBe(404);
		expect((await trigger.post({ hash })).json).toMatchObject({ reason: 'already known' });
		expect(trigger.executions).toMatchObject([[{ json: { hash } }]]);
	});

	test('handles a test notice like a real one', async () => {
		const hash = await inbox.chargeHere();
		const trigger = await inbox.publish(undefined, { mode: 'test' });

		const report = await inbox.account.sandbox.notify(hash, { url: trigger.url });
		await trigger.settled();

		expect(report.status).toBe(200);
		expect(trigger.executions).toMatchObject([[{ json: { hash } }]]);
	});
});
