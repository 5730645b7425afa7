import { setTimeout as pause } from 'node:timers/promises';
import { createRunExecutionData } from 'n8n-workflow';
import { processedItems } from '../harness';
import { aroundEntries } from '../support/database';
import { useInbox } from '../support/inbox';

const LOOKED_FOR_MS = 6_000;

describe('A sale that two processes are told of', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });
	afterEach(() => {
		jest.restoreAllMocks();
		processedItems.clear();
	});

	test('starts although one stalls and the database is slow', async () => {
		await inbox.publish();
		inbox.trigger.addProcess();
		const hash = await inbox.charge();
		let calls = 0;
		// 1: the first stalls before it writes; 4 to 7: the second one looks and marks.
		const plan: Record<number, number> = { 1: 332, 4: 60, 5: 60, 6: 60, 7: 60 };
		processedItems.latency = () => plan[calls++] ?? 2;
		const first = inbox.trigger.post({ hash });
		while (calls < 2) await pause(1);
		const second = inbox.trigger.post({ hash });

		expect([(await first).status, (await second).status]).toEqual([200, 200]);
		await inbox.trigger.settled();
		expect(inbox.trigger.executions).toHaveLength(1);
	});

	describe('starts once, or fails so that it can be retried,', () => {
		/** Tells both, each read and write of n8n's table taking so long; gives what is wrong then. */
		const tellBoth = async (latency: () => number, apartMs = 0): Promise<string[]> => {
			await inbox.publish();
			inbox.trigger.addProcess();
			const hash = await inbox.charge();
			processedItems.latency = latency;
			const first = inbox.trigger.post({ hash });
			await pause(apartMs);
			await Promise.all([first, inbox.trigger.post({ hash })]);
			const runs = await inbox.trigger.settled();
			processedItems.clear();
			const started = inbox.trigger.executions.length;
			const isLost = started === 0 && runs.every(({ error }) => error === undefined);
			return started > 1 || isLost ? [`started ${started} times`] : [];
		};
		/** The same for each read or write in turn, at which something happens. */
		const sweep = async (happens: () => number): Promise<string[]> => {
			const wrong: string[] = [];
			for (let at = 0; at < 36; at++) {
				let calls = 0;
				const found = await tellBoth(() => (calls++ === at ? happens() : 10));
				wrong.push(...found.map((what) => `${what}: ${at}`));
			}
			return wrong;
		};

		test.each([1_500, 4_800])('wherever one of them stalls for %i ms', async (ms) => {
			expect(await sweep(() => ms)).toEqual([]);
		});

		test.each([10, 24])('wherever the database begins to fail, %i times', async (times) => {
			const failing = (): number => {
				processedItems.failingWrites = times;
				return 10;
			};
			expect(await sweep(failing)).toEqual([]);
		});

		test('whichever answer of the database is lost', async () => {
			const wrong: string[] = [];
			for (let lost = 1; lost <= 40; lost++) {
				let entries = 0;
				const entering = aroundEntries(async (enter) => {
					const entered = await enter();
					if (++entries === lost) throw new Error('Connection terminated');
					return entered;
				});
				const found = await tellBoth(() => 10);
				entering.mockRestore();
				wrong.push(...found.map((what) => `${what}: ${lost}`));
			}

			expect(wrong).toEqual([]);
		});

		test('however long the database refuses writes while the first looks at its marks', async () => {
			const wrong: string[] = [];
			for (let ms = 300; ms < 1_400; ms += 20) {
				let isOver = false;
				const refusing = (): number => {
					if (processedItems.marks >= 5 && !isOver) {
						isOver = true;
						processedItems.failingWrites = Infinity;
						void pause(ms).then(() => (processedItems.failingWrites = 0));
					}
					return 60;
				};
				const found = await tellBoth(refusing, 60);
				wrong.push(...found.map((what) => `${what}: ${ms}`));
			}

			expect(wrong).toEqual([]);
		});

		test('however long the database is away just after one has made its marks', async () => {
			const wrong: string[] = [];
			for (let ms = 600; ms <= 1_000; ms += 25) {
				let until: number | undefined;
				const away = (): number => {
					if (processedItems.marks >= 5) until ??= performance.now() + ms;
					if (performance.now() < (until ?? 0)) throw new Error('SQLITE_BUSY');
					return 50;
				};
				const found = await tellBoth(away);
				wrong.push(...found.map((what) => `${what}: ${ms}`));
			}

			expect(wrong).toEqual([]);
		});
	});

	test('costs no calls for long if the row of the workflow takes no entries', async () => {
		const entering = aroundEntries(async (enter, { row }) => {
			if (row === 'workflow') throw new Error('Originally saved with an incompatible setting');
			return await enter();
		});
		await inbox.publish();
		await inbox.trigger.post({ hash: await inbox.charge() });
		await inbox.trigger.settled();
		expect(inbox.trigger.executions).toHaveLength(1);
		await pause(600_000);
		const calls = entering.mock.calls.length;
		await pause(600_000);

		expect(entering.mock.calls).toHaveLength(calls);
	});

	test('starts although a stalled process has made both lose', async () => {
		await inbox.publish();
		inbox.trigger.addProcess();
		const hash = await inbox.charge();
		// Both claim at the same moment, and each finds the row of the other when it looks.
		const entering = aroundEntries(async (enter, { nth, items }) => {
			const entered = await enter();
			if (nth <= 2) return { new: items, processed: [] };
			return nth <= 4 ? { new: items.slice(1), processed: items.slice(0, 1) } : entered;
		});
		await Promise.all([inbox.trigger.post({ hash }), inbox.trigger.post({ hash })]);
		await inbox.trigger.settled();

		expect(entering.mock.calls.length).toBeGreaterThan(4);
		expect(inbox.trigger.executions).toHaveLength(1);
	});

	test('starts once although the database of one fails once', async () => {
		await inbox.publish();
		inbox.trigger.addProcess();
		jest.spyOn(Math, 'random').mockReturnValue(0.5);
		processedItems.latency = () => 2;
		const started: number[] = [];
		for (let offset = 770; offset < 830; offset += 2) {
			const before = inbox.trigger.executions.length;
			const hash = await inbox.charge();
			processedItems.failingWrites = 2;
			const first = inbox.trigger.post({ hash });
			await pause(offset);
			await Promise.all([first, inbox.trigger.post({ hash })]);
			await inbox.trigger.settled();
			started.push(inbox.trigger.executions.length - before);
		}

		expect(started.filter((executions) => executions !== 1)).toEqual([]);
	}, 30_000);

	test.each([1, 3])(
		'starts once, however often the database fails after entry %i',
		async (from) => {
			const wrong: string[] = [];
			for (let times = 1; times <= 30; times++) {
				await inbox.publish();
				const hash = await inbox.charge();
				let entries = 0;
				aroundEntries(async (enter) => {
					const entered = await enter();
					if (++entries === from) processedItems.failingWrites = times;
					return entered;
				});
				await inbox.trigger.post({ hash });
				await inbox.trigger.settled();
				jest.restoreAllMocks();
				// What was claimed may be taken back late.
				await pause(2 * LOOKED_FOR_MS);
				await inbox.trigger.restart();
				await inbox.trigger.post({ hash });
				await inbox.trigger.settled();
				const [, duplicate = createRunExecutionData()] = inbox.trigger.begun;
				const { data } = await inbox.trigger.retry(duplicate);
				const again = Object.values(data)[0]?.items?.length;
				const started = inbox.trigger.executions.length;
				if (started !== 1 || again !== 0) wrong.push(`${started}, ${again} after ${times}`);
			}

			expect(wrong).toEqual([]);
		},
	);

	test('is not started by the Retry of a crashed duplicate, although its owner was overwritten at once', async () => {
		await inbox.publish();
		const hash = await inbox.charge();
		let isOverwritten = false;
		aroundEntries(async (enter, { items }) => {
			if (items.length === 5 && !isOverwritten) processedItems.lostWrites = 1;
			isOverwritten ||= items.length === 5;
			return await enter();
		});
		await inbox.trigger.post({ hash });
		await inbox.trigger.settled();
		expect(isOverwritten).toBe(true);
		await pause(2 * LOOKED_FOR_MS);
		await inbox.trigger.restart();
		processedItems.failAfter = 0;
		await inbox.trigger.post({ hash });
		await inbox.trigger.settled();
		processedItems.clear({ keepRows: true });
		const [, duplicate = createRunExecutionData()] = inbox.trigger.begun;
		const { data } = await inbox.trigger.retry(duplicate);

		expect(inbox.trigger.executions).toHaveLength(1);
		expect(Object.values(data)[0]?.items).toEqual([]);
	});
});
