import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { chargesAt } from '../../helpers/charge';
import type { HttpAnswer } from '../../helpers/engine';
import { countByStatus, useInbox } from '../../helpers/inbox';

/** The reads of unknown hashes that find nothing and are allowed in a minute. */
const MISSES = 40;

/** test/thorough/bounds.test.ts floods it. */
describe('Digital Sales Trigger: what unverified webhooks can cause', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	beforeEach(async () => await inbox.publish());

	const postAll = async (hashes: string[], status?: string): Promise<HttpAnswer[]> =>
		await Promise.all(hashes.map(async (hash) => await inbox.trigger.post({ hash, status })));
	const strangers = (count: number): string[] =>
		Array.from({ length: count }, (_, nth) => `stranger${nth}`);

	test('unknown hashes cost a bounded number of reads a minute', async () => {
		expect(countByStatus(await postAll(strangers(MISSES + 5)))).toEqual({ 503: MISSES + 5 });
		expect(inbox.reads).toBe(MISSES);
	});

	test('after a 429 webhooks are rejected at once until its wait is over, those of unknown hashes for a minute', async () => {
		inbox.account.fault('read', { kind: 'retryAfter', seconds: 30 });
		await inbox.post('stranger');
		const startedAt = clock.elapsed();

		const answers = await postAll([await inbox.chargeHere(), ...strangers(5)]);
		expect(countByStatus(answers)).toEqual({ 503: 6 });
		expect([clock.elapsed() - startedAt < 2_000, inbox.reads]).toEqual([true, 1]);
		await clock.sleep(31_000);
		const unknown = await inbox.charge();
		expect([await inbox.post(await inbox.chargeHere()), await inbox.post(unknown)]).toEqual([
			200, 503,
		]);
		await clock.sleep(30_000);
		expect(await inbox.post(unknown)).toBe(200);
	});

	test('sales that were refused after a 429 do not count as unknown hashes that cost a read', async () => {
		const known = await inbox.chargeHere();
		const sales = await chargesAt(inbox.account.sandbox, MISSES);
		inbox.account.fault('read', { kind: 'retryAfter', seconds: 5 });
		await inbox.post(known);
		await clock.sleep(50_000);
		expect(countByStatus(await postAll(sales))).toEqual({ 503: MISSES });
		await clock.sleep(11_000);

		expect(await inbox.post(sales[0] ?? '')).toBe(200);
	});
});
