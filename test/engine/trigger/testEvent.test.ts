import type { INodeParameters } from 'n8n-workflow';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import type { Fault } from '../../sandbox';
import { PublishedTrigger } from '../../helpers/engine/trigger';
import { useInbox } from '../../helpers/inbox';

describe('Digital Sales Trigger: Test With Transaction', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });
	let hash: string;

	beforeEach(async () => {
		hash = await inbox.charge();
		await inbox.account.sandbox.setStatus(hash, 'paid');
	});

	/** Presses Execute step; a test event is sent soon after it. */
	const listen = async (testTransaction: unknown, more: INodeParameters = {}) =>
		await inbox.publish(
			{ options: { testTransaction } as INodeParameters, ...more },
			{ mode: 'test' },
		);
	const waited = async (ms = 2_000): Promise<void> => {
		await clock.sleep(ms);
		await inbox.trigger.settled();
	};
	const isListening = async (): Promise<boolean> =>
		(await inbox.trigger.post({ hash: 'nosuch1' })).text.includes('unknown transaction');
	/** Whether a real sale starts the workflow, as the first. */
	const takesSale = async (): Promise<boolean> => {
		expect((await inbox.trigger.post({ hash, status: 'paid' })).status).toBe(200);
		return inbox.items.length === 1 && inbox.items[0]?.hash === hash;
	};

	test('the transaction arrives once, like a new sale, after n8n has registered the test URL for the second time', async () => {
		await listen(hash);
		await waited(100);
		expect(inbox.trigger.begun).toEqual([]);
		expect(await isListening()).toBe(true);

		await waited();
		expect(inbox.items).toMatchObject([{ hash, payment_status: 'paid', amount_reais: 19.9 }]);
		expect(await isListening()).toBe(false);
		await waited(120_000);
		expect(inbox.trigger.begun).toHaveLength(1);
	});

	test('the transaction passes the form like any other sale', async () => {
		await listen(` ${hash} `, { triggerOn: ['any'], simplify: false });
		await waited();

		expect(inbox.items).toMatchObject([{ hash, customer: { email: 'maria@example.test' } }]);
	});

	test('the transaction arrives each time the step is executed, and the real sale still starts the workflow', async () => {
		await listen(hash);
		await waited();
		await inbox.trigger.activate();
		inbox.trigger.listen();
		await waited();
		expect(inbox.items).toMatchObject([{ hash }, { hash }]);

		await inbox.publish();
		expect(await takesSale()).toBe(true);
	});

	test.each([' ', null])('nothing is sent without a hash: %j', async (none) => {
		await listen(none);
		await waited();

		expect(inbox.trigger.begun).toEqual([]);
		expect(inbox.reads).toBe(0);
		expect(await takesSale()).toBe(true);
	});

	describe('an error says what to correct, and nothing is sent', () => {
		afterEach(async () => {
			await waited(120_000);
			expect(inbox.trigger.begun).toEqual([]);
		});

		/** Returns the error that the editor would show. The trigger keeps listening, so that a webhook would be seen. */
		const failing = async (testTransaction: unknown, more?: INodeParameters): Promise<unknown> => {
			const trigger = await PublishedTrigger.prepare({
				credentials: inbox.account.credentials,
				parameters: { options: { testTransaction } as INodeParameters, ...more },
				mode: 'test',
			});
			inbox.add(trigger).listen();
			return await trigger.activate().catch((error: unknown) => error);
		};

		test.each<unknown>(['..', [1]])('for an invalid hash: %j', async (testTransaction) => {
			expect(await failing(testTransaction)).toMatchObject({
				name: 'NodeOperationError',
				message: 'Options > Test With Transaction is not the hash of a transaction.',
			});
			expect(inbox.reads).toBe(0);
		});

		test('for a hash that the service does not know', async () => {
			expect(await failing('nosuch1')).toMatchObject({
				message: expect.stringMatching(
					/^Options > Test With Transaction names a transaction that could not be read\. .*\(404\)\. .*Check the hash\./,
				) as string,
			});
		});

		test('for a transaction that the form excludes', async () => {
			const advice =
				'The amount of the transaction is R$ 19,90, which does not match Filters > Minimum Amount in Reais. Enter another transaction, or change the form.';

			expect(await failing(hash, { filters: { minimumAmount: '50' } })).toMatchObject({
				message: `Options > Test With Transaction names a transaction that does not start this workflow. ${advice}`,
			});
		});

		test.each<[string, Fault]>([
			['is down', { kind: 'status', status: 503 }],
			['is silent', { kind: 'delay', ms: 60_000 }],
		])('for a service that %s, within 30 seconds', async (_name, fault) => {
			inbox.account.fault('read', fault, 'always');
			const startedAt = clock.elapsed();

			expect(await failing(hash)).toMatchObject({
				message: expect.stringContaining('Try again later') as string,
			});
			expect(clock.elapsed() - startedAt).toBeLessThan(30_000);
		});

		test('for an account at its rate limit, twice within 30 seconds', async () => {
			inbox.account.fault('read', { kind: 'retryAfter', seconds: 250 });
			const startedAt = clock.elapsed();

			for (let nth = 0; nth < 2; nth++) {
				expect(await failing(hash)).toMatchObject({
					message: expect.stringContaining('Wait a while') as string,
				});
			}
			expect(clock.elapsed() - startedAt).toBeLessThan(30_000);
		});

		test('for a form that cannot be read, before any request', async () => {
			expect(await failing(hash, { filters: { minimumAmount: 'abc' } })).toMatchObject({
				message: expect.stringContaining('Filters > Minimum Amount in Reais') as string,
			});
			expect(inbox.reads).toBe(0);
		});
	});

	test.each(['a paid hash', [1], "={{ $('Nobody').item.json.hash }}"])(
		'the field has no effect on the published workflow: %j',
		async (value) => {
			const testTransaction = value === 'a paid hash' ? hash : value;
			await inbox.publish({ options: { testTransaction } as INodeParameters });
			await waited();
			expect(inbox.trigger.begun).toEqual([]);
			expect(inbox.reads).toBe(0);

			expect(await takesSale()).toBe(true);
		},
	);

	describe('the editor goes on listening if the transaction does not arrive', () => {
		test('because the address of n8n is out of reach', async () => {
			await listen(hash);
			inbox.trigger.stopListening();
			await waited();
			inbox.trigger.listen();

			expect(inbox.trigger.begun).toEqual([]);
			expect(inbox.trigger.logs.filter(({ level }) => level === 'warn')).toMatchObject([
				{ level: 'warn', text: expect.stringContaining('did not reach the trigger') as string },
			]);
			expect(await takesSale()).toBe(true);
		});

		test('because the service was down a moment later', async () => {
			await listen(hash);
			inbox.account.fault('read', { kind: 'status', status: 503 }, 'always');
			await waited(20_000);
			inbox.account.sandbox.clearFaults();

			expect(inbox.trigger.begun).toEqual([]);
			expect(await isListening()).toBe(true);
			expect(await takesSale()).toBe(true);
		});
	});
});
