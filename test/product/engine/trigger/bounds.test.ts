import type { INodeParameters } from 'n8n-workflow';
import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { dedupeStore } from '../../../../nodes/DigitalSales/trigger/dedupe';
import { readsInFlight } from '../../../../nodes/DigitalSales/trigger/receive';
import { chargeAt } from '../../../support/charge';
import { withoutWaiting } from '../../../support/virtualTime';
import { postJson, serveWebhook, type HttpAnswer, type PublishedTrigger } from '../harness';
import { openAccount, pixParameters, type Account } from '../support/account';

describe('Digital Sales Trigger: what strangers can cause', () => {
	let account: Account;
	let trigger: PublishedTrigger;
	let restoreTime: () => number = () => 0;

	beforeAll(async () => {
		account = await openAccount();
	});
	beforeEach(async () => {
		account.reset();
		trigger = await publish({ triggerOn: ['any'] });
	});
	afterEach(async () => {
		restoreTime();
		restoreTime = () => 0;
		await trigger.settled();
		trigger.stopListening();
		expect(trigger.thrown).toEqual([]);
	});
	afterAll(async () => await account.sandbox.close());

	const publish = async (parameters: INodeParameters): Promise<PublishedTrigger> =>
		await serveWebhook({ credentials: account.credentials, parameters });

	const charge = async (): Promise<string> => {
		await account.run(pixParameters(account.sandbox));
		return account.sandbox.transactions.at(-1)?.hash ?? '';
	};
	const reads = (): number =>
		account.sandbox.requests.filter(
			({ method, path }) => method === 'GET' && path.includes('/transactions/'),
		).length;
	const counts = (answers: HttpAnswer[]): Record<number, number> =>
		answers.reduce<Record<number, number>>(
			(sums, { status }) => ({ ...sums, [status]: (sums[status] ?? 0) + 1 }),
			{},
		);
	const flood = async (count: number, body: (nth: number) => object): Promise<HttpAnswer[]> =>
		await Promise.all(
			Array.from({ length: count }, async (_, nth) => await trigger.post(body(nth))),
		);
	/** Lets so much time pass for the package. */
	const pass = async (milliseconds: number): Promise<void> => {
		restoreTime();
		restoreTime = withoutWaiting(clock);
		await clock.sleep(milliseconds);
	};

	test('a flood of unknown hashes costs few reads, and then it goes on', async () => {
		const hash = await chargeAt(account.sandbox);

		const answers = await flood(100, (nth) => ({ hash: `stranger${nth}`, status: 'paid' }));

		expect(counts(answers)).toEqual({ 404: 15, 503: 85 });
		expect(reads()).toBe(15);
		const refused = answers.filter(({ status }) => status === 503);
		expect(refused.every(({ headers }) => Number(headers['retry-after']) > 0)).toBe(true);
		expect((await trigger.post({ hash })).status).toBe(503);

		await pass(4_100);

		expect((await trigger.post({ hash })).status).toBe(200);
		expect(trigger.executions).toHaveLength(1);
	});

	test('transactions of this process are read also while strangers knock', async () => {
		const made = await charge();
		const madeElsewhere = await chargeAt(account.sandbox);
		await flood(40, (nth) => ({ hash: `stranger${nth}`, status: 'paid' }));

		expect((await trigger.post({ hash: madeElsewhere })).status).toBe(503);
		expect((await trigger.post({ hash: made })).status).toBe(200);
		expect(trigger.executions).toHaveLength(1);
	});

	test('one that was read before is known from then on', async () => {
		const madeElsewhere = await chargeAt(account.sandbox);
		await trigger.post({ hash: madeElsewhere, status: 'waiting_payment' });
		await pass(3_000);
		await flood(40, (nth) => ({ hash: `stranger${nth}`, status: 'paid' }));
		await account.sandbox.setStatus(madeElsewhere, 'paid');

		expect((await trigger.post({ hash: madeElsewhere, status: 'paid' })).status).toBe(200);
		expect(trigger.executions).toHaveLength(2);
	});

	test('a charge whose notice comes before it can be read stays known', async () => {
		const made = await charge();
		account.sandbox.addFault({
			endpoint: 'GET /transactions/{hash}',
			kind: 'status',
			status: 404,
			body: {},
		});
		expect((await trigger.post({ hash: made })).status).toBe(404);
		await flood(40, (nth) => ({ hash: `stranger${nth}`, status: 'paid' }));

		expect((await trigger.post({ hash: made })).status).toBe(200);
	});

	test('whoever brings the secret of a trigger is read while strangers knock at another', async () => {
		const madeElsewhere = await chargeAt(account.sandbox);
		const locked = await publish({ triggerOn: ['any'], options: { urlSecret: true } });
		const [key] = /\?key=[\w-]+/.exec(JSON.stringify(locked.staticData)) ?? [];
		await flood(40, (nth) => ({ hash: `stranger${nth}`, status: 'paid' }));

		const answers = [await trigger.post({ hash: madeElsewhere })];
		answers.push(await postJson(`${locked.url}${key}`, { hash: madeElsewhere }));

		expect(answers.map(({ status }) => status)).toEqual([503, 200]);
		expect(locked.executions).toHaveLength(1);
		locked.stopListening();
	});

	test('real transactions are not counted among the unknown', async () => {
		const hashes: string[] = [];
		while (hashes.length < 40) hashes.push(await chargeAt(account.sandbox));

		const answers = await flood(40, (nth) => ({ hash: hashes[nth] }));

		expect(counts(answers)).toEqual({ 200: 40 });
		expect(trigger.executions).toHaveLength(40);
	});

	test('not more than ten that this process does not know are read at once', async () => {
		const hashes: string[] = [];
		while (hashes.length < 30) hashes.push(await chargeAt(account.sandbox));
		account.sandbox.addFault({
			endpoint: 'GET /transactions/{hash}',
			kind: 'delay',
			ms: 400,
			times: 'always',
		});
		let most = 0;
		const watching = setInterval(() => {
			const open = account.sandbox.requests.filter(
				({ method, status }) => method === 'GET' && status === null,
			);
			most = Math.max(most, open.length);
		}, 2);

		await flood(30, (nth) => ({ hash: hashes[nth] })).finally(() => clearInterval(watching));

		expect(most).toBeGreaterThan(5);
		expect(most).toBeLessThanOrEqual(10);
		expect(trigger.executions).toHaveLength(30);
	});

	test('a flood about one transaction costs one read', async () => {
		const hash = await charge();

		const atOnce = await flood(100, () => ({ hash, payment_status: 'waiting_payment' }));
		for (let nth = 0; nth < 20; nth += 1) {
			await trigger.post({ hash, payment_status: 'waiting_payment' });
		}

		expect(reads()).toBe(1);
		expect(Object.keys(counts(atOnce)).every((status) => ['200', '503'].includes(status))).toBe(
			true,
		);
		expect(trigger.executions).toHaveLength(1);
	});

	test('a status that changes right after a look is not missed', async () => {
		const hash = await charge();
		await trigger.post({ hash, payment_status: 'waiting_payment' });
		await account.sandbox.setStatus(hash, 'paid');
		restoreTime = withoutWaiting(clock);

		const answer = await trigger.post({ hash, payment_status: 'paid' });

		expect(answer.status).toBe(200);
		expect(trigger.executions.map(([item]) => item?.json.payment_status)).toEqual([
			'waiting_payment',
			'paid',
		]);
	});

	test('a change that is reported while a look is under way is looked at next', async () => {
		const hash = await charge();
		account.sandbox.addFault({
			endpoint: 'GET /transactions/{hash}',
			kind: 'delayAfterProcessing',
			ms: 100,
		});
		const first = trigger.post({ hash, payment_status: 'waiting_payment' });
		await new Promise((resolve) => setTimeout(resolve, 50));
		await account.sandbox.setStatus(hash, 'paid');
		restoreTime = withoutWaiting(clock);

		const [second, third] = await Promise.all([
			trigger.post({ hash, payment_status: 'paid' }),
			trigger.post({ hash, payment_status: 'waiting_payment' }),
		]);

		expect([(await first).status, second.status, third.status]).toEqual([200, 200, 503]);
		expect(trigger.executions).toHaveLength(2);
		expect(reads()).toBe(2);
	});

	test('where every notice is wanted, a repeated one costs no second read either', async () => {
		trigger.stopListening();
		trigger = await publish({ triggerOn: ['any'], options: { deduplicate: false } });
		const hash = await charge();

		for (let nth = 0; nth < 5; nth += 1) {
			await trigger.post({ hash, payment_status: 'waiting_payment' });
		}

		expect(trigger.executions).toHaveLength(5);
		expect(reads()).toBe(1);
	});

	test('a closed budget is not waited for: the sender is told to come again', async () => {
		const hash = await charge();
		account.sandbox.addFault({
			endpoint: 'GET /transactions/{hash}',
			kind: 'retryAfter',
			seconds: 30,
		});
		const limited = await trigger.post({ hash });
		const startedAt = Date.now();

		const closed = await trigger.post({ hash });

		expect([limited.status, closed.status]).toEqual([503, 503]);
		expect(Date.now() - startedAt).toBeLessThan(2_000);
		expect(reads()).toBe(1);
	});

	test('what the process remembers of notices is bounded, and how long a status may be', async () => {
		for (let nth = 0; nth < 10_000; nth++) dedupeStore.set(`old ${nth}`, 'answered');
		const hash = await charge();
		await account.sandbox.setStatus(hash, 'x'.repeat(100_000));

		await trigger.post({ hash });
		await trigger.settled();

		expect(dedupeStore.size).toBe(10_000);
		expect(dedupeStore.get('old 0')).toBeUndefined();
		expect(dedupeStore.list().at(-1)?.[0].length).toBeLessThan(300);
	});

	test('a credential that is gone is no crash, and the log says what went wrong', async () => {
		const credentials = { ...account.credentials };
		trigger.stopListening();
		trigger = await serveWebhook({ credentials, parameters: { triggerOn: ['any'] } });
		Reflect.deleteProperty(credentials, 'digitalSalesApi');

		const answers = [await trigger.post({ hash: 'ab12' }), await trigger.post({ hash: 'ab12' })];

		expect(answers.map(({ status }) => status)).toEqual([503, 503]);
		const [logged] = trigger.logs.filter(({ level }) => level === 'error');
		expect(logged?.text).toMatch(/notification could not be handled.*Error/);
	});

	test('what the process remembers of notices is bounded', async () => {
		const hash = await charge();
		const transaction = { hash, json: { hash } };
		for (let nth = 0; nth < 3_000; nth += 1) {
			await readsInFlight.run({ subject: `other ${nth}` }, async () => ({ result: transaction }));
		}

		await trigger.post({ hash, payment_status: 'waiting_payment' });

		expect(readsInFlight.subjects.length).toBeLessThanOrEqual(1_000);
	});
});
