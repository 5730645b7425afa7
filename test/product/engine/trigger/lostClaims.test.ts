import { createRunExecutionData } from 'n8n-workflow';
import { processedItems } from '../harness';
import { useInbox } from '../support/inbox';

const LOOKED_FOR_MS = 6_000;

const pause = async (ms: number): Promise<void> =>
	await new Promise((resolve) => setTimeout(resolve, ms));

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
			const record = processedItems.checkProcessedAndRecord.bind(processedItems);
			for (let lost = 1; lost <= 40; lost++) {
				let entries = 0;
				const recording = jest.spyOn(processedItems, 'checkProcessedAndRecord');
				recording.mockImplementation(async (...args) => {
					const entered = await record(...args);
					if (++entries === lost) throw new Error('Connection terminated');
					return entered;
				});
				const found = await tellBoth(() => 10);
				recording.mockRestore();
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
		const record = processedItems.checkProcessedAndRecord.bind(processedItems);
		const recording = jest.spyOn(processedItems, 'checkProcessedAndRecord');
		recording.mockImplementation(async (items, scope, ...more) => {
			if (scope === 'workflow') throw new Error('Originally saved with an incompatible setting');
			return await record(items, scope, ...more);
		});
		await inbox.publish();
		await inbox.trigger.post({ hash: await inbox.charge() });
		await inbox.trigger.settled();
		expect(inbox.trigger.executions).toHaveLength(1);
		await pause(600_000);
		const calls = recording.mock.calls.length;
		await pause(600_000);

		expect(recording.mock.calls).toHaveLength(calls);
	});

	test('starts although a stalled process has made both lose', async () => {
		await inbox.publish();
		inbox.trigger.addProcess();
		const hash = await inbox.charge();
		const record = processedItems.checkProcessedAndRecord.bind(processedItems);
		let rows = 0;
		// Both claim at the same moment, and each finds the row of the other when it looks.
		jest.spyOn(processedItems, 'checkProcessedAndRecord').mockImplementation(async (...args) => {
			const nth = rows++;
			const { new: entered, processed } = await record(...args);
			if (nth < 2) return { new: args[0], processed: [] };
			const [key = ''] = args[0];
			return nth < 4 ? { new: args[0].slice(1), processed: [key] } : { new: entered, processed };
		});
		await Promise.all([inbox.trigger.post({ hash }), inbox.trigger.post({ hash })]);
		await inbox.trigger.settled();

		expect(rows).toBeGreaterThan(4);
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
				const record = processedItems.checkProcessedAndRecord.bind(processedItems);
				let entries = 0;
				jest
					.spyOn(processedItems, 'checkProcessedAndRecord')
					.mockImplementation(async (...args) => {
						const entered = await record(...args);
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
		const record = processedItems.checkProcessedAndRecord.bind(processedItems);
		let isOverwritten = false;
		jest
			.spyOn(processedItems, 'checkProcessedAndRecord')
			.mockImplementation(async (items, ...more) => {
				if (items.length === 5 && !isOverwritten) processedItems.lostWrites = 1;
				isOverwritten ||= items.length === 5;
				return await record(items, ...more);
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
