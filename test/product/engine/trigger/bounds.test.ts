import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { handedOver, reads } from '../../../../nodes/DigitalSales/trigger/receive';
import { mostAtOnce } from '../../../support/underWay';
import type { HttpAnswer } from '../harness';
import { counts, useInbox } from '../support/inbox';

describe('Digital Sales Trigger: what unverified notices can cause', () => {
	const inbox = useInbox();

	beforeEach(async () => {
		await inbox.publish();
	});

	const flood = async (count: number, body: (nth: number) => object): Promise<HttpAnswer[]> =>
		await Promise.all(
			Array.from({ length: count }, async (_, nth) => await inbox.trigger.post(body(nth))),
		);

	test('a flood of unknown hashes costs few reads, and then reading continues', async () => {
		const hash = await inbox.charge();

		const answers = await flood(100, (nth) => ({ hash: `stranger${nth}`, status: 'paid' }));

		expect(counts(answers)).toEqual({ 404: 8, 503: 92 });
		expect(inbox.reads).toBe(8);
		const refused = answers.filter(({ status }) => status === 503);
		expect(refused.every(({ headers }) => Number(headers['retry-after']) > 0)).toBe(true);
		expect((await inbox.trigger.post({ hash })).status).toBe(503);

		await clock.sleep(20_100);

		expect((await inbox.trigger.post({ hash })).status).toBe(200);
		expect(inbox.trigger.executions).toHaveLength(1);
	});

	test('a charge of this process is read during a flood, even if its notice came too early', async () => {
		const made = await inbox.chargeHere();
		inbox.account.fault('read', { kind: 'status', status: 404, body: {} });
		expect((await inbox.trigger.post({ hash: made })).status).toBe(404);
		await flood(40, (nth) => ({ hash: `stranger${nth}`, status: 'paid' }));

		expect((await inbox.trigger.post({ hash: made })).status).toBe(200);
	});

	test('real transactions are not counted among the unknown', async () => {
		const hashes: string[] = [];
		while (hashes.length < 40) hashes.push(await inbox.charge());

		const answers = await flood(40, (nth) => ({ hash: hashes[nth] }));

		expect(counts(answers)).toEqual({ 200: 40 });
		expect(inbox.trigger.executions).toHaveLength(40);
	});

	test('at most eight transactions unknown to this process are read at once', async () => {
		const hashes: string[] = [];
		while (hashes.length < 30) hashes.push(await inbox.charge());
		inbox.account.fault('read', { kind: 'delay', ms: 400 }, 'always');

		await flood(30, (nth) => ({ hash: hashes[nth] }));

		const { requests } = inbox.account.sandbox;
		const most = mostAtOnce(requests.filter(({ method }) => method === 'GET'));
		expect(most).toBeGreaterThan(5);
		expect(most).toBeLessThanOrEqual(8);
		expect(inbox.trigger.executions).toHaveLength(30);
	});

	test('a flood about one transaction costs one read', async () => {
		const hash = await inbox.chargeHere();

		const atOnce = await flood(100, () => ({ hash, payment_status: 'waiting_payment' }));
		for (let nth = 0; nth < 20; nth += 1) {
			await inbox.trigger.post({ hash, payment_status: 'waiting_payment' });
		}

		expect(inbox.reads).toBe(1);
		expect(['200', '503']).toEqual(expect.arrayContaining(Object.keys(counts(atOnce))));
		expect(inbox.trigger.executions).toHaveLength(1);
	});

	test('a status that changes right after a read is not missed', async () => {
		const hash = await inbox.chargeHere();
		await inbox.trigger.post({ hash, payment_status: 'waiting_payment' });
		await inbox.account.sandbox.setStatus(hash, 'paid');

		const answer = await inbox.trigger.post({ hash, payment_status: 'paid' });

		expect(answer.status).toBe(200);
		expect(inbox.trigger.executions.map(([item]) => item?.json.payment_status)).toEqual([
			'waiting_payment',
			'paid',
		]);
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

		expect([(await first).status, second.status, third.status]).toEqual([200, 200, 503]);
		expect(inbox.trigger.executions).toHaveLength(2);
		expect(inbox.reads).toBe(2);
	});

	test('a repeated notice that the form excludes costs no second read', async () => {
		await inbox.publish({ triggerOn: ['paid'] });
		const hash = await inbox.chargeHere();

		for (let nth = 0; nth < 5; nth += 1) {
			await inbox.trigger.post({ hash, payment_status: 'waiting_payment' });
		}

		expect(inbox.trigger.executions).toEqual([]);
		expect(inbox.reads).toBe(1);
	});

	test('a closed rate limit is not waited for: the sender has to come again', async () => {
		const hash = await inbox.chargeHere();
		inbox.account.fault('read', { kind: 'retryAfter', seconds: 30 });
		const limited = await inbox.trigger.post({ hash });
		const startedAt = Date.now();

		const closed = await inbox.trigger.post({ hash });

		expect([limited.status, closed.status]).toEqual([503, 503]);
		expect(Date.now() - startedAt).toBeLessThan(2_000);
		expect(inbox.reads).toBe(1);
	});

	test('what was answered is bounded, and so is a status in it', async () => {
		for (let nth = 0; nth < 10_000; nth++) handedOver.set(`old ${nth}`, true);
		const hash = await inbox.chargeHere();
		await inbox.account.sandbox.setStatus(hash, 'x'.repeat(100_000));

		await inbox.trigger.post({ hash });
		await inbox.trigger.settled();

		expect(handedOver.size).toBe(9_000);
		expect(handedOver.get('old 0')).toBeUndefined();
		expect(handedOver.list().at(-1)?.[0].length).toBeLessThan(300);
	});

	test('a credential that is gone is no crash, and the log says what went wrong', async () => {
		const credentials = { ...inbox.account.credentials };
		await inbox.publish(undefined, { credentials });
		Reflect.deleteProperty(credentials, 'digitalSalesApi');

		const answers = [
			await inbox.trigger.post({ hash: 'ab12' }),
			await inbox.trigger.post({ hash: 'ab12' }),
		];

		expect(answers.map(({ status }) => status)).toEqual([503, 503]);
		const [logged] = inbox.trigger.logs.filter(({ level }) => level === 'error');
		expect(logged?.text).toMatch(/webhook could not be handled.*Error/);
	});

	test('what the process remembers of reads is bounded', async () => {
		const hash = await inbox.chargeHere();
		const transaction = { hash, json: { hash } };
		for (let nth = 0; nth < 3_000; nth += 1) {
			await reads.get(`other ${nth}`, async () => ({ at: 0, transaction }));
		}

		await inbox.trigger.post({ hash, payment_status: 'waiting_payment' });

		expect(reads.size).toBeLessThanOrEqual(1_000);
	});
});
