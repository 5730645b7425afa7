import { createRunExecutionData } from 'n8n-workflow';
import { NO_OP_TYPE, processedItems, serveWebhook, type PublishedTrigger } from '../harness';
import { openAccount, type Account } from '../support/account';
import { chargeAt } from '../../../support/charge';

const ANY = { triggerOn: ['any'] };

describe('A notice starts the workflow once', () => {
	let account: Account;
	let trigger: PublishedTrigger;

	beforeAll(async () => {
		account = await openAccount({ resendAfterSeconds: [] });
	});
	beforeEach(() => account.reset());
	afterEach(() => trigger.stopListening());
	afterAll(async () => await account.sandbox.close());

	const serve = async (options: Parameters<typeof serveWebhook>[0] = {}): Promise<void> => {
		trigger = await serveWebhook({
			credentials: account.credentials,
			parameters: ANY,
			...options,
		});
	};
	const posted = async (hash: string): Promise<number> => (await trigger.post({ hash })).status;
	/** A notice again when the process remembers nothing of the first one. */
	const afterRestart = async (hash: string): Promise<number> => {
		await trigger.restart();
		return await posted(hash);
	};

	test('n8n answers it, after it has stored the execution', async () => {
		await serve();
		const hash = await chargeAt(account.sandbox);
		const { status, text } = await trigger.post({ hash });

		expect([status, text]).toEqual([200, '']);
		expect(trigger.executions).toHaveLength(1);
	});

	test('a duplicate after a restart ends in success, without an item', async () => {
		await serve({ next: [{ name: 'Deliver', type: NO_OP_TYPE }] });
		const hash = await chargeAt(account.sandbox);
		await posted(hash);
		expect(await afterRestart(hash)).toBe(200);
		const [first, second] = await trigger.settled();

		expect(first?.data.Deliver?.items).toHaveLength(1);
		expect(second?.status).toBe('success');
		expect(second?.data.Deliver).toBeUndefined();
	});

	test('nothing of it is stored in the static data', async () => {
		await serve();
		await posted(await chargeAt(account.sandbox));
		trigger.loseStaticData();
		const hash = await chargeAt(account.sandbox);
		await posted(hash);
		trigger.loseStaticData();
		await afterRestart(hash);

		expect(JSON.stringify(trigger.staticData)).not.toContain(hash);
		expect(trigger.executions).toHaveLength(2);
	});

	test('two processes of n8n give one item', async () => {
		await serve();
		trigger.addProcess();
		const hash = await chargeAt(account.sandbox);
		expect([await posted(hash), await posted(hash)]).toEqual([200, 200]);

		expect(trigger.executions).toHaveLength(1);
	});

	test('Always Output Data makes no empty item of a duplicate', async () => {
		await serve({
			settings: { alwaysOutputData: true },
			next: [{ name: 'Deliver', type: NO_OP_TYPE }],
		});
		const hash = await chargeAt(account.sandbox);
		await posted(hash);
		await afterRestart(hash);
		const [first, second] = await trigger.settled();

		expect(first?.data.Deliver?.items).toHaveLength(1);
		expect(second?.data.Deliver).toBeUndefined();
	});

	test('another status, and another account, are something else', async () => {
		await serve();
		const hash = await chargeAt(account.sandbox);
		await posted(hash);
		await account.sandbox.setStatus(hash, 'paid');
		await afterRestart(hash);

		expect(trigger.executions.map(([item]) => item?.json.payment_status)).toEqual([
			'waiting_payment',
			'paid',
		]);
	});

	describe('the Retry of an execution that crashed', () => {
		test('gives the item, as often as it crashes again', async () => {
			await serve();
			const hash = await chargeAt(account.sandbox);
			await posted(hash);
			const [begun] = trigger.begun;
			await trigger.restart();
			for (let nth = 0; nth < 2; nth++) {
				const { data } = await trigger.retry(begun ?? createRunExecutionData());
				expect(Object.values(data)[0]?.items).toMatchObject([{ json: { hash } }]);
			}
		});

		test('gives none where it was a duplicate of another one', async () => {
			await serve();
			const hash = await chargeAt(account.sandbox);
			await posted(hash);
			await afterRestart(hash);
			const [, duplicate] = trigger.begun;
			for (let nth = 0; nth < 2; nth++) {
				const { status, data } = await trigger.retry(duplicate ?? createRunExecutionData());
				expect(status).toBe('success');
				expect(Object.values(data)[0]?.items).toEqual([]);
			}
		});

		test('gives it where the crash came before anything was entered', async () => {
			await serve();
			const hash = await chargeAt(account.sandbox);
			await posted(hash);
			processedItems.clear();
			const [begun] = trigger.begun;
			const { data } = await trigger.retry(begun ?? createRunExecutionData());

			expect(Object.values(data)[0]?.items).toHaveLength(1);
			await afterRestart(hash);
			expect(trigger.executions).toHaveLength(2);
		});

		test('gives it where the crash came between the two entries', async () => {
			await serve();
			const hash = await chargeAt(account.sandbox);
			// The first entry and the look whether it is there; all that follows fails.
			processedItems.failAfter = 2;
			await posted(hash);
			processedItems.clear({ keepRows: true });
			const [begun] = trigger.begun;
			expect(trigger.executions).toHaveLength(0);
			const { data } = await trigger.retry(begun ?? createRunExecutionData());

			expect(Object.values(data)[0]?.items).toHaveLength(1);
		});
	});

	test('a database that refuses the entry fails the execution; its Retry gives the item', async () => {
		await serve();
		const hash = await chargeAt(account.sandbox);
		processedItems.failingWrites = 100;
		expect(await posted(hash)).toBe(200);
		const [failed] = await trigger.settled();
		processedItems.failingWrites = 0;
		const { data } = await trigger.retry(failed?.run?.data ?? createRunExecutionData());

		expect(failed?.error?.message).toBe(
			'n8n could not record this notification, so the workflow was not started',
		);
		expect(Object.values(data)[0]?.items).toHaveLength(1);
	});

	test('what n8n could not store is not swallowed when it comes again', async () => {
		await serve();
		const hash = await chargeAt(account.sandbox);
		trigger.failingStores = 1;

		expect([await posted(hash), await posted(hash)]).toEqual([500, 200]);
		expect(trigger.executions).toHaveLength(1);
	});

	test('while n8n stores it, the same notice is told to come again; afterwards it is known', async () => {
		await serve({ next: [{ name: 'Deliver', type: NO_OP_TYPE }] });
		const hash = await chargeAt(account.sandbox);
		let release = (): void => undefined;
		trigger.storing = new Promise((resolve) => (release = resolve));
		const first = trigger.post({ hash, status: 'waiting_payment' });
		while (trigger.held === 0) await new Promise((resolve) => setTimeout(resolve, 5));
		const second = await trigger.post({ hash, status: 'waiting_payment' });
		release();
		const answers = [(await first).status, second.status];
		const third = await trigger.post({ hash, status: 'waiting_payment' });

		expect(answers).toEqual([200, 503]);
		expect(third.json).toMatchObject({ started: false });
		expect(trigger.begun).toHaveLength(1);
	});

	test('a sender that leaves before the answer may come again', async () => {
		await serve({ next: [{ name: 'Deliver', type: NO_OP_TYPE }] });
		const hash = await chargeAt(account.sandbox);
		let release = (): void => undefined;
		trigger.storing = new Promise((resolve) => (release = resolve));
		const leaving = new AbortController();
		const first = fetch(trigger.url, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ hash }),
			signal: leaving.signal,
		}).catch(() => undefined);
		while (trigger.held === 0) await new Promise((resolve) => setTimeout(resolve, 5));
		leaving.abort();
		await first;
		await new Promise((resolve) => setTimeout(resolve, 50));
		release();
		await new Promise((resolve) => setTimeout(resolve, 50));
		trigger.storing = undefined;

		expect(await posted(hash)).toBe(200);
		await trigger.settled();
		expect(trigger.executions).toHaveLength(1);
	});
});
