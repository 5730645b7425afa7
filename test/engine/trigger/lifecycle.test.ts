import type { WorkflowActivateMode } from 'n8n-workflow';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import type { CredentialData, PublishedTrigger } from '../../helpers/engine';
import { useInbox } from '../../helpers/inbox';

const UNREADABLE = { triggerOn: ['paid'], filters: { minimumAmount: 'abc' } };
const PROBLEM = 'Filters > Minimum Amount in Reais must be an amount';

describe('Digital Sales Trigger: publication', () => {
	const inbox = useInbox();

	test.each<WorkflowActivateMode>(['activate', 'update', 'create'])(
		'reads the form while the user is there to correct it (%s)',
		async (activation) => {
			await expect(inbox.publish(UNREADABLE, { activation })).rejects.toMatchObject({
				name: 'NodeOperationError',
				message: expect.stringContaining(PROBLEM) as string,
				description: expect.stringContaining('publish the workflow') as string,
			});
		},
	);

	test.each<WorkflowActivateMode>(['init', 'leadershipChange'])(
		'does not read the form while no user is there, so a mistake in it answers each notice 503 (%s)',
		async (activation) => {
			const trigger = await inbox.publish(UNREADABLE, { activation });

			const answer = await trigger.post({ hash: await inbox.charge(), status: 'paid' });

			expect(answer.status).toBe(503);
			expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
			expect(answer.text).not.toContain('Filters');
			expect(inbox.items).toEqual([]);
			const [logged] = trigger.logs.filter(({ level }) => level === 'error');
			expect(logged?.text).toContain(PROBLEM);
		},
	);

	test('sends no request to the service', async () => {
		const trigger = await inbox.publish();
		await trigger.restart();
		await trigger.deactivate();

		expect(inbox.account.sandbox.requests).toEqual([]);
	});
});

describe('Digital Sales Trigger: how often its credential is read', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	/** Publishes another workflow, which starts at no status of these tests, and counts the reads of its credential. */
	const publish = async (apiToken = inbox.account.sandbox.apiToken) => {
		let reads = 0;
		const credentials: CredentialData = {
			get digitalSalesApi() {
				reads += 1;
				return { ...inbox.account.credentials.digitalSalesApi, apiToken };
			},
		};
		const trigger = await inbox.publish({ triggerOn: ['paid'] }, { credentials });
		return { trigger, reads: () => reads };
	};
	/** Sends a webhook about a new charge, which the trigger has to read. */
	const notified = async (trigger: PublishedTrigger): Promise<number> =>
		(await trigger.post({ hash: await inbox.charge(), status: 'waiting_payment' })).status;

	test('once in five seconds, so that a changed credential takes effect soon', async () => {
		const { trigger, reads } = await publish();
		const notices = Array.from({ length: 20 }, async () => await notified(trigger));
		expect(new Set(await Promise.all(notices))).toEqual(new Set([200]));

		await clock.sleep(4_900);
		await notified(trigger);
		expect(reads()).toBe(1);

		await clock.sleep(100);
		await notified(trigger);
		expect(reads()).toBe(2);
	});

	test('once for each trigger, which never uses the account of another trigger', async () => {
		const [right, wrong] = [await publish(), await publish('test-token-of-another')];

		const statuses: number[] = [];
		for (const { trigger } of [right, wrong, right, wrong]) statuses.push(await notified(trigger));

		expect(statuses).toEqual([200, 503, 200, 503]);
		expect([right.reads(), wrong.reads()]).toEqual([1, 1]);
	});
});
