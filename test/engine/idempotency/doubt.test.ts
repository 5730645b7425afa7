import { setTimeout as pause } from 'node:timers/promises';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { lockQueues } from '../../../nodes/DigitalSales/shared/tasks';
import { cpf } from '../../helpers/charge';
import { processedItems } from '../../helpers/engine';
import {
	type Ask,
	decide,
	errorOf,
	MAYBE,
	RETRY_ON_FAIL,
	otherProcess,
	PROCESSES,
	useShop,
} from '../../helpers/charging';

const REFUSED = `The customer ${MAYBE}, so this item was not sent`;
const OTHER_CUSTOMER = { customerDocument: '111.444.777-35' };

describe('A charge whose outcome is unknown', () => {
	const shop = useShop();

	test('is refused although Custom Fields of the cart item differ in each execution', async () => {
		const cartWith = (ref: string) => ({
			items: [
				{
					offerHash: shop.offer,
					price: '19,90',
					more: { customFields: JSON.stringify({ ref }) },
				},
			],
		});
		shop.fault('loseAnswer');
		await shop.ask({ more: { cart: cartWith('first') } });
		await shop.refused({ more: { cart: cartWith('second') } });

		expect(shop.charges).toBe(1);
	});

	test.each(PROCESSES)('blocks its customer, but no other customer, %s', async (_, where) => {
		shop.fault('loseAnswer');
		await shop.ask();
		const again = await shop.ask({
			more: {
				customerName: 'M. Silva',
				customerEmail: 'm@example.com',
				customerPhone: '+55 21 98765-4321',
			},
			...where(),
		});
		const referenced = await shop.ask({ order: 'order-2', ...where() });
		await shop.charge({ more: OTHER_CUSTOMER, ...where() });

		expect(again.node?.error?.message).toBe(REFUSED);
		expect(referenced.node?.error?.message).toContain(MAYBE);
		expect([shop.posts, shop.charges]).toEqual([2, 2]);
	});

	test.each([
		{ kind: 'status', status: 409, body: '{}' } as const,
		{ kind: 'redirect', status: 303, to: 'https://x.example/' } as const,
		{ kind: 'status', status: 500, body: '{}' } as const,
	])('is refused if requested again after a $status for a charge that was made', async (fault) => {
		shop.account.fault('charge', { ...fault, processed: true });
		const first = await shop.ask({ order: 'order-9' });
		const second = await shop.ask({ order: 'order-9' });

		expect(first.node?.error?.message).toContain(`The customer ${MAYBE}: `);
		expect(second.status).toBe('error');
		expect([shop.posts, shop.charges]).toEqual([1, 1]);
	});

	test('a 409 that says that the charge was refused leaves no doubt', async () => {
		shop.account.fault('charge', { kind: 'status', status: 409 });
		expect((await shop.ask({ order: 'order-9' })).status).toBe('error');

		await shop.charge({ order: 'order-9' });
	});

	test('a 422 that comes after another item has ended the run leaves no doubt', async () => {
		// Each request is delayed, then refused.
		for (const ms of [200, 400]) {
			shop.account.fault('charge', { kind: 'delay', ms });
			shop.fault('refuse');
		}
		const items = [{ document: cpf(1) }, { document: cpf(2) }];
		const ask = { items, more: { customerDocument: '={{ $json.document }}' } };
		await shop.ask(ask);
		expect(shop.posts).toBe(2);

		await shop.charge(ask);
	});

	test('an error that the package did not foresee leaves a doubt', async () => {
		const body = `{"message":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
		shop.account.fault('charge', { kind: 'status', status: 500, processed: true, body });
		const run = await shop.ask({ order: 'order-8', settings: RETRY_ON_FAIL });

		expect(run.node?.error?.message).toContain(`${MAYBE} for order "order-8"`);
		expect([shop.posts, shop.charges]).toEqual([1, 1]);
	});

	test.each([undefined, 'order-1'])(
		'is known to the process also if it follows a decision (order: %s)',
		async (order) => {
			shop.fault('loseAnswer');
			await shop.ask({ order });
			await shop.refused({ order });
			shop.fault('loseAnswer');
			await shop.ask({ order, ...decide(order) });

			const refused = await shop.refused(order ? { order: 'order-2' } : {});
			expect(errorOf(refused)).toContain('got no usable answer');
			expect(shop.posts).toBe(2);
		},
	);

	test.each([
		['is made', false],
		['gets no answer', true],
	])(
		'stays about one order if a charge that a decision about another order allows %s',
		async (_what, isLost) => {
			await shop.charge({ order: 'order-1' });
			shop.fault('loseAnswer');
			await shop.ask({ order: 'order-2' });
			shop.account.fault('read', { kind: 'status', status: 404, body: {} }, 2);
			await shop.refused({ order: 'order-1' });
			if (isLost) shop.fault('loseAnswer');
			await shop.ask({ order: 'order-1', ...decide('order-1') });
			await shop.charge({ order: 'order-1', ...(isLost && decide('order-1', shop.hashes[2])) });

			await shop.refused({ order: 'order-3' });
			await shop.refused({ order: 'order-3', ...otherProcess() });
			expect(shop.charges).toBe(3);
		},
	);

	describe('ends by a decision of a person:', () => {
		/** The charge is in doubt, and the platform has made it, or not. */
		const inDoubt = async (fault: 'loseAnswer' | 'loseRequest', ask: Ask = {}) => {
			shop.fault(fault);
			await shop.ask(ask);
		};
		const hashOfAnother = async (more: Ask['more']) =>
			String((await shop.charge({ more })).json[0]?.hash);

		test.each([
			['the CPF', '52998224725'],
			['the e-mail address', 'MARIA@example.com'],
			['the phone', '+55 11 91234-5678'],
		])('%s names the customer, and a hint says to clear the entry', async (_what, name) => {
			await inDoubt('loseAnswer');
			const [hash = ''] = shop.hashes;
			const { json, hints } = await shop.charge(decide(name, hash));

			expect(json[0]).toMatchObject({ hash, already_charged: false });
			expect(JSON.stringify(hints)).toContain('Options > Charges in Doubt has worked: remove its');
			expect(shop.charges).toBe(1);
		});

		test('if the charge that it allows fails at once, the doubt stays, and no hint says to clear the entry', async () => {
			await inDoubt('loseRequest');
			shop.fault('void');
			const failed = await shop.charge(decide());

			expect(JSON.stringify(failed.hints)).not.toContain('remove its entry');
			await shop.refused();
			await shop.charge(decide());
		});

		test('if the charge that it allows gets no answer, its customer stays blocked, whenever n8n is killed', async () => {
			let isRecorded = false;
			for (let writes = 0; !isRecorded; writes++) {
				shop.account.reset();
				shop.begin();
				await inDoubt('loseRequest', { order: 'order-1' });
				shop.fault('loseRequest');
				processedItems.writesLeft = writes;
				await shop.ask({ order: 'order-1', ...decide('order-1'), ...otherProcess() });
				isRecorded = processedItems.writesLeft > 0;
				processedItems.clear({ keepRows: true });
				await shop.refused({ order: 'order-2', ...otherProcess() });
			}
			expect(shop.posts).toBe(2);
		});

		test('if the customer has no name that the node can read, an Order Reference that is added names the charge', async () => {
			const blank = {
				customerName: '',
				customerEmail: '',
				customerPhone: '',
				customerDocument: '',
			};
			const customFields = { customer: { tax_id: '52998224725' } };
			const more = { ...blank, additionalFields: { customFields } };
			shop.fault('loseRequest');
			expect(errorOf(await shop.ask({ more }))).toContain('an Order Reference that you add');
			const named = { more, order: 'order-1', ...decide('order-1') };
			await shop.refused(named);
			await pause(5 * 60_000);
			await shop.ask(named);

			expect(shop.posts).toBe(2);
		});

		test('an entry acts on no other order or customer, and on nothing that is not in doubt', async () => {
			await inDoubt('loseRequest', { order: 'order-1' });
			await shop.refused({ order: 'order-1', ...decide('order-2') });
			await shop.refused({ order: 'order-1', ...decide() });
			const left = { ...decide('order-3', 'nope'), more: OTHER_CUSTOMER };
			await shop.charge({ order: 'order-3', ...left });
			const again = await shop.charge({ order: 'order-3', ...left });

			expect(JSON.stringify(again.hints)).not.toContain('Charges in Doubt');
			expect(shop.charges).toBe(1);
		});

		test.each<[string, () => Promise<string>, string]>([
			[
				'that has another document',
				async () => await hashOfAnother(OTHER_CUSTOMER),
				'has another Customer CPF or CNPJ',
			],
			[
				'that has another amount',
				async () => await hashOfAnother({ additionalFields: { customFields: { amount: 5000 } } }),
				'has another amount (R$ 50,00 instead of R$ 39,80)',
			],
			[
				'that is void',
				async () => {
					const hash = await hashOfAnother({});
					await shop.latestBecomes('expired');
					return hash;
				},
				'has failed or expired',
			],
			['that the platform does not know', async () => 'nope', 'could not be read'],
		])('a hash %s is refused, with what differs', async (_what, hashOf, difference) => {
			const hash = await hashOf();
			await inDoubt('loseRequest', { order: 'order-1' });
			const refused = await shop.ask({ order: 'order-1', ...decide('order-1', hash) });

			expect(errorOf(refused).replaceAll('\u00a0', ' ')).toContain(difference);
			await shop.charge({ order: 'order-1', ...decide('order-1') });
		});

		test('a hash whose transaction states another e-mail behind the same CPF is accepted', async () => {
			await inDoubt('loseAnswer');
			const [stored] = shop.account.sandbox.transactions;
			if (stored) stored.customer.email = 'old@example.com';

			await shop.charge(decide(undefined, stored?.hash));

			expect(shop.charges).toBe(1);
		});

		test('a hash whose transaction names nobody is refused', async () => {
			await inDoubt('loseAnswer');
			shop.account.fault('read', { kind: 'patchBody', set: { customer: null } }, 'always');

			expect(errorOf(await shop.ask(decide(undefined, shop.hashes[0])))).toContain(
				'names no customer that can be compared',
			);
		});

		test('without a hash, it allows one attempt a day, on whichever process', async () => {
			await inDoubt('loseRequest');
			await inDoubt('loseRequest', decide());
			await shop.refused(decide());
			expect(shop.posts).toBe(2);
			await pause(5 * 60_000);
			const spent = await shop.refused({ ...decide(), ...otherProcess() });
			expect(errorOf(spent)).toContain('The next one is possible tomorrow (Brasília time)');
			shop.account.sandbox.clearFaults();
			await pause(24 * 3_600_000);
			await shop.charge({ ...decide(), ...otherProcess() });

			expect(shop.charges).toBe(1);
		});

		test('an entry that was left behind repeats nothing that another process is charging now', async () => {
			const { ended } = await shop.underWay({}, 60_000);
			for (let execution = 0; execution < 3; execution++) {
				const left = await shop.refused({ ...decide(), ...otherProcess() });
				expect(errorOf(left)).toContain('The decision does not count yet');
			}

			expect((await ended).status).toBe('success');
			expect(shop.charges).toBe(1);
		});

		test.each([undefined, 'order-1'])(
			'an entry that was left behind does not act on a later attempt, although an earlier doubt was told (%s)',
			async (order) => {
				const { ended: earlier } = await shop.underWay({ order });
				await shop.refused({ order, ...otherProcess() });
				await earlier;
				await pause(3_600_000);
				await shop.latestBecomes('expired');
				const { ended: later } = await shop.underWay({ order }, 60_000);
				await shop.refused({ order, ...decide(order), ...otherProcess() });
				await shop.refused({ ...decide(), ...otherProcess() });
				await later;

				expect(shop.charges).toBe(2);
			},
		);

		test.each<[string, (hash: string) => ReturnType<typeof decide>]>([
			['nothing was found', () => decide()],
			['a hash was found', (hash) => decide(undefined, hash)],
		])(
			'of two charges of one customer, an entry of this customer decides neither: %s',
			async (_what, entry) => {
				const offers = { items: [{ price: '19,90' }, { price: '29,90' }] };
				const cart = {
					items: [{ offerHash: shop.offer, price: '={{ $json.price }}', quantity: 1 }],
				};
				const ask = { ...offers, more: { cart } };
				for (const ms of [200, 400]) {
					shop.account.fault('charge', { kind: 'delay', ms });
					shop.fault('loseAnswer');
				}
				const lost = await shop.refused(ask);
				expect(shop.charges).toBe(2);
				const [hash = ''] = shop.hashes;
				const retrying = { ...ask, retrying: lost };

				for (const continueOnFail of [false, true]) {
					const refused = await shop.ask({ ...retrying, ...entry(hash), continueOnFail });
					const said = continueOnFail ? JSON.stringify(refused.json) : errorOf(refused);
					expect(said).toContain('who has several charges in doubt');
				}
				expect(shop.posts).toBe(2);

				const order = '={{ $json.price }}';
				const decisions = shop.hashes.map((one, nth) => ({
					orderOrCustomer: nth === 0 ? '19,90' : '29,90',
					hash: one,
				}));
				await shop.refused({ ...retrying, order, decisions });
				const found = await shop.charge({ ...retrying, order, decisions });
				expect(found.json.map((item) => item.hash)).toEqual(shop.hashes);
			},
		);

		test('a hash whose transaction has a discounted amount of the same offer is accepted', async () => {
			await inDoubt('loseAnswer');
			shop.account.fault('read', { kind: 'patchBody', set: { amount: 3_582 } }, 'always');

			await shop.charge(decide(undefined, shop.hashes[0]));
			expect(shop.charges).toBe(1);
		});

		describe('at midnight in Brasília', () => {
			const DAY_MS = 24 * 3_600_000;
			/** @param seconds before midnight */
			const pauseUntil = async (seconds: number) => {
				const sinceMidnight = (clock.now() - 3 * 3_600_000) % DAY_MS;
				await pause(2 * DAY_MS - sinceMidnight - seconds * 1_000);
			};

			test('a decision whose attempt waits for the rate limit sends nothing beside the attempt of another process', async () => {
				await inDoubt('loseRequest');
				await pauseUntil(20);
				shop.account.fault('charge', { kind: 'retryAfter', seconds: 60 });
				const waits = shop.ask(decide());
				await pause(10_000);
				const { ended } = await shop.underWay({ ...decide(), ...otherProcess() }, 90_000);

				expect(errorOf(await waits)).toContain(MAYBE);
				expect((await ended).status).toBe('success');
				expect(shop.charges).toBe(1);
			});

			test('a decision sends nothing beside the attempt of another process, although this process knows the first one', async () => {
				await inDoubt('loseRequest');
				await pauseUntil(20);
				const { ended } = await shop.underWay({ ...decide(), ...otherProcess() }, 90_000);
				await shop.refused(decide());
				await pause(30_000);
				await shop.refused(decide());

				expect((await ended).status).toBe('success');
				expect(shop.charges).toBe(1);
			});
		});

		test('an entry that was left behind does not act under Retry On Fail, and acts in the next execution', async () => {
			shop.fault('loseRequest');
			const lost = await shop.refused({ ...decide(), settings: RETRY_ON_FAIL });
			expect(shop.posts).toBe(1);
			await shop.charge({ ...decide(), retrying: lost });

			expect(shop.charges).toBe(1);
		});

		test('a model cannot fill it in', async () => {
			const more = {
				options: { chargesInDoubt: { items: [{ orderOrCustomer: '={{ $fromAI("order") }}' }] } },
			};

			expect(errorOf(await shop.ask({ more }))).toContain(
				'Options > Charges in Doubt > Decision 1 > Order or Customer must be filled in by a person',
			);
		});
	});

	describe('if a customer orders twice at once,', () => {
		test('the second waits for the first and is then sent, and canceling ends the wait', async () => {
			const first = await shop.underWay({}, 1_000);
			const canceling = new AbortController();
			const startedAt = clock.elapsed();
			setTimeout(() => canceling.abort(), 50);
			await shop.ask({ signal: canceling.signal });
			expect(clock.elapsed() - startedAt).toBe(50);

			await shop.charge();
			expect((await first.ended).status).toBe('success');
			expect(shop.charges).toBe(2);
			expect(lockQueues.size).toBe(0);
		});

		test('the second is refused if the outcome of the first is unknown', async () => {
			shop.fault('loseAnswer');
			const runs = await Promise.all([shop.ask(), shop.ask()]);

			expect(runs.map(({ status }) => status)).toEqual(['error', 'error']);
			expect(runs.map(errorOf).join()).toContain(REFUSED);
			expect(shop.charges).toBe(1);
		});

		test('the second is refused in another process, and the error gives both possible reasons', async () => {
			const { ended } = await shop.underWay();
			const second = await shop.ask(otherProcess());

			expect(errorOf(second)).toContain(
				'another execution is charging it now, or n8n stopped before the answer came',
			);
			expect(errorOf(second)).toContain('Look for it on your platform in a few minutes.');
			expect((await ended).status).toBe('success');
			expect(shop.charges).toBe(1);
		});
	});

	test('canceling ends the wait for the rate limit at once, and leaves no doubt', async () => {
		shop.account.fault('charge', { kind: 'retryAfter', seconds: 60 }, 'always');
		const canceling = new AbortController();
		const running = shop.ask({ signal: canceling.signal });
		const answered = (): boolean =>
			shop.account.sandbox.requests.some(({ status }) => status === 429);
		while (!answered()) await pause(5);
		// If it is cancelled before the answer arrives, the outcome of the charge is unknown.
		await pause(100);
		const canceledAt = clock.elapsed();
		canceling.abort();
		const run = await running;

		expect(run.node?.error?.message).toBe('The execution was canceled');
		expect(clock.elapsed() - canceledAt).toBe(0);
		expect(shop.posts).toBe(1);
		shop.account.reset();
		await shop.charge();
	});
});
