import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { HarnessCredentials } from '../harness/credentials';
import { useInbox } from '../support/inbox';

/** The longest time to an answer, whatever the service does. */
const ANSWER_WITHIN_MS = 9_500;

describe('Digital Sales Trigger: an answer before the sender stops waiting', () => {
	const inbox = useInbox();
	let hash: string;
	/** How long n8n takes to return the credential. */
	let credentialTakesMs: number;

	beforeEach(async () => {
		hash = await inbox.charge();
		credentialTakesMs = 0;
		await inbox.publish();
		jest.spyOn(clock, 'random').mockReturnValue(0.9);
		const { getDecrypted } = HarnessCredentials.prototype;
		jest.spyOn(HarnessCredentials.prototype, 'getDecrypted').mockImplementation(async function (
			this: HarnessCredentials,
			...args
		) {
			if (credentialTakesMs > 0) await clock.sleep(credentialTakesMs);
			return await getDecrypted.apply(this, args);
		});
	});
	afterEach(() => jest.restoreAllMocks());

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

	test('it is not asked if little time is left', async () => {
		credentialTakesMs = ANSWER_WITHIN_MS - 2_600;

		expect((await inbox.trigger.post({ hash })).status).toBe(503);
		expect(inbox.reads).toBe(0);
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
		credentialTakesMs = ANSWER_WITHIN_MS - 3_100;
		const startedAt = clock.elapsed();

		const answer = await inbox.trigger.post({ hash: 'ab12' });

		expect(answer.status).toBe(503);
		expect(clock.elapsed() - startedAt - credentialTakesMs).toBeLessThan(1_000);
	});
});
