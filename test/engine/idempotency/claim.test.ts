import { setTimeout as pause } from 'node:timers/promises';
import * as fc from 'fast-check';
import { isThorough, sequences } from '../../helpers/extent';
import { cpf } from '../../helpers/charge';
import { crashedData, NodeProcess, processedItems } from '../../helpers/engine';
import { type Ask, decide, errorOf, MAYBE, retryable, useShop } from '../../helpers/charging';
import { aroundInserts, latencyOf, stallingLatencyOf } from '../../helpers/database';
import { seededRandom } from '../../sandbox/catalog';

const RUNS = sequences(2);
const FEW_MINUTES_MS = 5 * 60_000;
const ORDER = { order: 'order-1' };
const DECIDED = { ...ORDER, ...decide('order-1') };

describe('Several processes', () => {
	const shop = useShop();
	const workers = [NodeProcess.fresh(), NodeProcess.fresh(), NodeProcess.fresh()];
	const [one, two, three] = workers;
	const restarted = NodeProcess.fresh();
	afterEach(() => {
		processedItems.clear();
		for (const process of [...workers, restarted]) process.forget();
	});

	const other = (n: number): Ask => ({
		order: `other ${n}`,
		more: { customerDocument: cpf(100 + n) },
	});
	const crashed = (outcome: Awaited<ReturnType<typeof shop.ask>>) =>
		crashedData(outcome.begun, [{ name: 'Digital Sales', finished: false }]);
	/** The first worker makes a charge, which expires. */
	const expired = async (order?: string) => {
		const outcome = await shop.ask({ order, process: one });
		await shop.latestBecomes('expired');
		return outcome;
	};

	describe('that request the same charge at the same moment', () => {
		/** Prepares a race, and returns the request of the nth process. */
		const RACES: Array<() => Promise<(nth: number) => Ask>> = [
			async function theSameOrder() {
				return () => ORDER;
			},
			async function theRetryOfACrash() {
				const outcome = await shop.ask();
				shop.account.reset();
				return () => ({ retryOf: crashed(outcome) });
			},
			async function theSameDecision() {
				shop.fault('loseRequest');
				await shop.ask(ORDER);
				await pause(FEW_MINUTES_MS);
				return () => DECIDED;
			},
			async function anExpiredOrderOfWhichOneKnowsWhileOthersDecide() {
				await expired('order-1');
				return (nth) => (nth === 0 ? ORDER : DECIDED);
			},
			async function anExpiredOrder() {
				await expired('order-1');
				return () => ORDER;
			},
		];

		test.each([
			['is slow', latencyOf, 12, 0],
			['stalls for up to two seconds now and then', stallingLatencyOf, 1_500, 0],
			['fails, sometimes after it has written', latencyOf, 12, 0.05],
		])(
			'charge once, and never twice, with a database that %s',
			async (_how, latency, latest, failures) => {
				const property = fc.asyncProperty(
					fc.constantFrom(...RACES),
					fc.integer(),
					fc.array(fc.nat(latest), { minLength: 2, maxLength: 3 }),
					async (prepare, seed, starts) => {
						shop.account.reset();
						shop.begin();
						const asked = await prepare();
						const before = shop.charges;
						const random = seededRandom(seed);
						processedItems.latency = () => latency(random);
						processedItems.fails = () => random() < failures;
						const begin = async (ask: Ask, nth: number, lateMs: number) => {
							await pause(lateMs);
							return await shop.ask({ ...ask, process: workers[nth % 3] });
						};
						const runs = starts.map(async (ms, nth) => await begin(asked(nth), nth, ms));
						const bystanders = failures > 0 ? [] : [1, 2];
						const others = bystanders.map(async (n) => await begin(other(n), n, n * 30));
						const outcomes = await Promise.all(runs);
						expect((await Promise.all(others)).map(errorOf).join('').trim()).toBe('');
						const charged = (): number => shop.charges - before - others.length;
						expect(charged()).toBeLessThanOrEqual(1);
						expect(charged()).toBeGreaterThanOrEqual(failures === 0 ? 1 : 0);
						const errors = outcomes.map(errorOf).filter((error) => error.trim() !== '');
						const wrong = errors.filter((error) => !error.includes(MAYBE));
						expect(failures > 0 ? [] : wrong).toEqual([]);

						for (const process of failures > 0 ? workers : []) {
							await shop.ask({ ...asked(0), process });
						}
						processedItems.fails = () => false;
						await shop.ask({ ...asked(0), process: restarted });
						expect(charged()).toBeLessThanOrEqual(1);
						if (charged() === 1) return;
						await pause(FEW_MINUTES_MS);
						const decision = decide(asked(0).order ? 'order-1' : undefined);
						const decided = async () =>
							await shop.ask({ ...asked(0), ...decision, process: restarted });
						let last = await decided();
						if (errorOf(last).includes('The decision does not count yet')) {
							// The database failed to keep that the doubt was told.
							await pause(FEW_MINUTES_MS);
							last = await decided();
						}
						const isSpent = errorOf(last).includes('one attempt for it today');
						expect([charged(), isSpent]).toEqual(isSpent ? [0, true] : [1, false]);
					},
				);
				await fc.assert(property, { numRuns: RUNS });
			},
			30_000 + 1_000 * RUNS,
		);
	});

	test('that charge at the same moment can repeat refused charges and charges without reference at once', async () => {
		for (let seed = 0; seed < sequences(1, 8); seed++) {
			shop.begin();
			const random = seededRandom(seed);
			processedItems.latency = () => latencyOf(random);
			const sales = [1, 2, 3, 4, 5, 6].map((n) => (n % 2 ? { ...other(n), order: '' } : other(n)));
			const buy = async (some: Ask[], ...by: Array<NodeProcess | undefined>) =>
				await Promise.all(
					some.map(async (sale, nth) => shop.ask({ ...sale, process: by[nth % by.length] })),
				);
			for (let refusals = (seed + 2) % 4; refusals > 0; refusals--) shop.fault('refuse');
			const first = await buy(sales, one, two, three);
			const free = sales.filter(({ order }, nth) => !order || first[nth]?.status === 'error');
			const again = await buy(free, restarted, one);

			expect(first.map(errorOf).join('')).not.toContain(MAYBE);
			expect(again.map(errorOf).join('').trim()).toBe('');
		}
	});

	test('an order releases its keys when a concurrent order of the same customer wins', async () => {
		const { ended } = await shop.underWay({ order: 'order-1', process: one });
		await shop.refused({ order: 'order-2', process: two });
		await ended;

		await shop.charge({ order: 'order-2', process: restarted });
		expect(shop.charges).toBe(2);
	});

	test.each([
		['replaces an expired charge', async () => void (await expired('order-1')), {}],
		[
			'has a decision',
			async () => {
				shop.fault('loseRequest');
				await shop.ask({ ...ORDER, process: one });
			},
			decide('order-1'),
		],
	])(
		'a charge that %s, and is canceled at any write before it is sent, can be requested again',
		async (_what, prepare, decision) => {
			let isSent = false;
			for (let nth = 1; !isSent; nth++) {
				shop.account.reset();
				shop.begin();
				await prepare();
				const before = shop.posts;
				const canceling = new AbortController();
				aroundInserts(async (enter, at) => {
					if (at === nth) canceling.abort();
					return await enter();
				});
				await shop.ask({ ...ORDER, ...decision, process: one, signal: canceling.signal });
				jest.restoreAllMocks();

				isSent = shop.posts > before;
				await shop.charge({ ...ORDER, ...decision, process: one });
				expect(shop.posts - before).toBe(1);
			}
		},
	);

	test('a charge that waits for the rate limit is not recorded, so a crash leaves nothing in doubt', async () => {
		shop.account.fault('charge', { kind: 'retryAfter', seconds: 60 });
		const stopping = new AbortController();
		const orders = [0, 1, 2, 3].map(other);
		const waiting = orders.map(async (ask, nth) => {
			await pause(nth * 1_000);
			return await shop.ask({ ...ask, process: one, signal: stopping.signal });
		});
		await pause(10_000);
		expect(shop.posts).toBe(1);
		// A killed process writes nothing more.
		processedItems.writesLeft = 0;
		stopping.abort();
		await Promise.all(waiting);
		processedItems.clear({ keepRows: true });

		await Promise.all(orders.map(async (ask) => await shop.charge(ask)));
		expect(shop.charges).toBe(4);
	});

	test('a decision that the platform refuses, or that waits for the rate limit, is not spent', async () => {
		shop.fault('loseRequest');
		await shop.ask({ ...ORDER, process: one });
		await pause(FEW_MINUTES_MS);
		shop.fault('limit');
		shop.fault('refuse');
		expect(errorOf(await shop.ask({ ...DECIDED, process: two }))).toContain('422');
		await shop.refused({ ...ORDER, process: two });

		await shop.charge({ ...DECIDED, process: three });
		await shop.charge({ ...ORDER, process: one });
		expect(shop.charges).toBe(1);
	});

	test('a decision during the charge that it describes ends no doubt of its own', async () => {
		const { ended } = await shop.underWay({ ...ORDER, process: one });
		shop.fault('refuse');
		await shop.ask({ ...DECIDED, process: two });
		await ended;

		await shop.charge({ ...ORDER, process: three });
		expect(shop.charges).toBe(1);
	});

	test('a decided charge leaves no doubt, whichever call of the database fails', async () => {
		let hasFailed = true;
		for (let nth = isThorough ? 0 : 21; hasFailed; nth += isThorough ? 1 : 40) {
			shop.account.reset();
			shop.begin();
			shop.fault('loseRequest');
			await shop.ask(ORDER);
			let calls = 0;
			processedItems.fails = () => calls++ === nth;
			const { status } = await shop.ask(DECIDED);
			hasFailed = calls > nth;
			processedItems.fails = () => false;
			const other = await shop.ask({ order: 'order-2' });
			expect(status === 'success' && errorOf(other).includes(MAYBE)).toBe(false);
		}
	});

	describe('the replacement of an expired charge', () => {
		test('does not end a doubt of another worker about the same customer and cart', async () => {
			await expired('order-1');
			shop.fault('loseAnswer');
			await shop.ask({ order: 'order-2', process: two });
			await shop.refused({ ...ORDER, process: one });
			await shop.refused({ order: 'order-3', process: three });

			expect(shop.charges).toBe(2);
			await pause(FEW_MINUTES_MS);
			await shop.charge({ ...DECIDED, process: one });
		});

		test.each([
			['without its order and then with it', undefined, 'order-1'],
			['with its order and then without it', 'order-1', undefined],
		])('is made once by Retries %s', async (_, first, second) => {
			for (const made of ['order-1', undefined]) {
				shop.account.reset();
				shop.begin();
				const retryOf = retryable(await expired(made));
				await shop.charge({ order: first, process: one, retryOf });
				await shop.ask({ order: second, process: two, retryOf });

				expect(shop.charges).toBe(2);
			}
		});

		test('is not made twice, whichever call of the database fails', async () => {
			let hasFailed = true;
			let nth = isThorough ? 0 : 12;
			for (; hasFailed; nth += isThorough ? 1 : 25) {
				shop.account.reset();
				shop.begin();
				const outcome = await expired();
				let calls = 0;
				processedItems.fails = () => calls++ === nth;
				await shop.ask({ process: one, retryOf: retryable(outcome) });
				hasFailed = calls > nth;
				processedItems.fails = () => false;
				await shop.ask({ process: two, retryOf: crashed(outcome) });
				await shop.ask({ process: one, retryOf: retryable(outcome) });

				expect(shop.charges).toBeLessThanOrEqual(2);
			}
			expect(nth).toBeGreaterThan(20);
		}, 90_000);

		test('is made once if its run is canceled, and other workers make it', async () => {
			await expired('order-1');
			shop.account.fault('charge', { kind: 'retryAfter', seconds: 60 });
			const canceling = new AbortController();
			const canceled = shop.ask({ ...ORDER, process: one, signal: canceling.signal });
			while (shop.posts < 2) await pause(5);
			canceling.abort();
			await canceled;
			await shop.charge({ ...ORDER, process: two });
			await shop.charge({ ...ORDER, process: one });

			expect(shop.charges).toBe(2);
		});

		test('is not made for an order that a Retry wanted to give to another charge', async () => {
			await shop.charge({ ...ORDER, process: two });
			const { json, ...outcome } = await shop.charge({ process: one });
			const retry = { ...ORDER, retryOf: retryable(outcome), process: one };
			const taken = await shop.ask(retry);
			await shop.account.sandbox.setStatus(String(json[0]?.hash), 'expired');
			await shop.charge(retry);

			expect(errorOf(taken)).not.toContain(MAYBE);
			expect(shop.charges).toBe(2);
		});
	});
});
