import { setTimeout as pause } from 'node:timers/promises';
import * as fc from 'fast-check';
import { sequences } from '../../helpers/extent';
import { cpf } from '../../helpers/charge';
import { NodeProcess, processedItems } from '../../helpers/engine';
import { latencyOf } from '../../helpers/database';
import { seededRandom } from '../../sandbox/catalog';
import { type Ask, decide, errorOf, MAYBE, retryable, useShop, VOID } from '../../helpers/charging';

const STEPS = Number(process.env.MODEL_STEPS ?? 10);
const RUNS = sequences(1);

const worker = fc.nat(2);
const order = fc.constantFrom('order-1', 'order-1', 'order-1', 'order-2');
const customer = fc.constantFrom(1, 1, 1, 2);
const step = fc.oneof(
	{
		weight: 6,
		arbitrary: fc.record({
			do: fc.constant('ask' as const),
			worker,
			order,
			customer,
			isRetry: fc.constantFrom(false, false, true),
			// Whether the next step waits for its end, or how long it waits.
			waitMs: fc.constantFrom(Infinity, Infinity, 0, 3, 210, 5_000),
		}),
	},
	{ weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const), worker }) },
	{ weight: 2, arbitrary: fc.constant({ do: 'expire' as const }) },
	{ weight: 4, arbitrary: fc.record({ do: fc.constant('decide' as const), worker }) },
	{
		weight: 4,
		arbitrary: fc.record({
			do: fc.constant('fault' as const),
			kind: fc.constantFrom(
				'limit',
				'limit',
				'loseAnswer',
				'loseRequest',
				'refuse',
				'slow' as const,
			),
		}),
	},
);

describe('Any sequence of orders on three workers, some at once, with rate limits and decisions', () => {
	const shop = useShop();
	afterEach(() => processedItems.clear());

	test('leaves no order with two charges that can be paid', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(step, { minLength: 3, maxLength: STEPS }),
				fc.integer(),
				async (steps, seed) => {
					const { sandbox } = shop.account;
					shop.account.reset();
					shop.begin();
					const random = seededRandom(seed);
					processedItems.latency = () => latencyOf(random);
					const workers = [0, 1, 2].map(() => NodeProcess.fresh());
					const running = new Set<Promise<void>>();
					let refused: Ask | undefined;
					let last: Ask['retryOf'];
					const live = (order: unknown): string[] =>
						sandbox.transactions
							.filter(({ tracking }) => tracking.src === order)
							.filter(({ payment_status: status }) => !VOID.includes(status))
							.map(({ hash }) => hash);
					const ask = async (wish: Ask): Promise<void> => {
						const outcome = await shop.ask(wish);
						const { order, more } = wish;
						const isInDoubt = errorOf(outcome).includes(`${MAYBE} for order "${order}"`);
						if (isInDoubt) refused = { order, more, ...decide(String(order)) };
						last = retryable(outcome);
					};
					const judge = (): void => {
						for (const order of ['order-1', 'order-2']) {
							expect(live(order).length).toBeLessThanOrEqual(1);
						}
					};
					for (const one of steps) {
						if (one.do === 'ask') {
							const run = ask({
								order: one.order,
								more: {
									customerDocument: cpf(111_444_770 + one.customer),
									additionalFields: { tracking: { src: one.order } },
								},
								process: workers[one.worker],
								retryOf: one.isRetry ? last : undefined,
							});
							running.add(run);
							void run.finally(() => running.delete(run));
							await (one.waitMs === Infinity ? run : pause(one.waitMs));
						} else if (one.do === 'restart') {
							// A process ends in order: its executions end first.
							await Promise.all(running);
							workers[one.worker] = NodeProcess.fresh();
						} else if (one.do === 'expire') {
							const [hash] = live('order-1');
							if (hash) await sandbox.setStatus(hash, 'expired');
						} else if (one.do === 'decide') {
							await Promise.all(running);
							// A person who looks finds the charge.
							if (!refused || live(refused.order).length > 0) continue;
							sandbox.clearFaults();
							await ask({ ...refused, process: workers[one.worker] });
						} else shop.fault(one.kind);
						judge();
					}
					await Promise.all(running);
					judge();
				},
			),
			{ numRuns: RUNS },
		);
	}, 120_000);
});
