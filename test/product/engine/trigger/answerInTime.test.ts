import type { ICredentialDataDecryptedObject } from 'n8n-workflow';
import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { chargeAt } from '../../../support/charge';
import { withoutWaiting } from '../../../support/virtualTime';
import { serveWebhook, type PublishedTrigger } from '../harness';
import { openAccount, type Account } from '../support/account';

/** A sender is answered within so long, whatever the service does. */
const ANSWER_WITHIN_MS = 9_500;

describe('Digital Sales Trigger: an answer while the sender still waits', () => {
	let account: Account;
	let hash: string;
	let trigger: PublishedTrigger;
	const real = { ...clock };
	/** How long n8n takes to give the credential, by the clock of the package. */
	let credentialTakesMs = 0;

	beforeAll(async () => {
		account = await openAccount();
	});
	beforeEach(async () => {
		account.reset();
		hash = await chargeAt(account.sandbox);
		const startedAt = clock.elapsed();
		// No time passes but what is slept, however slow the machine.
		clock.elapsed = () => startedAt;
		withoutWaiting(clock);
		clock.random = () => 0.9;
		credentialTakesMs = 0;
		trigger = await serveWebhook({
			credentials: {
				get digitalSalesApi(): ICredentialDataDecryptedObject {
					void clock.sleep(credentialTakesMs);
					return { ...account.credentials.digitalSalesApi };
				},
			},
			parameters: { triggerOn: ['any'] },
		});
	});
	afterEach(async () => {
		await trigger.settled();
		trigger.stopListening();
		Object.assign(clock, real);
		expect(trigger.thrown).toEqual([]);
	});
	afterAll(async () => await account.sandbox.close());

	const down = (times: number | 'always') =>
		account.sandbox.addFault({
			endpoint: 'GET /transactions/{hash}',
			kind: 'status',
			status: 503,
			times,
		});
	const reads = (): number =>
		account.sandbox.requests.filter(({ path }) => path.endsWith(`/transactions/${hash}`)).length;

	test('a service that was down for a moment is asked once more', async () => {
		down(1);

		expect((await trigger.post({ hash })).status).toBe(200);
		expect(reads()).toBe(2);
		expect(trigger.executions).toHaveLength(1);
	});

	test('a service that stays down is asked twice, no more', async () => {
		down('always');

		expect((await trigger.post({ hash })).status).toBe(503);
		expect(reads()).toBe(2);
	});

	test('it is not asked again where little time is left', async () => {
		down(1);
		credentialTakesMs = ANSWER_WITHIN_MS - 2_600;

		expect((await trigger.post({ hash })).status).toBe(503);
		expect(reads()).toBe(1);
	});

	test('a service that does not answer is given up the sooner, the less time is left', async () => {
		await trigger.post({ hash: 'nosuch1' });
		account.reset();
		account.sandbox.addFault({
			endpoint: 'GET /transactions/{hash}',
			kind: 'delay',
			ms: 4_000,
			times: 'always',
		});
		credentialTakesMs = ANSWER_WITHIN_MS - 2_600;
		const startedAt = Date.now();

		const answer = await trigger.post({ hash: 'ab12' });

		expect(answer.status).toBe(503);
		expect(Date.now() - startedAt).toBeLessThan(1_000);
	});
});
