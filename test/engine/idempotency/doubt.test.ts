import { setTimeout as pause } from 'node:timers/promises';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { lockQueues } from '../../../nodes/DigitalSales/shared/lock';
import { cpf } from '../../helpers/charge';
import { NodeProcess } from '../../helpers/engine';
import {
	type Ask,
	codeIn,
	customers,
	errorOf,
	MAYBE,
	RETRY_ON_FAIL,
	otherProcess,
	OWN_CUSTOMER,
	PROCESSES,
	useShop,
} from '../../helpers/charging';

const REFUSED = `The customer ${MAYBE}, so nothing was sent`;
const OTHER_CUSTOMER = { customerDocument: '111.444.777-35' };

describe('A charge whose outcome is unknown', () => {
	const shop = useShop();

	test.each<[string, Ask, Ask]>([
		['order', {}, { order: 'order-2' }],
		['amount', {}, { more: { additionalFields: { amount: '50' } } }],
	])('stays in doubt if a code allows another %s of the customer', async (_what, own, other) => {
		shop.fault('loseAnswer');
		await shop.ask(own);
		const code = codeIn(await shop.refused(other));
		await shop.charge({ ...other, code });
		await shop.refused(own);
		await shop.refused({ ...own, ...otherProcess() });
		// The code has freed the goods for other orders. Only the request itself stays in doubt.
		await shop.charge({ ...other, order: 'order-3' });

		expect(shop.charges).toBe(3);
	});

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

	test('is refused under another Base URL, too', async () => {
		const to = 'http://localhost/x';
		shop.account.fault('charge', { kind: 'redirect', status: 303, processed: true, to });
		await shop.ask();
		await shop.refused({ credentials: shop.account.credentialsElsewhere() });

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

	describe('can be repeated with its code:', () => {
		test('the code allows one charge, and the next refusal shows another code', async () => {
			const code = await shop.codeFor();
			expect(code).toMatch(/^[2-9A-Z]{4}-[2-9A-Z]{4}$/);
			await shop.charge({ code });

			shop.fault('loseRequest');
			await shop.ask({ code });
			const again = await shop.ask({ code });

			expect(again.node?.error?.message).toBe(REFUSED);
			expect(codeIn(again)).not.toBe(code);
			expect(shop.charges).toBe(1);
		});

		test('a code with a wrong last character allows nothing', async () => {
			await shop.ask({ code: (await shop.codeFor()).replace(/.$/, '0') });

			expect(shop.posts).toBe(1);
		});

		test('the code of one customer does not allow the charge of another', async () => {
			const code = await shop.codeFor();
			await shop.codeFor({ more: OTHER_CUSTOMER });
			const other = await shop.ask({ more: OTHER_CUSTOMER, code });

			expect(other.node?.error?.message).toBe(REFUSED);
			expect(shop.charges).toBe(0);
		});

		test.each([
			[1, 'success', 1],
			[2, 'error', 0],
		])('a charge with a code shown %i days ago ends in %s', async (days, status, charges) => {
			const code = await shop.codeFor();
			const { now } = Date;
			jest.spyOn(Date, 'now').mockImplementation(() => now() + days * 86_400_000);
			const run = await shop.ask({ code });
			jest.restoreAllMocks();

			expect([run.status, shop.charges]).toEqual([status, charges]);
		});

		test('the field takes several codes, in any case, with or without the dash', async () => {
			const codes = [await shop.codeFor(), await shop.codeFor({ more: OTHER_CUSTOMER })];
			const code = codes.join(', ').toLowerCase().replaceAll('-', '');

			await shop.charge({ code });
			await shop.charge({ more: OTHER_CUSTOMER, code });
			expect(shop.charges).toBe(2);
		});
	});

	const DASHES = [
		['without its dash', ''],
		['with another dash', '–'],
	];

	test.each(DASHES)('a code typed %s works in a run of several items', async (_how, dash) => {
		const list = { items: customers(3), more: OWN_CUSTOMER };
		shop.fault('loseRequest');
		const failed = await shop.ask(list);
		const code = codeIn(await shop.ask({ ...list, retrying: failed })).replace('-', dash);
		const retried = await shop.ask({ ...list, retrying: failed, code });

		expect([errorOf(retried).trim(), shop.charges]).toEqual(['', 3]);
	});

	test.each(DASHES)('a used code typed %s stops no other customer', async (_how, dash) => {
		const code = (await shop.codeFor()).replace('-', dash);
		await shop.charge({ code });
		const next = await shop.ask({ code, items: customers(1), more: OWN_CUSTOMER });

		expect([errorOf(next).trim(), shop.charges]).toEqual(['', 2]);
	});

	describe('a code ends only the doubts that its refusal described, so it does not end', () => {
		const others = () => ({ cart: { items: [{ offerHash: shop.offer, price: '50' }] } });

		test('a doubt in the ledger, if the refusal described a doubt in memory', async () => {
			const ask = { order: 'order-2', ...otherProcess() };
			await shop.ask({ order: 'order-2' });
			shop.fault('loseRequest');
			await shop.ask({ process: ask.process });
			const first = await shop.ask(ask);
			const second = await shop.ask({ ...ask, code: codeIn(first) });

			expect(shop.charges).toBe(1);
			expect(errorOf(first)).not.toContain('order-2');
			expect(errorOf(second)).toContain(`Also: A customer ${MAYBE} for order "order-2"`);
			await shop.ask({ ...ask, code: codeIn(second) });
			expect(shop.charges).toBe(2);
		});

		test('a doubt that began after the code was shown', async () => {
			shop.fault('loseRequest');
			await shop.ask({ order: 'order-2', more: others() });
			const before = await shop.ask({ order: 'order-2' });
			shop.fault('loseAnswer');
			await shop.ask({ order: 'order-1' });
			const refused = await shop.ask({ order: 'order-2', code: codeIn(before) });

			expect(refused.node?.error?.message).toContain('for order "order-2"');
			expect(errorOf(refused)).toMatch(
				/Also: The customer may already have been charged for order "order-1".* Details: .*39,80/,
			);
			expect(shop.charges).toBe(1);
			await shop.ask({ order: 'order-2', code: codeIn(refused) });
			expect(shop.charges).toBe(2);
		});

		test('a doubt of another worker, if the refusal described the attempt that the Retry repeats', async () => {
			const process = NodeProcess.fresh();
			shop.fault('loseRequest');
			const failed = await shop.ask({ process });
			shop.fault('loseAnswer');
			await shop.ask({ more: others() });
			const retry: Ask = { more: others(), retrying: failed, process };
			const first = await shop.ask(retry);
			const second = await shop.ask({ ...retry, code: codeIn(first) });

			expect(errorOf(first)).not.toContain('Also: ');
			expect(errorOf(second)).toContain('Also: The customer');
			expect(errorOf(second)).toMatch(
				/It was for the same customer, perhaps.* Asked for now: .*50,00/,
			);
			expect(shop.charges).toBe(1);
			await shop.ask({ ...retry, code: codeIn(second) });
			expect(shop.charges).toBe(2);
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
				'n8n was restarted or updated since, its database failed, another n8n process sent it, the service refused the request that a code allowed, or it was long ago',
			);
			expect(errorOf(second)).toContain('Wait a few minutes, then look for the charge');
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
