import type { WorkflowActivateMode } from 'n8n-workflow';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import type { PublishedTrigger } from '../../helpers/engine';
import { HarnessCredentials } from '../../helpers/engine/credentials';
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
		'does not read the form while no user is there, so a mistake in it answers each notice 503 and starts an execution that fails (%s)',
		async (activation) => {
			const trigger = await inbox.publish(UNREADABLE, { activation });

			const answer = await trigger.post({ hash: await inbox.charge(), status: 'paid' });

			expect(answer.status).toBe(503);
			expect(answer.text).not.toContain('Filters');
			const [failed] = await trigger.settled();
			expect(failed?.error?.message).toContain(PROBLEM);
			const [logged] = trigger.logs.filter(({ level }) => level === 'error');
			expect(logged?.text).toContain(PROBLEM);
		},
	);

	test('sends no request to the platform', async () => {
		const trigger = await inbox.publish();
		await trigger.restart();
		await trigger.deactivate();

		expect(inbox.account.sandbox.requests).toEqual([]);
	});
});

describe('Digital Sales Trigger: its credential', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });
	afterEach(() => jest.restoreAllMocks());

	test('is decrypted once in five seconds, and a change takes effect then, for its own trigger alone', async () => {
		const credential = { ...inbox.account.credentials.digitalSalesApi };
		const right = await inbox.publish();
		const wrong = await inbox.publish(undefined, { credentials: { digitalSalesApi: credential } });
		const decrypted = jest.spyOn(HarnessCredentials.prototype, 'getDecrypted');
		/** Sends a webhook about a new charge, which the trigger has to read. */
		const notified = async (trigger: PublishedTrigger): Promise<number> =>
			(await trigger.post({ hash: await inbox.charge(), status: 'waiting_payment' })).status;

		const burst = Array.from({ length: 5 }, async () => await notified(wrong));
		expect(new Set(await Promise.all(burst))).toEqual(new Set([200]));
		expect(decrypted).toHaveBeenCalledTimes(1);
		expect(await notified(right)).toBe(200);
		expect(decrypted).toHaveBeenCalledTimes(2);

		credential.apiToken = 'test-token-of-another';
		await clock.sleep(5_000);

		expect([await notified(right), await notified(wrong)]).toEqual([200, 503]);
	});
});
