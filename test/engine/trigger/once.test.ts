import { setTimeout as pause } from 'node:timers/promises';
import { createRunExecutionData } from 'n8n-workflow';
import { NO_OP_TYPE, processedItems } from '../../helpers/engine';
import { aroundInserts } from '../../helpers/database';
import { useInbox } from '../../helpers/inbox';
import { sendAsPlatform } from '../../helpers/platform';

const ANY = { triggerOn: ['any'] };
const DELIVER = [{ name: 'Deliver', type: NO_OP_TYPE }];

describe('A webhook starts the workflow once', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	const retried = async (begun = createRunExecutionData()) => {
		const { status, data } = await inbox.trigger.retry(begun);
		return { status, items: Object.values(data)[0]?.items };
	};
	const afterRestart = async (hash: string): Promise<number> => {
		await inbox.trigger.restart();
		return await inbox.post(hash);
	};

	test('a duplicate after a restart ends in success, without an item, even with Always Output Data', async () => {
		const settings = { settings: { alwaysOutputData: true }, next: DELIVER };
		const hash = await inbox.begin(ANY, 'paid', settings);
		await inbox.post(hash);
		expect(await afterRestart(hash)).toBe(200);
		const [first, second] = await inbox.trigger.settled();

		expect(first?.data.Deliver?.items).toHaveLength(1);
		expect(second?.status).toBe('success');
		expect(second?.data.Deliver).toBeUndefined();
	});

	test('at each trigger, and with the fields that it chooses', async () => {
		const hash = await inbox.charge();
		for (let nth = 0; nth < 2; nth++) {
			await inbox.publish({ ...ANY, options: { fields: ['utm_source'] } });
			await inbox.post(hash);
			expect(inbox.items).toEqual([{ hash, payment_status: 'waiting_payment', utm_source: null }]);
		}
	});

	test.each([
		['with each status, also if hash and status are numbers', [1, 2, 2], [1, 2]],
		['although the status is in capital letters later', ['paid', 'PAID'], ['paid']],
		['although the platform shows no status', [null, null], [null]],
		['although the status returns', ['paid', 'med_analysis', 'paid'], ['paid', 'med_analysis']],
	])('%s', async (_name, shown, started) => {
		await inbox.publish({ ...ANY, simplify: false });
		for (const payment_status of shown) {
			const body = { hash: 123456, payment_status };
			inbox.account.sandbox.clearFaults();
			inbox.account.fault('read', { kind: 'status', status: 200, body }, 'always');
			expect(await afterRestart('123456')).toBe(200);
			expect((await inbox.trigger.post({ hash: 123_456, status: 'odd' })).status).toBe(200);
		}

		expect([inbox.statuses, inbox.trigger.waiting]).toEqual([started, []]);
	});

	test.each([
		...['in one process', 'around a restart', 'on two processes', 'at the same moment'],
		...['at the same moment on two processes', 'around a corrected Base URL and a restart'],
	])('although webhooks name different events, or an earlier status: %s', async (how) => {
		const credentials = { ...inbox.account.credentials };
		const hash = await inbox.begin({ triggerOn: ['paid'] }, 'paid', { credentials });
		if (how.includes('two processes')) inbox.trigger.addProcess();
		const webhooks = [
			{ event: 'pix_paid', status: 'paid' },
			{ event: 'pix_generated', status: 'waiting_payment' },
			{ event: 'renewal', data: { hash, status: 'paid' } },
		];
		const sending = webhooks.map(async (webhook, nth) => {
			if (!how.includes('same moment')) await pause(nth * 10_000);
			if (how.includes('Base URL')) {
				Object.assign(credentials, inbox.account.credentialsElsewhere());
			}
			if (how.includes('restart') && nth > 0) await inbox.trigger.restart();
			await sendAsPlatform(inbox.trigger.url, { hash, ...webhook });
		});
		await Promise.all(sending);

		expect(inbox.items).toMatchObject([{ hash, payment_status: 'paid' }]);
	});

	test('each Retry of a crashed execution emits its item, and the Retry of a duplicate emits none', async () => {
		const hash = await inbox.begin(ANY);
		await inbox.post(hash);
		await afterRestart(hash);
		const [begun, duplicate] = inbox.trigger.begun;

		for (let nth = 0; nth < 2; nth++) {
			expect((await retried(begun)).items).toMatchObject([{ json: { hash } }]);
			expect(await retried(duplicate)).toEqual({ status: 'success', items: [] });
		}
	});

	test('an execution fails if the database refuses the entry, even under On Error: Continue, and its Retry emits the item', async () => {
		const settings = { onError: 'continueRegularOutput' } as const;
		const hash = await inbox.begin(ANY, 'paid', { settings });
		processedItems.failingWrites = 100;
		expect(await inbox.post(hash)).toBe(200);
		const [failed] = await inbox.trigger.settled();
		processedItems.failingWrites = 0;

		expect(failed?.error).toMatchObject({
			message: 'n8n could not record this webhook, so the workflow was not started',
			description: expect.stringContaining('SQLITE_FULL'),
		});
		expect(inbox.trigger.emitted).toEqual([]);
		expect((await retried(failed?.run?.data)).items).toHaveLength(1);
	});

	describe('without a Retry', () => {
		afterEach(async () => {
			const [begun] = await inbox.trigger.settled();
			expect(begun?.error).toBeUndefined();
			expect(inbox.items).toHaveLength(1);
			await afterRestart(String(inbox.items[0]?.hash));
			expect(inbox.items).toHaveLength(1);
		});

		test('if the database refuses the entry for a while', async () => {
			const hash = await inbox.begin(ANY);
			processedItems.failingWrites = Infinity;
			setTimeout(() => (processedItems.failingWrites = 0), 15_000);

			expect(await inbox.post(hash)).toBe(200);
		});

		test.each([1, 2])(
			'if the database stores the entry, but its answer is lost %i times',
			async (times) => {
				const hash = await inbox.begin(ANY);
				const entering = aroundInserts(async (enter, nth) => {
					const entered = await enter();
					if (nth <= times) throw new Error('Connection terminated');
					return entered;
				});

				expect(await inbox.post(hash)).toBe(200);
				await inbox.trigger.settled();
				entering.mockRestore();
			},
		);
	});

	describe('although its first try was not answered 200:', () => {
		let hash: string;
		const post = async (): Promise<number> => await inbox.post(hash, 'waiting_payment');
		const postAndLeave = async (until: () => Promise<unknown>): Promise<void> => {
			await inbox.postAndLeave({ hash, status: 'waiting_payment' }, until);
		};

		beforeEach(async () => {
			hash = await inbox.begin(ANY, 'waiting_payment', { next: DELIVER });
		});
		afterEach(async () => {
			expect(await post()).toBe(200);
			await inbox.trigger.settled();
			expect(inbox.trigger.outcomes).toHaveLength(1);
			expect(inbox.items).toMatchObject([{ hash }]);
		});

		test('its sender left during the read, five times', async () => {
			inbox.account.fault('read', { kind: 'delay', ms: 200 }, 'always');
			for (let nth = 0; nth < 5; nth++) {
				await postAndLeave(async () => await pause(60));
				await pause(1_000);
			}
			expect(inbox.trigger.outcomes).toHaveLength(1);
		});

		test('n8n could not store it', async () => {
			inbox.trigger.failingStores = 1;
			expect(await post()).toBe(500);
		});

		test('n8n could not store it, and its sender had left', async () => {
			inbox.trigger.failingStores = 1;
			inbox.account.fault('read', { kind: 'delay', ms: 200 });
			await postAndLeave(async () => await pause(60));
			await pause(30_000);
			expect(inbox.items).toEqual([]);
		});

		test.each(['stayed', 'left'])('n8n was still storing it, and its sender %s', async (what) => {
			const storing = inbox.holdStoring();
			const first =
				what === 'left'
					? postAndLeave(storing.begun).then(() => 200)
					: Promise.all([post(), storing.begun()]).then(([status]) => status);
			await storing.begun();
			await pause(50);
			if (what === 'left') storing.release();
			expect(await post()).toBe(503);
			storing.release();
			expect(await first).toBe(200);
			await pause(10_000);
		});
	});
});
