import { setTimeout as pause } from 'node:timers/promises';
import { createRunExecutionData } from 'n8n-workflow';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { handedOver } from '../../../nodes/DigitalSales/trigger/receive';
import { NO_OP_TYPE, processedItems } from '../../helpers/engine';
import { aroundInserts } from '../../helpers/database';
import { useInbox } from '../../helpers/inbox';
import { sendAsPlatform } from '../../helpers/platform';

const PAYMENT = { event: 'pix_paid' };
const CHARGE = { event: 'pix_generated', status: 'waiting_payment' };
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

	describe('a notice of another kind of event', () => {
		/** Posts notices of a new, paid sale; returns the kinds of event that were emitted. */
		const eventsOf = async (...notices: object[]): Promise<unknown[]> => {
			const hash = await inbox.charge();
			await inbox.account.sandbox.setStatus(hash, 'paid');
			for (const notice of notices) {
				expect((await inbox.trigger.post({ hash, status: 'paid', ...notice })).status).toBe(200);
			}
			return inbox.items.map(({ webhook_event: event }) => event);
		};

		test('starts the workflow once more, however many kinds follow', async () => {
			await inbox.publish();
			const usual = [{ event: 'transaction' }, {}, { event: 'Transaction' }];

			expect(await eventsOf(...usual, { event: 'renewal' }, { event: 'made up' })).toEqual([
				undefined,
				'renewal',
			]);
			const [{ hash } = {}] = inbox.items;
			await inbox.trigger.restart();
			for (const event of [undefined, 'made up']) {
				await inbox.trigger.post({ event, data: { hash, status: 'paid' } });
			}
			expect(inbox.items).toHaveLength(2);
			await eventsOf({ event: 'renewal' });
			expect(inbox.items.at(-1)).not.toMatchObject({ hash });
		});

		test('counts as a webhook of the sale itself if it claims an earlier status', async () => {
			await inbox.publish({ triggerOn: ['paid'] });
			const late = { status: 'waiting_payment', event: 'reminder' };

			// Null: the webhook's event does not fit the status that was read.
			expect(await eventsOf(late, { event: 'transaction' })).toEqual([null]);
		});

		describe.each<[string, object[]]>([
			['the payment comes first', [PAYMENT, CHARGE]],
			['the late webhook of the charge comes first', [CHARGE, PAYMENT]],
		])('starts a sale once if every status has its own event, and %s', (_name, notices) => {
			test.each(['in one process', 'around a restart', 'on two processes', 'at the same moment'])(
				'%s',
				async (how) => {
					await inbox.publish({ triggerOn: ['paid'] });
					if (how === 'on two processes') inbox.trigger.addProcess();
					const hash = await inbox.charge();
					await inbox.account.sandbox.setStatus(hash, 'paid');
					const sending = notices.map(async (notice, nth) => {
						if (how !== 'at the same moment') await pause(nth * 10_000);
						if (how === 'around a restart' && nth > 0) await inbox.trigger.restart();
						await sendAsPlatform(inbox.trigger.url, { hash, status: 'paid', ...notice });
					});
					await Promise.all(sending);

					expect(inbox.items).toMatchObject([{ hash, payment_status: 'paid' }]);
				},
			);
		});
	});

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

	test('answers in time if the service begins an answer and does not end it', async () => {
		await inbox.publish();
		const hash = await inbox.charge();
		// One piece after five and a half seconds, the next after eleven.
		inbox.account.fault('read', { kind: 'slowBody', ms: 110_000 }, 'always');
		const started = clock.elapsed();

		expect(await posted(hash)).toBe(503);
		expect(clock.elapsed() - started).toBeLessThan(10_000);
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

		test('starts the workflow', async () => {
			await inbox.publish();
			const hash = await inbox.charge();
			await postAndLeave(hash);

			expect(inbox.items).toMatchObject([{ hash }]);
		});

		test('starts no further execution when it is repeated', async () => {
			await inbox.publish();
			const hash = await inbox.charge();
			for (let nth = 0; nth < 25; nth++) await postAndLeave(hash);

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

	/** Makes n8n busy storing this many earlier notices. */
	const store = (count: number): void => {
		for (let nth = 0; nth < count; nth++) {
			handedOver.set(`earlier ${nth}`, { isStored: false, isAhead: false });
		}
	};

	test('an event with another status than was read counts once among the eighty being stored', async () => {
		await inbox.publish({ triggerOn: ['paid'] });
		const hashes = [await inbox.charge(), await inbox.charge()];
		for (const hash of hashes) await inbox.account.sandbox.setStatus(hash, 'paid');
		const [first = '', second = ''] = hashes;
		const storing = inbox.holdStoring();
		const late = inbox.trigger.post({ hash: first, status: 'waiting_payment', event: 'reminder' });
		await storing.begun();
		store(78);
		let isAnswered = false;
		const answer = posted(second).finally(() => (isAnswered = true));
		while (!isAnswered && inbox.trigger.storesBegun < 2) await pause(5);
		storing.release();

		expect([(await late).status, await answer]).toEqual([200, 200]);
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

		test('if n8n was storing eighty earlier notices, so that nothing was read', async () => {
			await inbox.publish();
			const hash = await inbox.charge();
			store(80);
			expect(await posted(hash)).toBe(503);
			expect(inbox.reads).toBe(0);
			handedOver.set('earlier 0', { isStored: true, isAhead: false });

			expect(await posted(hash)).toBe(200);
		});

		test('if eighty other notices arrived while it was read', async () => {
			await inbox.publish();
			const hash = await inbox.charge();
			inbox.account.fault('read', { kind: 'delay', ms: 200 });
			const answer = posted(hash);
			await pause(100);
			store(80);
			expect(await answer).toBe(503);
			handedOver.clear();

			expect(await posted(hash)).toBe(200);
		});
	});
});
