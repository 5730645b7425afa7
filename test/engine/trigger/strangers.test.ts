import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { chargesAt } from '../../helpers/charge';
import type { HttpAnswer } from '../../helpers/engine';
import { delayCredential } from '../../helpers/engine/credentials';
import { countByStatus, useInbox } from '../../helpers/inbox';

/** The reads of unknown hashes that find nothing and are allowed in a minute. */
const MISSES = 40;

/** test/thorough/bounds.test.ts floods it. */
describe('Digital Sales Trigger: what unverified webhooks can cause', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	beforeEach(async () => await inbox.publish());
	afterEach(() => jest.restoreAllMocks());

	const postAll = async (hashes: string[], status?: string): Promise<HttpAnswer[]> =>
		await Promise.all(hashes.map(async (hash) => await inbox.trigger.post({ hash, status })));
	const strangers = (count: number): string[] =>
		Array.from({ length: count }, (_, nth) => `stranger${nth}`);

	test('unknown hashes cost a bounded number of reads a minute, without reads that were cut short, because the sender had waited long', async () => {
		delayCredential(6_000);
		inbox.account.fault('read', { kind: 'delay', ms: 4_000 }, 'always');
		expect(countByStatus(await postAll(['slow1', 'slow2', 'slow3']))).toEqual({ 503: 3 });
		const before = inbox.reads;
		expect(before).toBeGreaterThanOrEqual(3);

		jest.restoreAllMocks();
		inbox.account.sandbox.clearFaults();
		expect(countByStatus(await postAll(strangers(MISSES + 5)))).toEqual({ 503: MISSES + 5 });
		expect(inbox.reads - before).toBe(MISSES);
	});

	test('after a 429 webhooks are rejected at once until its wait is over', async () => {
		inbox.account.fault('read', { kind: 'retryAfter', seconds: 30 });
		await inbox.post('stranger');
		const startedAt = clock.elapsed();

		const answers = await postAll([await inbox.chargeHere(), ...strangers(5)]);
		expect(countByStatus(answers)).toEqual({ 503: 6 });
		expect([clock.elapsed() - startedAt < 2_000, inbox.reads]).toEqual([true, 1]);
		await clock.sleep(31_000);
		expect(await inbox.post(await inbox.charge())).toBe(200);
	});

	test('after a 429 no transaction waits for the read of a stranger', async () => {
		const known = await inbox.chargeHere();
		const [first = '', second = ''] = await chargesAt(inbox.account.sandbox, 2);
		inbox.account.fault('read', { kind: 'retryAfter', seconds: 1 }, 'always');
		await inbox.post(known);
		await clock.sleep(10_000);
		inbox.account.sandbox.clearFaults();
		inbox.account.fault('read', { kind: 'delay', ms: 3_000 });
		const slow = inbox.post(first);
		await clock.sleep(100);

		expect(countByStatus(await postAll([known, second], 'waiting_payment'))).toEqual({ 200: 2 });
		await slow;
	});
});
