import { setTimeout as pause } from 'node:timers/promises';
import * as fc from 'fast-check';
import type { INodeParameters } from 'n8n-workflow';
import { PAUSE_MS } from '../../../../nodes/DigitalSales/once/ledger';
import { cpf } from '../../../support/charge';
import {
	crashedData,
	NodeProcess,
	processedItems,
	type NodeOutcome,
	type NodeRunOptions,
} from '../harness';
import { aroundEntries, latencyOf, randomOf, stallingLatencyOf } from '../support/database';
import { codeIn, customers, errorOf, OWN_CUSTOMER, retryable, useShop } from '../support/charging';

const STALL_RUNS = Number(process.env.STALL_RUNS ?? 20);

/** So long after its outcome a process looks whether what it has entered is still there. */
const LOOKED_FOR_MS = 6_000;

describe('Several processes that ask for the same charge at the same moment', () => {
	const shop = useShop();
	const processes = [NodeProcess.fresh(), NodeProcess.fresh(), NodeProcess.fresh()];
	const restarted = NodeProcess.fresh();
	afterEach(() => processedItems.clear());

	const begin = async (
		process: NodeProcess | undefined,
		order: string,
		lateMs: number,
		more = {},
	): Promise<NodeOutcome> => {
		await pause(lateMs);
		return await shop.run(shop.parameters(order, more), { process });
	};
	const judge = (outcomes: NodeOutcome[]): void => {
		for (const outcome of outcomes) {
			if (outcome.status === 'success') continue;
			expect(errorOf(outcome)).toMatch(/may already have been charged|in time/);
		}
	};

	test('one charges, whatever the database takes, and none is charged twice', async () => {
		let charged = 0;
		await fc.assert(
			fc.asyncProperty(
				fc.integer(),
				fc.array(fc.nat(12), { minLength: 2, maxLength: 3 }),
				fc.boolean(),
				async (seed, starts, isBusy) => {
					shop.account.reset();
					shop.begin();
					processedItems.clear();
					const random = randomOf(seed);
					processedItems.latency = () => latencyOf(random);
					const runs = starts.map(async (at, nth) => await begin(processes[nth], 'order-1', at));
					const others = isBusy
						? [1, 2, 3].map(
								async (n) =>
									await begin(processes[n % 3], `other ${n}`, n * 30, { customerDocument: cpf(n) }),
							)
						: [];
					const outcomes = await Promise.all(runs);
					judge(outcomes);
					const bystanders = await Promise.all(others);
					expect(bystanders.filter(({ status }) => status === 'success')).toHaveLength(
						others.length,
					);
					expect(shop.charges - others.length).toBeLessThanOrEqual(1);
					charged += shop.charges - others.length;
				},
			),
			{ numRuns: 30 },
		);
		// Hardly ever does a third process's row make all of them lose.
		expect(charged).toBeGreaterThan(25);
	});

	test.each([0, 1, 2, 3, 4, 5, 6, 7])(
		'one that stalls for two seconds at its read or write %i has not won by that',
		async (stalled) => {
			const [slow, fast] = processes;
			let calls = 0;
			let isSlow = true;
			processedItems.latency = () => (isSlow && calls++ === stalled ? 2_000 : 4);
			const stalling = begin(slow, 'order-1', 0);
			while (
				calls <= stalled &&
				(await Promise.race([stalling.then(() => 'over'), pause(1)])) === undefined
			);
			isSlow = false;
			judge([await begin(fast, 'order-1', 1), await begin(processes[2], 'order-1', 1)]);
			judge([await stalling]);

			expect(shop.charges).toBe(1);
		},
	);

	describe('one that stalls writes what it read three seconds before', () => {
		const [slow, fast, third] = processes;
		const STALL_MS = 3_000;

		/** Charges something else, and returns once it has read and not yet written. */
		const stall = async (): Promise<{ over: Promise<unknown> }> => {
			let calls = 0;
			processedItems.latency = () => (calls++ === 1 ? STALL_MS : 2);
			const over = begin(slow, 'other', 0, { customerDocument: cpf(9) });
			while (calls < 2) await pause(1);
			return { over };
		};

		test('an order that was charged meanwhile is known afterwards', async () => {
			const { over } = await stall();
			expect((await begin(fast, 'order-1', 0)).status).toBe('success');
			await over;
			await pause(LOOKED_FOR_MS);
			judge([await begin(third, 'order-1', 0)]);

			expect(shop.charges).toBe(2);
		}, 15_000);

		test('an order that was charged meanwhile is known at once, even if its marks were overwritten', async () => {
			aroundEntries(async (enter, { row }) => {
				if (row === 'workflow') {
					processedItems.lostWrites = 1;
					jest.restoreAllMocks();
				}
				return await enter();
			});
			const { over } = await stall();
			expect((await begin(fast, 'order-1', 0)).status).toBe('success');
			await over;
			judge([await begin(third, 'order-1', 0)]);

			expect(shop.charges).toBe(2);
		}, 15_000);

		test('a code that was used meanwhile is used up', async () => {
			shop.fault('drop');
			await begin(fast, 'order-1', 0);
			const repeatCode = codeIn(await begin(fast, 'order-1', 0));
			const { over } = await stall();
			const options = { options: { repeatCode } };
			expect((await begin(fast, 'order-1', 0, options)).status).toBe('success');
			await over;
			await pause(LOOKED_FOR_MS);
			judge([await begin(third, 'order-1', 0, options)]);

			expect(shop.charges).toBe(2);
		}, 15_000);

		test('what was refused or made meanwhile can be asked for again', async () => {
			shop.account.fault('charge', { kind: 'delay', ms: 500 });
			shop.fault('refuse');
			const refused = begin(fast, 'order-1', 0);
			while (shop.posts < 1) await pause(1);
			const { over } = await stall();
			expect((await refused).status).toBe('error');
			await over;
			await pause(LOOKED_FOR_MS);

			expect(errorOf(await begin(third, 'order-1', 0)).trim()).toBe('');
		}, 15_000);
	});

	test('a refused order can be charged again soon, whatever others write at the same moment', async () => {
		const random = randomOf(1);
		processedItems.latency = () => latencyOf(random);
		for (let round = 0; round < 10; round++) {
			const orders = [0, 1, 2, 3, 4, 5].map((nth) => `order ${round}.${nth}`);
			const ask = async (order: string, nth: number) =>
				await begin(processes[nth % 3], order, nth, {
					customerDocument: cpf(10 * round + nth + 1),
				});
			for (const _order of orders) shop.fault('refuse');
			expect((await Promise.all(orders.map(ask))).map(errorOf).join()).not.toContain('may already');
			await pause(2_000);
			const again = await Promise.all(orders.map(ask));
			expect(again.map(errorOf).join('').trim()).toBe('');
		}
	}, 30_000);

	test('a Remove Duplicates that keeps the highest value of the workflow stops no charge', async () => {
		const context = { workflow: { id: shop.workflowId }, node: undefined };
		const options = { mode: 'latestIncrementalKey' as const };
		await processedItems.checkProcessedAndRecord([7], 'workflow', context as never, options);

		expect(errorOf(await begin(processes[0], 'order-1', 0)).trim()).toBe('');
	});

	test(
		'while one at a time stalls for up to two seconds: one charges, and none is charged twice',
		async () => {
			let unsold = 0;
			await fc.assert(
				fc.asyncProperty(
					fc.integer(),
					fc.array(fc.nat(1_500), { minLength: 2, maxLength: 3 }),
					fc.array(fc.nat(1_500), { minLength: 3, maxLength: 6 }),
					async (seed, starts, otherStarts) => {
						shop.account.reset();
						shop.begin();
						processedItems.clear();
						const random = randomOf(seed);
						processedItems.latency = stallingLatencyOf(random);
						const runs = starts.map(async (at, nth) => await begin(processes[nth], 'order-1', at));
						const others = otherStarts.map(
							async (at, n) =>
								await begin(processes[n % 3], `other ${n}`, at, { customerDocument: cpf(n + 1) }),
						);
						const outcomes = await Promise.all(runs);
						judge(outcomes);
						const bystanders = await Promise.all(others);
						expect(bystanders.map(errorOf).join('').trim()).toBe('');
						expect(shop.charges - others.length).toBeLessThanOrEqual(1);
						unsold += 1 + others.length - shop.charges;

						await pause(LOOKED_FOR_MS);
						await begin(restarted, 'order-1', 0);
						for (const n of otherStarts.keys()) {
							await begin(restarted, `other ${n}`, 0, { customerDocument: cpf(n + 1) });
						}
						expect(shop.charges).toBeLessThanOrEqual(1 + others.length);
					},
				),
				{ numRuns: STALL_RUNS },
			);
			// Hardly ever do two stalls make all of them lose.
			expect(unsold).toBeLessThanOrEqual(Math.ceil(STALL_RUNS / 20));
		},
		30_000 + 1_000 * STALL_RUNS,
	);

	test('two Retries of the same execution charge once', async () => {
		shop.fault('lose');
		const failed = await shop.run(shop.parameters());
		const retryOf = crashedData(failed.begun, [
			{ name: 'Start', finished: true },
			{ name: 'Digital Sales', finished: false },
		]);
		for (let nth = 0; nth < 10; nth++) {
			shop.account.reset();
			shop.begin();
			processedItems.clear();
			const random = randomOf(nth);
			processedItems.latency = () => latencyOf(random);
			await Promise.all(
				[0, 1].map(async (one) => {
					await pause(random() * 4);
					return await shop.run(shop.parameters(), { retryOf, process: processes[one] });
				}),
			);
			expect(shop.charges).toBe(1);
		}
	});

	test.each(Array.from({ length: 10 }, (_, seed) => seed))(
		'charged, and refused by the service: both can buy the same later, whatever others write (%i)',
		async (seed) => {
			const [one, two, three] = processes;
			const askAll = async (...asked: Array<NodeProcess | undefined>): Promise<NodeOutcome[]> =>
				await Promise.all(
					asked.map(async (process, nth) =>
						begin(process, '', nth, { customerDocument: cpf(nth + 1) }),
					),
				);
			const random = randomOf(seed);
			processedItems.latency = () => latencyOf(random);
			shop.fault('refuse');
			const first = await askAll(one, two, one, two, one, two);
			await pause(2_000);
			const again = await askAll(three, three, three, three, three, three);

			expect(first.some(({ status }) => status === 'success')).toBe(true);
			expect(again.map(errorOf).join('').trim()).toBe('');
		},
	);

	test('the pauses of one run overlap, and what is known has none', async () => {
		const input = customers(40);
		const parameters = shop.parameters('={{ "order-" + $json.n }}', OWN_CUSTOMER);
		const startedAt = performance.now();
		const first = await shop.run(parameters, { items: input });
		const chargedIn = performance.now() - startedAt;
		const again = await shop.run(parameters, { items: input, process: NodeProcess.fresh() });
		const refusedIn = performance.now() - startedAt - chargedIn;

		expect(first.status).toBe('success');
		expect(chargedIn).toBeGreaterThanOrEqual(10 * PAUSE_MS);
		expect(chargedIn).toBeLessThan(15 * PAUSE_MS);
		expect(errorOf(again)).toContain('may already have been charged');
		expect(refusedIn).toBeLessThan(100);
	});

	test('what waits for the rate limit is not recorded: a crash leaves nothing in doubt', async () => {
		shop.account.fault('charge', { kind: 'retryAfter', seconds: 60 });
		const stopping = new AbortController();
		const ask = async (order: number, more: NodeRunOptions = {}) =>
			await shop.run(
				shop.parameters(`order-${order}`, { customerDocument: cpf(1_000 + order) }),
				more,
			);
		const waiting = [0, 1, 2, 3].map(async (order) => {
			await pause(order * 1_000);
			return await ask(order, { process: processes[0], signal: stopping.signal });
		});
		await pause(10_000);
		const { posts } = shop;
		// Nothing that the killed process would still write is written.
		processedItems.failAfter = 0;
		stopping.abort();
		await Promise.all(waiting);
		processedItems.clear({ keepRows: true });
		const again = await Promise.all([0, 1, 2, 3].map(async (order) => await ask(order)));

		expect(posts).toBe(1);
		expect(again.map(errorOf).join('').trim()).toBe('');
		expect(shop.charges).toBe(4);
	});

	describe('one that was recorded and waits for the rate limit, while another worker is asked', () => {
		const [one, two] = processes;
		const askBoth = async (first: INodeParameters, second: INodeParameters): Promise<void> => {
			shop.account.fault('charge', { kind: 'retryAfter', seconds: 60 });
			const waiting = shop.run(first, { process: one });
			await pause(10_000);
			const passing = await shop.run(second, { process: two });
			judge([await waiting, passing]);
		};

		test('by a code: one is charged', async () => {
			shop.fault('drop');
			await shop.run(shop.parameters('order-1'), { process: one });
			const repeatCode = codeIn(await shop.run(shop.parameters('order-1'), { process: one }));
			const allowed = shop.parameters('order-1', { options: { repeatCode } });
			await pause(LOOKED_FOR_MS);
			await askBoth(allowed, allowed);

			expect(shop.charges).toBe(1);
		});

		test('in place of an expired one: one is charged', async () => {
			const expired = await shop.run(shop.parameters('order-1'), { process: one });
			await shop.account.sandbox.setStatus(String(expired.json[0]?.hash), 'expired');
			await pause(LOOKED_FOR_MS);
			await askBoth(shop.parameters('order-1'), shop.parameters('order-1'));

			expect(shop.charges).toBe(2);
		});
	});

	describe('an expired charge that is made again', () => {
		const [one, two, three] = processes;
		const expire = async ({ json }: NodeOutcome): Promise<void> => {
			await shop.account.sandbox.setStatus(String(json[0]?.hash), 'expired');
		};

		test('lifts no doubt of another worker about the same customer and cart', async () => {
			await expire(await shop.run(shop.parameters('order-1'), { process: one }));
			shop.fault('lose');
			await shop.run(shop.parameters('order-2'), { process: two });
			const again = await shop.run(shop.parameters('order-1'), { process: one });
			const other = await shop.run(shop.parameters('order-3'), { process: three });

			expect(errorOf(again)).toContain('may already have been charged');
			expect(errorOf(other)).toContain('may already have been charged');
			expect(shop.charges).toBe(2);
			const allowed = shop.parameters('order-1', { options: { repeatCode: codeIn(again) } });
			expect((await shop.run(allowed, { process: one })).status).toBe('success');
		});

		describe('while another worker shows a code, and what it enters for that is overwritten', () => {
			const allowed = (code: string): INodeParameters =>
				shop.parameters('order-1', { options: { repeatCode: code } });
			const charge = async (): Promise<void> => {
				await expire(await shop.run(shop.parameters('order-1'), { process: one }));
				await pause(LOOKED_FOR_MS);
			};
			const showCode = async (): Promise<string> => {
				aroundEntries(async (enter, { nth }) => {
					if (nth === 2) processedItems.lostWrites = 1;
					return await enter();
				});
				const refused = await shop.run(shop.parameters('order-1'), { process: two });
				jest.restoreAllMocks();
				return codeIn(refused);
			};

			test('a code that was used keeps it from being made once more', async () => {
				await charge();
				const code = await showCode();
				expect((await shop.run(allowed(code), { process: two })).status).toBe('success');
				judge([await shop.run(shop.parameters('order-1'), { process: one })]);

				expect(shop.charges).toBe(2);
			});

			test('it makes the code invalid', async () => {
				await charge();
				const code = await showCode();
				const again = await shop.run(shop.parameters('order-1'), { process: one });
				expect(again.status).toBe('success');
				judge([await shop.run(allowed(code), { process: two })]);

				expect(shop.charges).toBe(2);
			});
		});

		test('with another reference is not the charge that another worker made for it', async () => {
			const first = await shop.run(shop.parameters('order-1'), { process: one });
			await expire(first);
			await shop.run(shop.parameters('order-2'), { process: two });
			const retried = await shop.run(shop.parameters('order-2'), {
				process: one,
				retryOf: retryable(first),
			});

			expect(errorOf(retried)).toContain('may already have been charged');
			expect(shop.charges).toBe(2);
		});
	});
});
