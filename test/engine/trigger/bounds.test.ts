import { clock } from '../../../nodes/DigitalSales/shared/clock';
import type { Fault } from '../../sandbox';
import { chargesAt } from '../../helpers/charge';
import { mostAtOnce } from '../../helpers/underWay';
import type { HttpAnswer } from '../../helpers/engine';
import { countByStatus, useInbox } from '../../helpers/inbox';
import { flood } from '../../helpers/extent';
import { postFrom } from '../../helpers/platform';

/** The reads of unseen transactions without news that are allowed in a minute. */
const MISSES = 24;
/** A second read of a hash does not count its own first read, so one more fits after the limit. */
const UNKNOWN = MISSES + 1;
/** Another transaction than the requested. */
const ANOTHER = { hash: 'another1', payment_status: 'paid' };

describe('Digital Sales Trigger: what unverified webhooks can cause', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	beforeEach(async () => {
		await inbox.publish();
	});

	const postAll = async (hashes: string[], status?: string): Promise<HttpAnswer[]> =>
		await Promise.all(hashes.map(async (hash) => await inbox.trigger.post({ hash, status })));
	const strangers = (count: number): string[] =>
		Array.from({ length: count }, (_, nth) => `stranger${nth}`);
	const gets = () => inbox.account.sandbox.requests.filter(({ method }) => method === 'GET');

	test('a flood of unknown hashes costs few reads, and then reading continues', async () => {
		const hash = await inbox.charge();

		const answers = await postAll(strangers(60), 'paid');

		expect(countByStatus(answers)).toEqual({ 503: 60 });
		expect(inbox.reads).toBe(UNKNOWN);
		const refused = answers.filter(({ status }) => status === 503);
		expect(refused.every(({ headers }) => Number(headers['retry-after']) > 0)).toBe(true);
		expect((await inbox.trigger.post({ hash })).status).toBe(503);

		await clock.sleep(60_100);

		expect((await inbox.trigger.post({ hash })).status).toBe(200);
		expect(inbox.trigger.emitted).toHaveLength(1);
	});

	test.each<[string, (nth: number) => string]>([
		['one IPv6 network', (nth) => `2001:db8:1:${nth.toString(16)}::7`],
		['one address whose proxy appends the port', (nth) => `203.0.113.7:${40_000 + nth}`],
		['one IPv6 address with its port', (nth) => `[2001:db8::7]:${40_000 + nth}`],
		['one IPv4 address that is written as IPv6', (nth) => `::ffff:203.0.113.7:${40_000 + nth}`],
	])('a flood from %s costs as few reads as from one sender', async (_name, addressOf) => {
		const posting = strangers(40).map(async (hash, nth) => {
			await postFrom(addressOf(nth), inbox.trigger.url, { hash });
		});
		await Promise.all(posting);

		expect(inbox.reads).toBe(UNKNOWN);
	});

	test('a flood from an IPv4 and an IPv6 address leaves room for a sale from a third', async () => {
		const hash = await inbox.charge();
		const { url } = inbox.trigger;
		await Promise.all(
			['203.0.113.7', '2001:db8::7'].flatMap((from) =>
				strangers(40).map(async (one) => await postFrom(from, url, { hash: one + from.length })),
			),
		);
		expect(inbox.reads).toBe(2 * UNKNOWN);

		expect(await postFrom('192.0.2.1', url, { hash })).toBe(200);
	});

	test.each<[string, Fault, number]>([
		['refuses the read', { kind: 'status', status: 422 }, 1],
		['returns another transaction', { kind: 'status', status: 200, body: ANOTHER }, 1],
		['is unavailable', { kind: 'status', status: 503 }, 2],
		['hangs up', { kind: 'resetBeforeProcessing' }, 2],
	])('a read that finds nothing is counted if the service %s', async (_name, fault, tries) => {
		inbox.account.fault('read', fault, 'always');

		await postAll(strangers(40));
		expect(inbox.reads).toBe(tries * MISSES);
		await clock.sleep(61_000);
		await postAll(strangers(40));

		expect(inbox.reads).toBe(2 * tries * MISSES);
		expect(inbox.trigger.emitted).toEqual([]);
	});

	test('at most 24 transactions are read at once, and reads that find a sale are not counted', async () => {
		const hashes = await chargesAt(inbox.account.sandbox, 40);
		inbox.account.fault('read', { kind: 'delay', ms: 400 }, 'always');

		await postAll(hashes);

		expect(mostAtOnce(gets())).toBe(MISSES);
		expect(inbox.trigger.emitted).toHaveLength(40);
	});

	test('a charge of this process is read during a flood, even if its notice came too early', async () => {
		const hash = await inbox.chargeHere();
		inbox.account.fault('read', { kind: 'status', status: 404, body: {} }, 2);
		expect((await inbox.trigger.post({ hash })).status).toBe(503);
		await postAll(strangers(40), 'paid');

		expect((await inbox.trigger.post({ hash })).status).toBe(200);
	});

	test('a known transaction passes while slow reads of strangers are in flight and queued', async () => {
		const hash = await inbox.chargeHere();
		inbox.account.fault('read', { kind: 'delay', ms: 1_500 }, MISSES);
		const flood = postAll(strangers(290));
		await clock.sleep(100);
		const startedAt = clock.elapsed();
		// More than 256 are in line.
		expect((await inbox.trigger.post({ hash: 'stranger290' })).json).toEqual({
			received: false,
			reason: 'too many webhooks at once',
		});
		expect((await inbox.trigger.post({ hash, status: 'waiting_payment' })).status).toBe(200);
		expect(clock.elapsed() - startedAt).toBeLessThan(1_000);
		expect(countByStatus(await flood)).toEqual({ 503: 290 });
	});

	test('known transactions cost few reads while the service fails', async () => {
		const known = await chargesAt(inbox.account.sandbox, 40);
		await postAll(known, 'waiting_payment');
		await clock.sleep(5_000);
		inbox.account.fault('read', { kind: 'status', status: 500 }, 'always');
		const before = inbox.reads;

		const flood = postAll(known, 'refunded');
		await clock.sleep(900);

		expect(inbox.reads - before).toBeGreaterThan(1);
		expect(inbox.reads - before).toBeLessThanOrEqual(MISSES);
		expect(countByStatus(await flood)).toEqual({ 503: 40 });
	});

	test('after a 429 notices are rejected at once until its wait is over', async () => {
		inbox.account.fault('read', { kind: 'retryAfter', seconds: 30 });
		await inbox.trigger.post({ hash: 'stranger' });
		const startedAt = clock.elapsed();

		const answers = await postAll([await inbox.chargeHere(), ...strangers(30)]);

		const reason = 'the transaction cannot be verified now';
		expect(answers.map(({ json }) => json)).toEqual(
			answers.map(() => ({ received: false, reason })),
		);
		expect(clock.elapsed() - startedAt).toBeLessThan(2_000);
		expect(inbox.reads).toBe(1);
		await clock.sleep(31_000);
		expect((await inbox.trigger.post({ hash: await inbox.charge() })).status).toBe(200);
	});

	test('after a 429 neither a known nor an unknown transaction waits for the read of a stranger', async () => {
		const known = await inbox.chargeHere();
		const [first = '', second = ''] = await chargesAt(inbox.account.sandbox, 2);
		inbox.account.fault('read', { kind: 'retryAfter', seconds: 1 }, 'always');
		await inbox.trigger.post({ hash: known });
		await clock.sleep(10_000);
		inbox.account.sandbox.clearFaults();
		inbox.account.fault('read', { kind: 'delay', ms: 3_000 });
		const slow = postFrom('203.0.113.7', inbox.trigger.url, { hash: first });
		await clock.sleep(100);

		expect(countByStatus(await postAll([known, second], 'waiting_payment'))).toEqual({ 200: 2 });
		await slow;
	});

	test.each([
		[MISSES, 'before a 429'],
		[1, 'after a 429'],
	])(
		'%i sales at once that only a second read finds do not count as reads that find nothing (%s)',
		async (sales, when) => {
			if (when === 'after a 429') {
				inbox.account.fault('read', { kind: 'retryAfter', seconds: 1 });
				await postAll(strangers(1));
				await clock.sleep(5_000);
			}
			for (let round = 0; round < flood(3); round++) {
				const hashes = await chargesAt(inbox.account.sandbox, sales);
				inbox.account.fault('read', { kind: 'status', status: 404, body: {} }, sales);

				expect(countByStatus(await postAll(hashes, 'waiting_payment'))).toEqual({ 200: sales });
			}
		},
	);

	test('a 429 does not count as a read that finds nothing', async () => {
		const hashes = await chargesAt(inbox.account.sandbox, 2);
		inbox.account.fault('read', { kind: 'retryAfter', format: 'absent' });

		for (const [nth, status] of [503, 200].entries()) {
			const notice = { hash: hashes[nth], status: 'waiting_payment' };
			expect((await inbox.trigger.post(notice)).status).toBe(status);
			await clock.sleep(5_000);
		}
	});

	test('a flood about one transaction costs one read', async () => {
		const hash = await inbox.chargeHere();

		const atOnce = await postAll(Array(100).fill(hash), 'waiting_payment');
		for (let nth = 0; nth < 20; nth += 1) await postAll([hash], 'waiting_payment');

		expect(inbox.reads).toBe(1);
		expect(['200', '503']).toEqual(expect.arrayContaining(Object.keys(countByStatus(atOnce))));
		expect(inbox.trigger.emitted).toHaveLength(1);
	});

	test('a repeated notice that the form excludes costs no second read', async () => {
		await inbox.publish({ triggerOn: ['paid'] });
		const hash = await inbox.chargeHere();

		for (let nth = 0; nth < 5; nth += 1) {
			await postAll([hash], 'waiting_payment');
			await clock.sleep(100);
		}

		expect(inbox.trigger.emitted).toEqual([]);
		expect(inbox.reads).toBe(1);
	});

	test('a change that is reported during a read is read next', async () => {
		const hash = await inbox.chargeHere();
		inbox.account.fault('read', { kind: 'delayAfterProcessing', ms: 100 });
		const first = inbox.trigger.post({ hash, payment_status: 'waiting_payment' });
		await clock.sleep(50);
		await inbox.account.sandbox.setStatus(hash, 'paid');

		const [second, third] = await Promise.all([
			inbox.trigger.post({ hash, payment_status: 'paid' }),
			inbox.trigger.post({ hash, payment_status: 'waiting_payment' }),
		]);

		expect(second.status).toBe(200);
		expect(new Set([(await first).status, third.status])).toEqual(new Set([200, 503]));
		expect(inbox.trigger.emitted).toHaveLength(2);
		expect(inbox.reads).toBe(2);
	});

	test('a read that is a few seconds old is repeated', async () => {
		await inbox.publish({ triggerOn: ['paid'] });
		const hash = await inbox.charge();
		await inbox.account.sandbox.setStatus(hash, 'paid');
		inbox.trigger.failingStores = 1;
		expect((await inbox.trigger.post({ hash, status: 'paid' })).status).toBe(500);
		await inbox.account.sandbox.setStatus(hash, 'refunded');
		await clock.sleep(3_000);

		expect((await inbox.trigger.post({ hash, status: 'paid' })).status).toBe(200);
		expect(inbox.items).toEqual([]);
	});

	test('a read from before a refund does not pass on the sale for another event', async () => {
		await inbox.publish({ triggerOn: ['paid'] });
		const hash = await inbox.charge();
		await inbox.account.sandbox.setStatus(hash, 'paid');
		await inbox.trigger.post({ hash, status: 'paid' });
		// Repeated reads lengthen the pause before the next read.
		while (inbox.reads < 6) {
			await inbox.trigger.post({ hash });
			await clock.sleep(1_000);
		}
		await inbox.account.sandbox.setStatus(hash, 'refunded');
		await clock.sleep(40_000);

		await inbox.trigger.post({ hash, status: 'paid', event: 'renewal' });
		expect(inbox.items).toHaveLength(1);
	});

	test('a stranger whose webhooks have a sale read all the time does not keep the sale out', async () => {
		await inbox.publish({ triggerOn: ['paid', 'reversed'] });
		const hash = await inbox.charge();
		await inbox.account.sandbox.setStatus(hash, 'paid');
		const until = clock.elapsed() + 100_000;
		const posted: Array<Promise<unknown>> = [];
		while (clock.elapsed() < until) {
			posted.push(inbox.trigger.post({ hash, status: 'refunded' }));
			await clock.sleep(1_000);
		}

		expect((await inbox.trigger.post({ hash, status: 'paid' })).status).toBe(200);
		await Promise.all(posted);
		expect(inbox.items).toMatchObject([{ hash, payment_status: 'paid' }]);
		expect(inbox.reads).toBeLessThan(12);
	});

	test.each([
		['a revoked token', { kind: 'status', status: 401 }, /does not accept the API token/],
		['a failure of the service', { kind: 'status', status: 502 }, /502/],
	] as const)(
		'after %s, a webhook is answered 503, and the log says why once a minute',
		async (_case, fault, reason) => {
			await inbox.publish();
			const hash = await inbox.charge();
			inbox.account.fault('read', fault, 'always');

			expect((await inbox.trigger.post({ hash, status: 'paid' })).status).toBe(503);
			expect((await inbox.trigger.post({ hash, status: 'paid' })).status).toBe(503);
			const logged = inbox.trigger.logs.filter(({ level }) => level === 'error');
			expect(logged).toHaveLength(1);
			expect(logged[0]?.text).toMatch(reason);
		},
	);

	test('a webhook without a credential is answered 503, and the log says why once a minute', async () => {
		const credentials = { ...inbox.account.credentials };
		await inbox.publish(undefined, { credentials });
		Reflect.deleteProperty(credentials, 'digitalSalesApi');

		expect((await inbox.trigger.post({ hash: 'ab12' })).status).toBe(503);
		await postAll(strangers(20));
		const logged = inbox.trigger.logs.filter(({ level }) => level === 'error');
		expect(logged).toHaveLength(1);
		expect(logged[0]?.text).toMatch(/webhook could not be handled.*Error/);
		await clock.sleep(60_000);
		await postAll(strangers(1));
		expect(inbox.trigger.logs.filter(({ level }) => level === 'error')).toHaveLength(2);
	});
});
