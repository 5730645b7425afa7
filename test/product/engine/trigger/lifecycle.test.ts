import type { INodeParameters, WorkflowActivateMode } from 'n8n-workflow';
import { accounts } from '../../../../nodes/DigitalSales/notice/verify';
import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { activateTrigger, PublishedTrigger, type CredentialData } from '../harness';
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
		'stores nothing, leaves what is stored, and asks the service nothing (%s)',
		async (mode) => {
			const staticData = {
				global: { other: 17 },
				'node:Digital Sales Trigger': { urlSecret: 'old' },
			};
			const trigger = await inbox.publish({}, { mode, staticData });
			await trigger.restart();
			await trigger.deactivate();

			expect(trigger.hooks).toContainEqual({ method: 'create', result: true });
			expect(trigger.hooks.at(-1)).toEqual({ method: 'delete', result: true });
			expect(trigger.staticData).toEqual(staticData);
			expect(trigger.editorStaticData ?? {}).toEqual({});
			expect(inbox.account.sandbox.requests).toEqual([]);
		},
	);

	test('what the trigger no longer has does no harm', async () => {
		const hash = await inbox.charge();
		const options = { urlSecret: true, verify: false, deduplicate: false };
		const trigger = await inbox.publish({ triggerOn: ['any'], options });

		expect((await trigger.post({ hash })).status).toBe(200);
		expect((await trigger.post({ hash: 'nosuch1' })).status).toBe(404);
		expect((await trigger.post({ hash })).json).toMatchObject({ reason: 'already known' });
		expect(trigger.executions).toMatchObject([[{ json: { hash } }]]);
	});
});

describe('Digital Sales Trigger: how often its credential is read', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	/** A trigger of a workflow of its own that starts nothing here, and how often its credential was read. */
	const publish = async (more: { failing?: () => boolean; apiToken?: string } = {}) => {
		const { failing = () => false, apiToken = inbox.account.sandbox.apiToken } = more;
		let reads = 0;
		const credentials: CredentialData = {
			get digitalSalesApi() {
				reads += 1;
				if (failing()) throw new Error('The database is away');
				return { ...inbox.account.credentials.digitalSalesApi, apiToken };
			},
		};
		const trigger = await inbox.publish({ triggerOn: ['paid'] }, { credentials });
		return { trigger, reads: () => reads };
	};
	/** A notice of a new charge, which has to be read. */
	const notified = async (trigger: PublishedTrigger): Promise<number> =>
		(await trigger.post({ hash: await inbox.charge() })).status;

	test('once in a burst of notices', async () => {
		const { trigger, reads } = await publish();

		const statuses = await Promise.all(
			Array.from({ length: 20 }, async () => await notified(trigger)),
		);
		statuses.push(await notified(trigger));

		expect(statuses).toEqual(Array.from({ length: 21 }, () => 200));
		expect(reads()).toBe(1);
	});

	test('again after five seconds, so that a change of it takes effect', async () => {
		const { trigger, reads } = await publish();
		await notified(trigger);

		await clock.sleep(4_900);
		await notified(trigger);
		expect(reads()).toBe(1);

		await clock.sleep(100);
		await notified(trigger);
		expect(reads()).toBe(2);
	});

	test('for each trigger, which never uses the account of another', async () => {
		const [right, wrong] = [await publish(), await publish({ apiToken: 'test-token-of-another' })];

		const statuses: number[] = [];
		for (const { trigger } of [right, wrong, right, wrong]) statuses.push(await notified(trigger));

		expect(statuses).toEqual([200, 503, 200, 503]);
		expect([right.reads(), wrong.reads()]).toEqual([1, 1]);
	});

	test('again at the next notice if it could not be read', async () => {
		let isAway = true;
		const { trigger, reads } = await publish({ failing: () => isAway });

		const refused = await notified(trigger);
		isAway = false;

		expect([refused, await notified(trigger)]).toEqual([503, 200]);
		expect(reads()).toBe(2);
	});

	test('the accounts of at most a hundred triggers are kept in memory', async () => {
		for (let nth = 0; nth < 100; nth += 1) {
			void accounts.get(`other ${nth}`, async () => await new Promise(() => undefined));
		}
		const { trigger, reads } = await publish();

		await notified(trigger);
		expect(accounts.size).toBe(100);
		const gone = accounts.get('other 0', async () => await Promise.reject(new Error('Gone')));
		await expect(gone).rejects.toThrow('Gone');

		await notified(trigger);
		expect(reads()).toBe(1);
	});
});
