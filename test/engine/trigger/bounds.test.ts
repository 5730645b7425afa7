import { clock } from '../../../nodes/DigitalSales/shared/clock';
import type { Fault } from '../../sandbox';
import { chargesAt } from '../../helpers/charge';
import type { HttpAnswer } from '../../helpers/engine';
import { delayCredential } from '../../helpers/engine/credentials';
import { countByStatus, useInbox } from '../../helpers/inbox';

/** The reads of unknown hashes that find nothing and are allowed in a minute. */
const MISSES = 40;
const FLOOD = 60;
/** Another transaction than the requested. */
const ANOTHER = { hash: 'another1', payment_status: 'paid' };

describe('Digital Sales Trigger: what unverified webhooks can cause', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	beforeEach(async () => {
		await inbox.publish();
	});
	afterEach(() => jest.restoreAllMocks());

	const postAll = async (hashes: string[], status?: string): Promise<HttpAnswer[]> =>
		await Promise.all(hashes.map(async (hash) => await inbox.trigger.post({ hash, status })));
	const strangers = (count: number): string[] =>
		Array.from({ length: count }, (_, nth) => `stranger${nth}`);

	test('a flood of unknown hashes costs few reads, leaves room for known ones, and ends', async () => {
		const [charged, read, unknown] = [
			await inbox.chargeHere(),
			...(await chargesAt(inbox.account.sandbox, 2)),
		];
		await inbox.post(read ?? '', 'waiting_payment');
		const before = inbox.reads;

		const answers = await postAll(strangers(FLOOD), 'paid');
		expect(countByStatus(answers)).toEqual({ 503: FLOOD });
		expect(inbox.reads - before).toBe(MISSES);
		expect(answers.every(({ headers }) => Number(headers['retry-after']) > 0)).toBe(true);

		await inbox.account.sandbox.setStatus(read ?? '', 'paid');
		expect([await inbox.post(charged), await inbox.post(read ?? '', 'paid')]).toEqual([200, 200]);
		expect(await inbox.post(unknown ?? '')).toBe(503);
		await clock.sleep(60_100);
		expect(await inbox.post(unknown ?? '')).toBe(200);
	});

	test('a known transaction passes while slow reads of strangers are in flight and queued', async () => {
		const hash = await inbox.chargeHere();
		inbox.account.fault('read', { kind: 'delay', ms: 1_500 }, MISSES);
		const flood = postAll(strangers(MISSES + 256));
		await clock.sleep(100);
		const startedAt = clock.elapsed();

		expect((await inbox.trigger.post({ hash: 'stranger999' })).json).toEqual({
			received: false,
			reason: 'too many webhooks at once',
		});
		expect(await inbox.post(hash, 'waiting_payment')).toBe(200);
		expect(clock.elapsed() - startedAt).toBeLessThan(1_000);
		expect(countByStatus(await flood)).toEqual({ 503: MISSES + 256 });
	});

	test.each<[string, Fault, number]>([
		['refuses the read', { kind: 'status', status: 422 }, 1],
		['returns another transaction', { kind: 'status', status: 200, body: ANOTHER }, 1],
		['is unavailable', { kind: 'status', status: 503 }, 2],
	])('a read that finds nothing is counted if the service %s', async (_name, fault, tries) => {
		inbox.account.fault('read', fault, 'always');

		await postAll(strangers(FLOOD));
		expect(inbox.reads).toBe(tries * MISSES);
	});

	test('a read that was cut short, because its sender had waited long, is not counted', async () => {
		delayCredential(6_000);
		inbox.account.fault('read', { kind: 'delay', ms: 4_000 }, 'always');
		expect(countByStatus(await postAll(strangers(MISSES)))).toEqual({ 503: MISSES });
		expect(inbox.reads).toBeGreaterThanOrEqual(MISSES);

		jest.restoreAllMocks();
		inbox.account.sandbox.clearFaults();
		expect(await inbox.post(await inbox.charge(), 'waiting_payment')).toBe(200);
	});

	test('after a 429 webhooks are rejected at once until its wait is over', async () => {
		inbox.account.fault('read', { kind: 'retryAfter', seconds: 30 });
		await inbox.post('stranger');
		const startedAt = clock.elapsed();

		const answers = await postAll([await inbox.chargeHere(), ...strangers(30)]);
		expect(countByStatus(answers)).toEqual({ 503: 31 });
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

	test('an unwanted status that an earlier read confirmed costs no read', async () => {
		await inbox.publish({ triggerOn: ['paid'] });
		const hash = await inbox.chargeHere();
		for (const ms of [100, 60_000, 600_000]) {
			await inbox.post(hash, 'waiting_payment');
			await clock.sleep(ms);
		}

		expect([inbox.trigger.outcomes, inbox.reads]).toEqual([[], 1]);
	});

	test.each([
		['a revoked token', { kind: 'status', status: 401 }, /does not accept the API token/],
		['a failure of the service', { kind: 'status', status: 502 }, /502/],
	] as const)(
		'after %s, a webhook is answered 503, and the log says why once a minute',
		async (_case, fault, reason) => {
			inbox.account.fault('read', fault, 'always');
			const errors = () =>
				inbox.trigger.logs.filter(({ text }) => text.startsWith('A webhook could not be handled'));

			expect([await inbox.post('ab12', 'paid'), await inbox.post('ab12', 'paid')]).toEqual([
				503, 503,
			]);
			expect(errors()).toHaveLength(1);
			expect(errors()[0]?.text).toMatch(reason);
			await clock.sleep(60_000);
			await inbox.post('ab12', 'paid');
			expect(errors()).toHaveLength(2);
		},
	);
});
