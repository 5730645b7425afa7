import { setTimeout as pause } from 'node:timers/promises';
import { createRunExecutionData } from 'n8n-workflow';
import { NO_OP_TYPE, processedItems } from '../../helpers/engine';
import { chargesAt } from '../../helpers/charge';
import { aroundInserts } from '../../helpers/database';
import { useInbox } from '../../helpers/inbox';
import { sendAsPlatform } from '../../helpers/platform';
import { until } from '../../helpers/until';

const DELIVER = [{ name: 'Deliver', type: NO_OP_TYPE }];

describe('A webhook starts the workflow once', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	const posted = async (hash: string): Promise<number> =>
		(await inbox.trigger.post({ hash })).status;
	const retried = async (begun = createRunExecutionData()) => {
		const { status, data } = await inbox.trigger.retry(begun);
		return { status, items: Object.values(data)[0]?.items };
	};
	const afterRestart = async (hash: string): Promise<number> => {
		await inbox.trigger.restart();
		return await posted(hash);
	};

	test('a duplicate after a restart ends in success, without an item, even with Always Output Data', async () => {
		await inbox.publish(undefined, { settings: { alwaysOutputData: true }, next: DELIVER });
		const hash = await inbox.charge();
		await posted(hash);
		expect(await afterRestart(hash)).toBe(200);
		const [first, second] = await inbox.trigger.settled();

		expect(first?.data.Deliver?.items).toHaveLength(1);
		expect(second?.status).toBe('success');
		expect(second?.data.Deliver).toBeUndefined();
	});

	test('two processes that get the webhook at the same moment emit one item', async () => {
		await inbox.publish();
		inbox.trigger.addProcess();
		const hash = await inbox.charge();
		expect(await Promise.all([posted(hash), posted(hash)])).toEqual([200, 200]);
		await inbox.trigger.settled();

		expect(inbox.trigger.outcomes).toHaveLength(2);
		expect(inbox.trigger.emitted).toHaveLength(1);
	});

	test('another status starts the workflow again, even if hash and status are numbers', async () => {
		await inbox.publish({ triggerOn: ['any'], simplify: false });
		for (const payment_status of [1, 2, 2]) {
			const body = { hash: 123456, payment_status };
			inbox.account.sandbox.clearFaults();
			inbox.account.fault('read', { kind: 'status', status: 200, body }, 'always');
			await afterRestart('123456');
		}

		expect(inbox.items.map(({ payment_status: status }) => status)).toEqual([1, 2]);
	});

	test('the same status in capital letters does not start the workflow again', async () => {
		await inbox.publish({ triggerOn: ['paid'] });
		const hash = await inbox.charge();
		for (const payment_status of ['paid', 'PAID']) {
			inbox.account.sandbox.clearFaults();
			inbox.account.fault('read', { kind: 'patchBody', set: { payment_status } }, 'always');
			expect(await afterRestart(hash)).toBe(200);
		}

		expect(inbox.items).toHaveLength(1);
	});

	test.each(['in one process', 'around a restart', 'on two processes', 'at the same moment'])(
		'webhooks of a status that name different events, or an earlier status, start it once: %s',
		async (how) => {
			await inbox.publish({ triggerOn: ['paid'] });
			if (how === 'on two processes') inbox.trigger.addProcess();
			const hash = await inbox.charge();
			await inbox.account.sandbox.setStatus(hash, 'paid');
			const webhooks = [
				{ event: 'pix_paid', status: 'paid' },
				{ event: 'pix_generated', status: 'waiting_payment' },
				{ event: 'renewal', data: { hash, status: 'paid' } },
			];
			const sending = webhooks.map(async (webhook, nth) => {
				if (how !== 'at the same moment') await pause(nth * 10_000);
				if (how === 'around a restart' && nth > 0) await inbox.trigger.restart();
				await sendAsPlatform(inbox.trigger.url, { hash, ...webhook });
			});
			await Promise.all(sending);

			expect(inbox.items).toMatchObject([{ hash, payment_status: 'paid' }]);
		},
	);

	test('each Retry of a crashed execution emits its item, and the Retry of a duplicate emits none', async () => {
		await inbox.publish();
		const hash = await inbox.charge();
		await posted(hash);
		await afterRestart(hash);
		const [begun, duplicate] = inbox.trigger.begun;

		for (let nth = 0; nth < 2; nth++) {
			expect((await retried(begun)).items).toMatchObject([{ json: { hash } }]);
			expect(await retried(duplicate)).toEqual({ status: 'success', items: [] });
		}
	});

	test('an execution fails if the database refuses the entry, even under On Error: Continue, and its Retry emits the item', async () => {
		await inbox.publish(undefined, { settings: { onError: 'continueRegularOutput' } });
		const hash = await inbox.charge();
		processedItems.failingWrites = 100;
		expect(await posted(hash)).toBe(200);
		const [failed] = await inbox.trigger.settled();
		processedItems.failingWrites = 0;

		expect(failed?.error).toMatchObject({
			message: 'n8n could not record this webhook, so the workflow was not started',
			description: expect.stringContaining('SQLITE_FULL'),
		});
		expect(inbox.trigger.emitted).toEqual([]);
		expect((await retried(failed?.run?.data)).items).toHaveLength(1);
	});

	test('also if the Base URL is corrected and n8n restarted', async () => {
		const credentials = { ...inbox.account.credentials };
		await inbox.publish(undefined, { credentials });
		const hash = await inbox.charge();
		await posted(hash);
		Object.assign(credentials, inbox.account.credentialsElsewhere());

		expect(await afterRestart(hash)).toBe(200);
		expect(inbox.items).toHaveLength(1);
	});

	describe('the workflow starts without a Retry', () => {
		afterEach(async () => {
			const [begun] = await inbox.trigger.settled();
			expect(begun?.error).toBeUndefined();
			expect(inbox.items).toHaveLength(1);
			await afterRestart(String(inbox.items[0]?.hash));
			expect(inbox.items).toHaveLength(1);
		});

		test('if the database refuses the entry for a while', async () => {
			await inbox.publish();
			processedItems.failingWrites = Infinity;
			setTimeout(() => (processedItems.failingWrites = 0), 15_000);

			expect(await posted(await inbox.charge())).toBe(200);
		});

		test.each([1, 2])(
			'if the database stores the entry, but its answer is lost %i times',
			async (times) => {
				await inbox.publish();
				const entering = aroundInserts(async (enter, nth) => {
					const entered = await enter();
					if (nth <= times) throw new Error('Connection terminated');
					return entered;
				});

				expect(await posted(await inbox.charge())).toBe(200);
				await inbox.trigger.settled();
				entering.mockRestore();
			},
		);
	});

	describe('from a sender that does not wait for the answer', () => {
		const DELAY = { kind: 'delay', ms: 200 } as const;
		/** Sends a notice, and leaves during the read. */
		const postAndLeave = async (hash: string): Promise<void> => {
			inbox.account.fault('read', DELAY);
			const notice = { hash, status: 'waiting_payment' };
			await inbox.postAndLeave(notice, async () => await pause(60));
			await pause(1_000);
		};

		test('starts the workflow, and no further execution when it is repeated', async () => {
			await inbox.publish();
			const hash = await inbox.charge();
			for (let nth = 0; nth < 5; nth++) await postAndLeave(hash);

			expect(inbox.items).toMatchObject([{ hash }]);
			expect(inbox.trigger.outcomes).toHaveLength(1);
		});

		test('starts the workflow with its next try if n8n could not store the first', async () => {
			await inbox.publish();
			const hash = await inbox.charge();
			inbox.trigger.failingStores = 1;
			await postAndLeave(hash);
			expect(inbox.items).toEqual([]);
			await pause(30_000);

			expect(await posted(hash)).toBe(200);
			expect(inbox.items).toHaveLength(1);
		});
	});

	describe('a notice that was not answered 200 still starts the workflow once', () => {
		afterEach(async () => {
			await inbox.trigger.settled();
			expect(inbox.trigger.emitted).toHaveLength(1);
		});

		test('if n8n could not store it', async () => {
			await inbox.publish();
			const hash = await inbox.charge();
			inbox.trigger.failingStores = 1;

			expect([await posted(hash), await posted(hash)]).toEqual([500, 200]);
		});

		test('if it came again while n8n was storing it', async () => {
			await inbox.publish(undefined, { next: DELIVER });
			const notice = { hash: await inbox.charge(), status: 'waiting_payment' };
			const storing = inbox.holdStoring();
			const first = inbox.trigger.post(notice);
			await storing.begun();
			const second = await inbox.trigger.post(notice);
			storing.release();

			expect([(await first).status, second.status]).toEqual([200, 503]);
			expect((await inbox.trigger.post(notice)).json).toMatchObject({ started: false });
		});

		test('if its sender left while n8n stored it', async () => {
			await inbox.publish(undefined, { next: DELIVER });
			const notice = { hash: await inbox.charge(), status: 'waiting_payment' };
			const storing = inbox.holdStoring();
			await inbox.postAndLeave(notice, storing.begun);
			await pause(50);
			storing.release();
			expect((await inbox.trigger.post(notice)).status).toBe(503);
			await pause(10_000);

			expect((await inbox.trigger.post(notice)).status).toBe(200);
			expect(inbox.trigger.outcomes).toHaveLength(1);
		});
	});

	test('if n8n is storing eighty executions, further webhooks are answered 503, and nothing is read for them', async () => {
		await inbox.publish(undefined, { next: DELIVER });
		const [read = '', other = '', ...hashes] = await chargesAt(inbox.account.sandbox, 82);
		const storing = inbox.holdStoring();
		const answers = hashes.map(posted);
		await until('eighty are stored', () => inbox.trigger.storesBegun === 80);
		const { reads } = inbox;
		expect(await posted(other)).toBe(503);
		expect(inbox.reads).toBe(reads);
		storing.release();

		expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
		expect([await posted(read), await posted(other)]).toEqual([200, 200]);
	});
});
