import type { ICredentialDataDecryptedObject } from 'n8n-workflow';
import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { withoutWaiting } from '../../../support/virtualTime';
import { useInbox } from '../support/inbox';

/** The longest time to an answer, whatever the service does. */
const ANSWER_WITHIN_MS = 9_500;

describe('Digital Sales Trigger: an answer before the sender stops waiting', () => {
	const inbox = useInbox();
	let hash: string;
	const real = { ...clock };
	/** How long n8n takes to return the credential, by the clock of the package. */
	let credentialTakesMs = 0;

	beforeEach(async () => {
		hash = await inbox.charge();
		const startedAt = clock.elapsed();
		// Time passes only by sleeping, however slow the machine.
		clock.elapsed = () => startedAt;
		withoutWaiting(clock);
		clock.random = () => 0.9;
		credentialTakesMs = 0;
		const credentials = {
			get digitalSalesApi(): ICredentialDataDecryptedObject {
				void clock.sleep(credentialTakesMs);
				return { ...inbox.account.credentials.digitalSalesApi };
			},
		};
		await inbox.publish(undefined, { credentials });
	});
	afterEach(() => {
		Object.assign(clock, real);
	});

	const down = (times: number | 'always') =>
		inbox.account.sandbox.addFault({
			endpoint: 'GET /transactions/{hash}',
			kind: 'status',
			status: 503,
			times,
		});

	test('a service that was down for a moment is asked once more', async () => {
		down(1);

		expect((await inbox.trigger.post({ hash })).status).toBe(200);
		expect(inbox.reads).toBe(2);
		expect(inbox.trigger.executions).toHaveLength(1);
	});

	test('a service that stays down is asked twice, no more', async () => {
		down('always');

		expect((await inbox.trigger.post({ hash })).status).toBe(503);
		expect(inbox.reads).toBe(2);
	});

	test('it is not asked again if little time is left', async () => {
		down(1);
		credentialTakesMs = ANSWER_WITHIN_MS - 2_600;

		expect((await inbox.trigger.post({ hash })).status).toBe(503);
		expect(inbox.reads).toBe(1);
	});

	test('the less time is left, the sooner a read of a silent service is aborted', async () => {
		await inbox.trigger.post({ hash: 'nosuch1' });
		inbox.account.reset();
		inbox.account.sandbox.addFault({
			endpoint: 'GET /transactions/{hash}',
			kind: 'delay',
			ms: 4_000,
			times: 'always',
		});
		credentialTakesMs = ANSWER_WITHIN_MS - 2_600;
		const startedAt = Date.now();

		const answer = await inbox.trigger.post({ hash: 'ab12' });

		expect(answer.status).toBe(503);
		expect(Date.now() - startedAt).toBeLessThan(1_000);
	});
});
