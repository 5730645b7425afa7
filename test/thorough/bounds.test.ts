import { clock } from '../../nodes/DigitalSales/shared/clock';
import type { Fault } from '../sandbox';
import { chargesAt } from '../helpers/charge';
import type { HttpAnswer } from '../helpers/engine';
import { countByStatus, useInbox } from '../helpers/inbox';
import { until } from '../helpers/until';

/** The reads of unknown hashes that find nothing and are allowed in a minute. */
const MISSES = 40;
const MOST_IN_LINE = 256;

describe('Digital Sales Trigger: what unverified webhooks can cause', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	beforeEach(async () => await inbox.publish());

	const postAll = async (hashes: string[], status?: string): Promise<HttpAnswer[]> =>
		await Promise.all(hashes.map(async (hash) => await inbox.trigger.post({ hash, status })));
	const strangers = (count: number): string[] =>
		Array.from({ length: count }, (_, nth) => `stranger${nth}`);

	test('a flood of unknown hashes costs few reads, leaves room for known ones while its reads are slow, and ends', async () => {
		const [read = '', unknown = ''] = await chargesAt(inbox.account.sandbox, 2);
		const charged = await inbox.chargeHere();
		await inbox.post(read, 'waiting_payment');
		await clock.sleep(3_000);
		await inbox.account.sandbox.setStatus(read, 'paid');
		const before = inbox.reads;
		inbox.account.fault('read', { kind: 'delay', ms: 1_500 }, MISSES);
		const flood = postAll(strangers(MISSES + MOST_IN_LINE), 'paid');
		await clock.sleep(100);
		const startedAt = clock.elapsed();

		expect((await inbox.trigger.post({ hash: 'stranger999' })).json).toEqual({
			received: false,
			reason: 'too many webhooks at once',
		});
		expect(await inbox.post(charged, 'waiting_payment')).toBe(200);
		expect(await inbox.post(read, 'paid')).toBe(200);
		expect(clock.elapsed() - startedAt).toBeLessThan(1_000);
		const answers = await flood;
		expect(countByStatus(answers)).toEqual({ 503: MISSES + MOST_IN_LINE });
		expect(answers.every(({ headers }) => Number(headers['retry-after']) > 0)).toBe(true);
		expect(inbox.reads - before).toBe(MISSES + 2);
		expect(await inbox.post(unknown)).toBe(503);
		await clock.sleep(60_100);
		expect(await inbox.post(unknown)).toBe(200);
	});

	test.each<[string, Fault, number]>([
		['refuses the read', { kind: 'status', status: 422 }, 1],
		['returns another transaction', { kind: 'status', status: 200, body: { hash: 'another1' } }, 1],
		['is unavailable', { kind: 'status', status: 503 }, 2],
	])('a read that finds nothing is counted if the platform %s', async (_name, fault, tries) => {
		inbox.account.fault('read', fault, 'always');

		await postAll(strangers(MISSES + 20));
		expect(inbox.reads).toBe(tries * MISSES);
	});

	test.each([
		['that the form wants and reads show: a read', ['any'], 'waiting_payment', 1, 1],
		['that reads do not show: a read every three seconds', ['paid'], 'paid', 21, 1],
		['that the form does not want: a read', ['paid'], 'waiting_payment', 1, 0],
	])(
		'a minute of webhooks about a known charge costs an execution at most, and of a status %s',
		async (_name, triggerOn, status, reads, executions) => {
			await inbox.publish({ triggerOn });
			const hash = await inbox.chargeHere();
			const until = clock.elapsed() + 60_000;
			while (clock.elapsed() < until) {
				await postAll(Array(3).fill(hash), status);
				await clock.sleep(1_000);
			}

			expect(inbox.reads).toBeLessThanOrEqual(reads);
			expect(inbox.trigger.outcomes).toHaveLength(executions);
		},
	);

	test('if n8n is storing eighty executions, further webhooks are answered 503, and nothing is read for them', async () => {
		const [read = '', other = '', ...hashes] = await chargesAt(inbox.account.sandbox, 82);
		const storing = inbox.holdStoring();
		const answers = hashes.map(async (hash) => await inbox.post(hash));
		await until('eighty are stored', () => inbox.trigger.storesBegun === 80);
		const { reads } = inbox;
		void clock.sleep(3_000).then(storing.release);
		expect(await inbox.post(other)).toBe(503);
		expect(inbox.reads).toBe(reads);

		expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
		expect([await inbox.post(read), await inbox.post(other)]).toEqual([200, 200]);
	});

	test('a body that is larger than n8n reads is answered 413', async () => {
		const headers = { 'content-type': 'a type that n8n does not read' };
		const body = new Blob(['x'.repeat(17 * 1024 * 1024)]).stream();

		const sent = { method: 'POST', duplex: 'half', headers, body } as const;
		expect((await fetch(inbox.trigger.url, sent)).status).toBe(413);
		expect([inbox.items, inbox.reads]).toEqual([[], 0]);
	});
});
