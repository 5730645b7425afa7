import { processedItems } from '../harness';
import { aroundEntries } from '../support/database';
import { useInbox } from '../support/inbox';

describe('A sale that two processes are told of', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });
	afterEach(() => {
		jest.restoreAllMocks();
		processedItems.clear();
	});

	describe('starts once, or fails so that it can be retried,', () => {
		/** Tells both, each read and write of n8n's table taking so long; gives what is wrong then. */
		const tellBoth = async (latency: () => number): Promise<string[]> => {
			await inbox.publish();
			inbox.trigger.addProcess();
			const hash = await inbox.charge();
			processedItems.latency = latency;
			await Promise.all([inbox.trigger.post({ hash }), inbox.trigger.post({ hash })]);
			const runs = await inbox.trigger.settled();
			processedItems.clear();
			const started = inbox.trigger.executions.length;
			const isLost = started === 0 && runs.every(({ error }) => error === undefined);
			return started > 1 || isLost ? [`started ${started} times`] : [];
		};
		/** The same for each read or write in turn, at which something happens. */
		const sweep = async (happens: () => number): Promise<string[]> => {
			const wrong: string[] = [];
			for (let at = 0; at < 12; at++) {
				let calls = 0;
				const found = await tellBoth(() => (calls++ === at ? happens() : 10));
				wrong.push(...found.map((what) => `${what}: ${at}`));
			}
			return wrong;
		};

		test.each([1_500, 4_800])('wherever one of them stalls for %i ms', async (ms) => {
			expect(await sweep(() => ms)).toEqual([]);
		});

		test.each([1, 3, 10])('wherever the database begins to fail, %i times', async (times) => {
			const failing = (): number => {
				processedItems.failingWrites = times;
				return 10;
			};
			expect(await sweep(failing)).toEqual([]);
		});

		test('whichever answer of the database is lost', async () => {
			const wrong: string[] = [];
			for (let lost = 1; lost <= 8; lost++) {
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
	});
});
