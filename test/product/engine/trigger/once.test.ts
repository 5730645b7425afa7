import { setTimeout as pause } from 'node:timers/promises';
import { createRunExecutionData } from 'n8n-workflow';
import { NO_OP_TYPE, processedItems } from '../harness';
import { latencyOf, randomOf } from '../support/database';
import { useInbox } from '../support/inbox';

/** A node behind the trigger. */
const DELIVER = [{ name: 'Deliver', type: NO_OP_TYPE }];

describe('A notice starts the workflow once', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	const posted = async (hash: string): Promise<number> =>
		(await inbox.trigger.post({ hash })).status;
	/** What n8n's Retry of an execution that began comes to. */
	const retried = async (begun = createRunExecutionData()) => {
		const { status, data } = await inbox.trigger.retry(begun);
		return { status, items: Object.values(data)[0]?.items };
	};
	/** A notice again when the process remembers nothing of the first one. */
	const afterRestart = async (hash: string): Promise<number> => {
		await inbox.trigger.restart();
		return await posted(hash);
	};

	test.each([false, true])(
		'a duplicate after a restart ends in success, without an item: Always Output Data %j',
		async (alwaysOutputData) => {
			await inbox.publish(undefined, { settings: { alwaysOutputData }, next: DELIVER });
			const hash = await inbox.charge();
			await posted(hash);
			expect(await afterRestart(hash)).toBe(200);
			const [first, second] = await inbox.trigger.settled();

			expect(first?.data.Deliver?.items).toHaveLength(1);
			expect(second?.status).toBe('success');
			expect(second?.data.Deliver).toBeUndefined();
		},
	);

	test('nothing of it is stored in the static data', async () => {
		await inbox.publish();
		await posted(await inbox.charge());

		expect(inbox.trigger.executions).toHaveLength(1);
		expect(inbox.trigger.staticData).toEqual({});
	});

	test('two processes that are told at the same moment emit one item', async () => {
		await inbox.publish();
		inbox.trigger.addProcess();
		for (let nth = 1; nth <= 10; nth++) {
			const random = randomOf(nth);
			processedItems.latency = () => latencyOf(random);
			const hash = await inbox.charge();
			expect(await Promise.all([posted(hash), posted(hash)])).toEqual([200, 200]);
			await inbox.trigger.settled();

			expect(inbox.trigger.executions).toHaveLength(nth);
		}
		processedItems.latency = () => 0;
	});

	test('another status of the same transaction is emitted', async () => {
		await inbox.publish();
		const hash = await inbox.charge();
		await posted(hash);
		await inbox.account.sandbox.setStatus(hash, 'paid');
		await afterRestart(hash);

		expect(inbox.trigger.executions.map(([item]) => item?.json.payment_status)).toEqual([
			'waiting_payment',
			'paid',
		]);
	});

	test('also one that is told by a number, as the service sends it', async () => {
		await inbox.publish({ triggerOn: ['any'], simplify: false });
		const hash = await inbox.charge();
		for (const payment_status of [1, 2]) {
			const fault = { kind: 'patchBody', set: { payment_status } } as const;
			inbox.account.fault('read', { ...fault });
			await afterRestart(hash);
		}

		expect(inbox.items.map(({ payment_status: status }) => status)).toEqual([1, 2]);
	});

	describe('a notice of another kind of event', () => {
		const paid = async (): Promise<string> => {
			const hash = await inbox.charge();
			await inbox.account.sandbox.setStatus(hash, 'paid');
			return hash;
		};
		/** What each execution put out of the kind of event. */
		const events = (): unknown[] => inbox.items.map(({ webhook_event: event }) => event);

		test('is no duplicate, but starts the workflow only once', async () => {
			await inbox.publish();
			const hash = await paid();
			for (const event of ['transaction', undefined, 'Transaction']) {
				expect((await inbox.trigger.post({ hash, status: 'paid', event })).status).toBe(200);
			}
			for (let nth = 0; nth < 2; nth++) {
				const renewal = { event: 'renewal', data: { hash, status: 'paid' } };
				expect((await inbox.trigger.post(renewal)).status).toBe(200);
				await inbox.trigger.restart();
			}
			await inbox.trigger.post({ hash, status: 'paid' });

			expect(events()).toEqual([undefined, 'renewal']);
		});

		test('whatever it is called: nobody can start the workflow again and again', async () => {
			await inbox.publish();
			const hash = await paid();
			for (let nth = 0; nth < 20; nth++) {
				await inbox.trigger.post({ hash, status: 'paid', event: `made up ${nth}` });
			}

			expect(events()).toEqual(['made up 0']);
		});

		test('is one of the sale itself if it came late: its status is no longer the present one', async () => {
			await inbox.publish({ triggerOn: ['paid'] });
			const hash = await paid();
			await inbox.trigger.post({ hash, status: 'waiting_payment', event: 'reminder' });
			await inbox.trigger.post({ hash, status: 'paid', event: 'transaction' });

			expect(events()).toEqual([undefined]);
		});
	});

	describe('the Retry of an execution that crashed', () => {
		test('emits the item, even after several crashes', async () => {
			await inbox.publish();
			const hash = await inbox.charge();
			await posted(hash);
			const [begun] = inbox.trigger.begun;
			await inbox.trigger.restart();
			for (let nth = 0; nth < 2; nth++) {
				expect((await retried(begun)).items).toMatchObject([{ json: { hash } }]);
			}
		});

		test('emits none if it was a duplicate of another one', async () => {
			await inbox.publish();
			const hash = await inbox.charge();
			await posted(hash);
			await afterRestart(hash);
			const [, duplicate] = inbox.trigger.begun;
			for (let nth = 0; nth < 2; nth++) {
				expect(await retried(duplicate)).toEqual({ status: 'success', items: [] });
			}
		});

		test('emits it if the crash came before anything was entered', async () => {
			await inbox.publish();
			const hash = await inbox.charge();
			await posted(hash);
			processedItems.clear();
			const [begun] = inbox.trigger.begun;

			expect((await retried(begun)).items).toHaveLength(1);
			await afterRestart(hash);
			expect(inbox.trigger.executions).toHaveLength(2);
		});
	});

	test('a database that refuses the entry fails the execution; its Retry emits the item', async () => {
		await inbox.publish();
		const hash = await inbox.charge();
		processedItems.failingWrites = 100;
		expect(await posted(hash)).toBe(200);
		const [failed] = await inbox.trigger.settled();
		processedItems.failingWrites = 0;

		expect(failed?.error).toMatchObject({
			message: 'n8n could not record this webhook, so the workflow was not started',
			description: expect.stringContaining('SQLITE_FULL'),
		});
		expect((await retried(failed?.run?.data)).items).toHaveLength(1);
	});

	test('a database that takes no entry for a while delays the sale, and nobody has to press Retry', async () => {
		await inbox.publish();
		const hash = await inbox.charge();
		processedItems.failingWrites = Infinity;
		setTimeout(() => (processedItems.failingWrites = 0), 15_000);
		expect(await posted(hash)).toBe(200);

		const [begun] = await inbox.trigger.settled();
		expect(begun?.error).toBeUndefined();
		expect(inbox.trigger.executions).toHaveLength(1);
		await afterRestart(hash);
		expect(inbox.trigger.executions).toHaveLength(1);
	});

	describe('a credential that cannot be read', () => {
		/** Publishes a trigger whose credential is missing so many times, once a sale has begun. */
		const begin = async (missing: number): Promise<string> => {
			const real = inbox.account.credentials.digitalSalesApi;
			const credentials = { ...inbox.account.credentials };
			await inbox.publish(undefined, {
				credentials,
				settings: { onError: 'continueRegularOutput' },
			});
			const hash = await inbox.charge();
			const storing = inbox.holdStoring();
			const answer = posted(hash);
			await storing.begun();
			// It is remembered for a few seconds.
			await pause(6_000);
			let left = missing;
			Object.defineProperty(credentials, 'digitalSalesApi', {
				get: () => (left-- > 0 ? undefined : real),
			});
			storing.release();
			expect(await answer).toBe(200);
			return hash;
		};

		test('for a while delays the sale', async () => {
			const hash = await begin(2);

			const [begun] = await inbox.trigger.settled();
			expect(begun?.error).toBeUndefined();
			expect(inbox.trigger.executions).toHaveLength(1);
			await afterRestart(hash);
			expect(inbox.trigger.executions).toHaveLength(1);
		});

		test('at all fails the execution, which hands nothing on', async () => {
			await begin(Infinity);

			const [begun] = await inbox.trigger.settled();
			expect(begun?.error?.message).toMatch('n8n could not record this webhook');
			expect(inbox.trigger.executions).toHaveLength(0);
		});
	});

	test('a notice that n8n could not store is not swallowed when it comes again', async () => {
		await inbox.publish();
		const hash = await inbox.charge();
		inbox.trigger.failingStores = 1;

		expect([await posted(hash), await posted(hash)]).toEqual([500, 200]);
		expect(inbox.trigger.executions).toHaveLength(1);
	});

	test('while n8n stores it, the same notice has to come again; afterwards it is known', async () => {
		await inbox.publish(undefined, { next: DELIVER });
		const hash = await inbox.charge();
		const storing = inbox.holdStoring();
		const first = inbox.trigger.post({ hash, status: 'waiting_payment' });
		await storing.begun();
		const second = await inbox.trigger.post({ hash, status: 'waiting_payment' });
		storing.release();
		const answers = [(await first).status, second.status];
		const third = await inbox.trigger.post({ hash, status: 'waiting_payment' });

		expect(answers).toEqual([200, 503]);
		expect(third.json).toMatchObject({ started: false });
		expect(inbox.trigger.begun).toHaveLength(1);
	});

	test('a sender that leaves before the answer may come again', async () => {
		await inbox.publish(undefined, { next: DELIVER });
		const hash = await inbox.charge();
		const storing = inbox.holdStoring();
		await inbox.postAndLeave({ hash }, storing.begun);
		await pause(50);
		storing.release();
		await pause(50);

		expect(await posted(hash)).toBe(200);
		await inbox.trigger.settled();
		expect(inbox.trigger.executions).toHaveLength(1);
	});
});
