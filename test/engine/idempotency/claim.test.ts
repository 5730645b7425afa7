import { setTimeout as pause } from 'node:timers/promises';
import * as fc from 'fast-check';
import { isThorough, sequences } from '../../helpers/extent';
import { cpf } from '../../helpers/charge';
import { crashedData, NodeProcess, processedItems } from '../../helpers/engine';
import { type Ask, codeIn, errorOf, MAYBE, retryable, useShop, VOID } from '../../helpers/charging';
import { aroundInserts, latencyOf, stallingLatencyOf } from '../../helpers/database';
import { seededRandom } from '../../sandbox/catalog';

const RUNS = sequences(3);
const ORDER = { order: 'order-1' };

describe('Several processes', () => {
	const shop = useShop();
	const workers = [NodeProcess.fresh(), NodeProcess.fresh(), NodeProcess.fresh()];
	const [one, two, three] = workers;
	const restarted = NodeProcess.fresh();
	afterEach(() => processedItems.clear());

	const other = (n: number): Ask => ({
		order: `other ${n}`,
		more: { customerDocument: cpf(100 + n) },
	});

	describe('that request the same charge at the same moment', () => {
		/** Prepares a race, and returns the request of the nth process. */
		const RACES: Array<() => Promise<(nth: number) => Ask>> = [
			async function theSameOrder() {
				return () => ORDER;
			},
			async function theRetryOfACrash() {
				const { begun } = await shop.ask();
				shop.account.reset();
				const retryOf = crashedData(begun, [{ name: 'Digital Sales', finished: false }]);
				return () => ({ retryOf });
			},
			async function theSameCode() {
				const code = await shop.codeFor(ORDER);
				return () => ({ ...ORDER, code });
			},
			async function anExpiredOrderOfWhichOneKnowsWhileOthersHaveACode() {
				await shop.ask({ ...ORDER, process: one });
				await shop.latestBecomes('expired');
				const code = codeIn(await shop.ask({ ...ORDER, process: two }));
				return (nth) => (nth === 0 ? ORDER : { ...ORDER, code });
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
						// If all replace an earlier charge, all may lose.
						const isOwed = failures === 0 && asked(1).code === undefined;
						expect(charged()).toBeGreaterThanOrEqual(isOwed ? 1 : 0);
						const errors = outcomes.map(errorOf).filter((error) => error.trim() !== '');
						const wrong = errors.filter((error) => !error.includes(MAYBE));
						expect(failures > 0 ? [] : wrong).toEqual([]);

						for (const process of failures > 0 ? workers : []) {
							await shop.ask({ ...asked(0), process });
						}
						processedItems.fails = () => false;
						const refused = await shop.ask({ ...asked(0), process: restarted });
						expect(charged()).toBeLessThanOrEqual(1);
						if (charged() === 1) return;
						await shop.charge({ ...asked(0), code: codeIn(refused), process: restarted });
						expect(charged()).toBe(1);
					},
				);
				await fc.assert(property, { numRuns: RUNS });
			},
			30_000 + 1_000 * RUNS,
		);
	});

	test('that charge at the same moment can repeat refused charges and charges without reference at once', async () => {
		for (let seed = 0; seed < sequences(3, 10); seed++) {
			shop.begin();
			const random = seededRandom(seed);
			processedItems.latency = () => latencyOf(random);
			const sales = [1, 2, 3, 4, 5, 6].map((n) => (n % 2 ? { ...other(n), order: '' } : other(n)));
			const buy = async (some: Ask[], ...by: Array<NodeProcess | undefined>) =>
				await Promise.all(
					some.map(async (sale, nth) => shop.ask({ ...sale, process: by[nth % by.length] })),
				);
			for (let refusals = seed % 4; refusals > 0; refusals--) shop.fault('refuse');
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
		['two orders', 'order-1', 'order-2'],
		['an order and a charge without reference', 'order-1', undefined],
	])(
		'that enter one hash at the same moment for %s: only one gets the charge',
		async (_, ...orders) => {
			for (let seed = 0; seed < sequences(3, 8); seed++) {
				shop.begin();
				shop.fault('loseAnswer');
				await shop.ask();
				const hash = shop.hashes.at(-1);
				const random = seededRandom(seed);
				processedItems.latency = () => latencyOf(random);
				const runs = orders.map(async (order, nth) => {
					await pause(random() * 20 * nth);
					return await shop.ask({ order, code: hash, process: workers[nth + 1] });
				});
				const given = (await Promise.all(runs)).filter(({ json }) => json[0]?.hash === hash);
				expect(given).toHaveLength(1);
			}
		},
	);

	describe('a charge that is stopped before it is sent, because another item failed', () => {
		/** Ends with an answer to the first of two items, while the second one is about to be sent. */
		const endEarly = async (code?: string): Promise<void> => {
			shop.fault('refuse');
			const { customerDocument } = shop.parameters();
			const items = [
				{ order: 'order-2', document: cpf(5) },
				{ order: 'order-1', document: customerDocument },
			];
			const before = shop.posts;
			const ended = await shop.ask({
				order: '={{ $json.order }}',
				code,
				more: { customerDocument: '={{ $json.document }}' },
				items,
				process: one,
			});
			expect(errorOf(ended)).toContain('422');
			expect(shop.posts - before).toBe(1);
		};

		test('can be requested again if it replaces an expired charge', async () => {
			await shop.ask({ ...ORDER, process: one });
			await shop.latestBecomes('expired');
			await endEarly();

			expect((await shop.ask({ ...ORDER, process: one })).status).toBe('success');
		});

		test('does not use up its code', async () => {
			const code = await shop.codeFor({ ...ORDER, process: one });
			await endEarly(code);

			expect((await shop.ask({ ...ORDER, code, process: one })).status).toBe('success');
		});
	});

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

	describe('the replacement of an expired charge', () => {
		/** The first worker makes a charge, which expires. */
		const expired = async (order?: string) => {
			const outcome = await shop.ask({ order, process: one });
			await shop.latestBecomes('expired');
			return outcome;
		};

		test('does not end a doubt of another worker about the same customer and cart', async () => {
			await expired('order-1');
			shop.fault('loseAnswer');
			await shop.ask({ order: 'order-2', process: two });
			const again = await shop.refused({ ...ORDER, process: one });
			await shop.refused({ order: 'order-3', process: three });

			expect(shop.charges).toBe(2);
			await shop.charge({ ...ORDER, code: codeIn(again), process: one });
		});

		test('is not made again by a code for another doubt if another worker made it meanwhile', async () => {
			await expired('order-1');
			const code = codeIn(await shop.ask({ ...ORDER, process: two }));
			await shop.charge({ ...ORDER, code, process: two });
			shop.fault('loseRequest');
			await shop.ask({ order: 'order-2', process: one });
			const refused = await shop.refused({ ...ORDER, process: one });
			await shop.refused({ ...ORDER, code: codeIn(refused), process: one });

			expect(shop.charges).toBe(2);
		});

		test('is not made again if another worker made it with a code, unless that charge is void, too', async () => {
			await expired('order-1');
			const code = codeIn(await shop.ask({ ...ORDER, process: two }));
			await pause(10);
			const second = await shop.ask({ ...ORDER, code, process: two });
			const again = await shop.ask({ ...ORDER, process: one });

			expect(errorOf(again)).toContain(`A customer ${MAYBE} for order "order-1"`);
			expect(shop.charges).toBe(2);
			await shop.latestBecomes('expired');
			await shop.ask({ ...ORDER, process: one, retryOf: retryable(second) });
			expect(shop.charges).toBe(3);
		});

		test.each([
			['without its order and then with it', undefined, 'order-1'],
			['with its order and then without it', 'order-1', undefined],
		])('is made once by Retries %s', async (_, first, second) => {
			const retryOf = retryable(await expired('order-1'));
			await shop.charge({ order: first, process: one, retryOf });
			await shop.refused({ order: second, process: two, retryOf });

			expect(shop.charges).toBe(2);
		});

		test('is made once, whatever reference its Retries give it', async () => {
			const retryOf = retryable(await expired());
			await shop.ask({ ...ORDER, process: one, retryOf });
			await shop.refused({ process: two, retryOf });

			expect(shop.charges).toBe(2);
		});

		test('is not made by the Retry of a crash that charged on another worker', async () => {
			const { begun } = await shop.ask({ process: two });
			const retryOf = crashedData(begun, [{ name: 'Digital Sales', finished: false }]);
			await expired('order-1');
			const refused = await shop.refused({ ...ORDER, process: one, retryOf });
			await shop.charge({ ...ORDER, code: codeIn(refused), process: one, retryOf });

			expect(errorOf(refused)).toContain(MAYBE);
			expect(shop.charges).toBe(3);
		});

		test('is not made after another worker has given the item an existing charge', async () => {
			await shop.ask({ ...ORDER, process: two });
			const retryOf = retryable(await expired());
			await shop.charge({ ...ORDER, process: two, retryOf });
			await shop.refused({ process: one, retryOf });

			expect(shop.charges).toBe(2);
		});

		test.each([[undefined], ['order-1']])(
			'is made for an item and its order if both charges have expired, the item as %s',
			async (order) => {
				const retryOf = retryable(await expired(order));
				await expired('order-1');
				await shop.charge({ ...ORDER, process: one, retryOf });

				expect(shop.charges).toBe(3);
			},
		);

		test.each([undefined, 'order-1'])(
			'is not made after a code has charged the Retry of a crash on another worker, with reference %s',
			async (order) => {
				const outcome = await expired();
				const crashed = crashedData(outcome.begun, [{ name: 'Digital Sales', finished: false }]);
				const code = codeIn(await shop.refused({ process: two, retryOf: crashed }));
				await shop.charge({ code, process: two, retryOf: crashed });
				await shop.refused({ order, process: one, retryOf: retryable(outcome) });

				expect(shop.charges).toBe(2);
			},
		);

		test('is not made on another worker after a code has charged the item', async () => {
			const retryOf = retryable(await expired());
			shop.fault('loseRequest');
			await shop.ask({ order: 'other', process: one });
			const code = codeIn(await shop.refused({ process: one, retryOf }));
			await shop.charge({ code, process: one, retryOf });
			await shop.refused({ ...ORDER, process: two, retryOf });

			expect(shop.charges).toBe(2);
		});

		test('is not made twice, whichever call of the database fails', async () => {
			let hasFailed = true;
			let nth = 0;
			const step = isThorough ? 1 : 4;
			for (; hasFailed; nth += step) {
				shop.account.reset();
				shop.begin();
				const outcome = await expired();
				const crashed = crashedData(outcome.begun, [{ name: 'Digital Sales', finished: false }]);
				let calls = 0;
				processedItems.fails = () => calls++ === nth;
				await shop.ask({ process: one, retryOf: retryable(outcome) });
				hasFailed = calls > nth;
				processedItems.fails = () => false;
				await shop.ask({ process: two, retryOf: crashed });
				await shop.ask({ process: one, retryOf: retryable(outcome) });

				expect(shop.charges).toBeLessThanOrEqual(2);
			}
			expect(nth).toBeGreaterThan(20);
		}, 90_000);

		test('is not made after a person has entered the hash of an existing charge on another worker', async () => {
			await shop.charge({ ...ORDER, process: three });
			const [hash] = shop.hashes;
			const retryOf = retryable(await expired());
			await shop.charge({ ...ORDER, code: hash, process: two, retryOf });
			await shop.refused({ process: one, retryOf });

			expect(shop.charges).toBe(2);
		});

		test('makes a code invalid that another worker has shown', async () => {
			await expired('order-1');
			const code = codeIn(await shop.ask({ ...ORDER, process: two }));
			await shop.charge({ ...ORDER, process: one });
			await shop.refused({ ...ORDER, code, process: two });

			expect(shop.charges).toBe(2);
		});

		test.each([[undefined], ['order-1']])(
			'makes a code invalid if the Retry has no reference, and the charge had %s',
			async (order) => {
				const outcome = await expired(order);
				const crashed = crashedData(outcome.begun, [{ name: 'Digital Sales', finished: false }]);
				const asked: Ask = { ...ORDER, process: two, retryOf: order ? undefined : crashed };
				const code = codeIn(await shop.refused(asked));
				await shop.charge({ process: one, retryOf: retryable(outcome) });
				await shop.refused({ ...asked, code });

				expect(shop.charges).toBe(2);
			},
		);

		test.each([
			['the Retry of a crash', undefined],
			['another execution', 'order-1'],
		])(
			'is not made for another cart of the Retry after a code has charged %s on another worker',
			async (_, order) => {
				const outcome = await expired(order);
				const crashed = crashedData(outcome.begun, [{ name: 'Digital Sales', finished: false }]);
				const asked: Ask = { order, process: two, retryOf: order ? undefined : crashed };
				const code = codeIn(await shop.refused(asked));
				await shop.charge({ ...asked, code });
				const cart = { items: [{ offerHash: shop.offer, quantity: 2 }] };
				const retryOf = retryable(outcome);
				const retried = await shop.refused({ more: { cart }, process: one, retryOf });
				await shop.charge({ more: { cart }, process: one, retryOf, code: codeIn(retried) });

				expect(shop.charges).toBe(3);
			},
		);

		const liveHashes = (): string[] =>
			shop.account.sandbox.transactions
				.filter(({ payment_status: status }) => !VOID.includes(status))
				.map(({ hash }) => hash);

		test('is made once if its run is canceled, and other workers make it', async () => {
			const first = await expired('order-1');
			const stopping = new AbortController();
			aroundInserts(async (enter) => {
				stopping.abort();
				return await enter();
			});
			await shop.ask({ ...ORDER, process: one, signal: stopping.signal });
			jest.restoreAllMocks();
			await shop.ask({ ...ORDER, process: two });
			await shop.ask({ ...ORDER, process: three, retryOf: retryable(first) });

			expect(shop.posts).toBeLessThanOrEqual(2);
		});

		test('is not made from a copy of the charge that lacks a later reference', async () => {
			const first = await shop.charge({ process: one });
			await shop.charge({ ...ORDER, process: one, retryOf: retryable(first) });
			await shop.latestBecomes('expired');
			const code = codeIn(await shop.refused({ ...ORDER, process: two }));
			await shop.charge({ ...ORDER, code, process: two });
			await shop.refused({ process: two, retryOf: retryable(first) });

			expect(shop.charges).toBe(2);
		});

		test('is made once if two executions have the charge, one of them by its hash', async () => {
			shop.fault('loseAnswer');
			const lost = await shop.ask({ process: one });
			const given = await shop.charge({ code: shop.hashes[0], process: one });
			await shop.latestBecomes('expired');
			const code = codeIn(await shop.refused({ process: one, retryOf: retryable(given) }));
			await shop.charge({ code, process: one, retryOf: retryable(given) });
			await shop.refused({ process: one, retryOf: retryable(lost) });

			expect(shop.charges).toBe(2);
		});

		test('is not made for an order that a Retry wanted to give to another charge', async () => {
			const first = await shop.charge({ process: one });
			await shop.charge({ ...ORDER, process: one });
			const [own = '', ofOrder = ''] = shop.hashes;
			const retried = await shop.ask({ ...ORDER, process: two, retryOf: retryable(first) });
			await shop.account.sandbox.setStatus(own, 'expired');
			await shop.ask({ ...ORDER, process: two });

			expect(errorOf(retried)).toContain(
				'Order Reference "order-1" already belongs to another charge, so nothing was sent',
			);
			expect(errorOf(retried)).toContain(`The existing transaction of this item is ${own}.`);
			expect(liveHashes()).toEqual([ofOrder]);
		});

		test('is refused under a reference that another worker has charged since', async () => {
			const retryOf = retryable(await expired('order-1'));
			await shop.ask({ order: 'order-2', process: two });
			await shop.refused({ order: 'order-2', process: one, retryOf });

			expect(shop.charges).toBe(2);
		});
	});
});
