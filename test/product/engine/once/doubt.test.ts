import { setTimeout as pause } from 'node:timers/promises';
import type { INodeParameters } from 'n8n-workflow';
import { cpf } from '../../../support/charge';
import { NodeProcess } from '../harness';
import { codeIn, errorOf, RETRY_ON_FAIL, useShop } from '../support/charging';

const REFUSED = 'The customer may already have been charged, so nothing was sent';
const OTHER_CUSTOMER = { customerDocument: '111.444.777-35' };

describe('A charge whose outcome is unknown', () => {
	const shop = useShop();

	test.each([
		['in this process', () => undefined],
		['after a restart', () => NodeProcess.fresh()],
	])('is refused in any execution %s; another customer is charged at once', async (_, process) => {
		shop.fault('lose');
		await shop.run(shop.parameters());
		const run = async (more: INodeParameters) => {
			const fresh = process();
			return await shop.run(shop.parameters(undefined, more), fresh ? { process: fresh } : {});
		};
		const again = await run({
			customerName: 'M. Silva',
			customerEmail: 'm@example.com',
			customerPhone: '+55 21 98765-4321',
		});
		const referenced = await run({ orderReference: 'order-2' });
		const other = await run(OTHER_CUSTOMER);

		expect(again.node?.error?.message).toBe(REFUSED);
		expect(referenced.node?.error?.message).toContain('may already have been charged');
		expect(other.status).toBe('success');
		expect([shop.posts, shop.charges]).toEqual([2, 2]);
	});

	test('is told from another one by a cart of Custom Fields, whatever that holds', async () => {
		const withCart = (cart: unknown[]) =>
			shop.parameters(undefined, {
				additionalFields: { customFields: JSON.stringify({ cart }) },
			});
		shop.fault('drop');
		const first = await shop.run(withCart([{ product_hash: 'one' }]));
		const other = await shop.run(withCart([{ product_hash: 'two' }]));
		const again = await shop.run(withCart([{ product_hash: 'one' }]));

		expect(errorOf(first)).toContain('Details: cart 1 x item;');
		expect(errorOf(other)).toContain('(422)');
		expect(errorOf(again)).toContain('may already have been charged');
	});

	test.each([408, 409, 425, 499, 303, 302, 500, 502])(
		'%i after processing: asked again it is refused',
		async (status) => {
			const to = 'https://x.example/';
			const redirect = { kind: 'redirect', to, status: status as 302, processed: true } as const;
			const answer = { kind: 'status', status, body: '{}', processed: true } as const;
			shop.account.fault('charge', status < 400 ? redirect : answer);
			const first = await shop.run(shop.parameters('order-9'));
			const second = await shop.run(shop.parameters('order-9'));

			expect(first.node?.error?.message).toContain('The customer may already have been charged: ');
			expect(second.status).toBe('error');
			expect([shop.posts, shop.charges]).toEqual([1, 1]);
		},
	);

	test('a 409 that says it was refused is a refusal', async () => {
		shop.account.fault('charge', { kind: 'status', status: 409 });
		const first = await shop.run(shop.parameters('order-9'));
		const second = await shop.run(shop.parameters('order-9'));

		expect([first.status, second.status]).toEqual(['error', 'success']);
	});

	test('so is a 422 that comes when another item has ended the run', async () => {
		for (const ms of [200, 400]) {
			shop.account.fault('charge', { kind: 'delay', ms });
			shop.fault('refuse');
		}
		const items = [{ document: cpf(1) }, { document: cpf(2) }];
		const own = shop.parameters(undefined, { customerDocument: '={{ $json.document }}' });
		await shop.run(own, { items });
		expect(shop.posts).toBe(2);

		expect((await shop.run(own, { items })).status).toBe('success');
	});

	test('an error that the package did not foresee leaves the charge in doubt', async () => {
		const body = `{"message":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
		shop.account.fault('charge', { kind: 'status', status: 500, processed: true, body });
		const run = await shop.run(shop.parameters('order-8'), { settings: RETRY_ON_FAIL });

		expect(run.node?.error?.message).toContain('may already have been charged for order "order-8"');
		expect([shop.posts, shop.charges]).toEqual([1, 1]);
	});

	describe('when the user has looked', () => {
		test('the code holds for that one charge', async () => {
			shop.fault('drop');
			await shop.run(shop.parameters());
			const refused = await shop.run(shop.parameters());
			const allowed = shop.parameters(undefined, { options: { repeatCode: codeIn(refused) } });
			expect(codeIn(refused)).toMatch(/^[2-9A-Z]{4}-[2-9A-Z]{4}$/);
			expect((await shop.run(allowed)).status).toBe('success');

			shop.fault('drop');
			await shop.run(allowed);
			const again = await shop.run(allowed);

			expect(again.node?.error?.message).toBe(REFUSED);
			expect(codeIn(again)).not.toBe(codeIn(refused));
			expect(shop.charges).toBe(1);
		});

		test('a code whose last letter is none of them allows nothing', async () => {
			shop.fault('drop');
			await shop.run(shop.parameters());
			const repeatCode = codeIn(await shop.run(shop.parameters())).replace(/.$/, '0');
			await shop.run(shop.parameters(undefined, { options: { repeatCode } }));

			expect(shop.posts).toBe(1);
		});

		test('the code of one customer says nothing of another', async () => {
			shop.fault('drop');
			shop.fault('drop');
			await shop.run(shop.parameters());
			await shop.run(shop.parameters(undefined, OTHER_CUSTOMER));
			const repeatCode = codeIn(await shop.run(shop.parameters()));
			const options = { options: { repeatCode } };
			const other = await shop.run(shop.parameters(undefined, { ...OTHER_CUSTOMER, ...options }));

			expect(other.node?.error?.message).toBe(REFUSED);
			expect(shop.charges).toBe(0);
		});

		test.each([
			[1, 'success', 2],
			[2, 'error', 1],
		])('a code that was not used, %i days later: %s', async (days, status, charges) => {
			shop.fault('lose');
			await shop.run(shop.parameters());
			const repeatCode = codeIn(await shop.run(shop.parameters()));
			const { now } = Date;
			jest.spyOn(Date, 'now').mockImplementation(() => now() + days * 86_400_000);

			const run = await shop.run(shop.parameters(undefined, { options: { repeatCode } }));
			jest.restoreAllMocks();

			expect([run.status, shop.charges]).toEqual([status, charges]);
		});

		test('several codes may stand in the field, in any case, with or without the dash', async () => {
			shop.fault('drop');
			shop.fault('drop');
			await shop.run(shop.parameters());
			await shop.run(shop.parameters(undefined, OTHER_CUSTOMER));
			const codes = [
				codeIn(await shop.run(shop.parameters())),
				codeIn(await shop.run(shop.parameters(undefined, OTHER_CUSTOMER))),
			];
			const options = { repeatCode: codes.join(', ').toLowerCase().replaceAll('-', '') };
			await shop.run(shop.parameters(undefined, { options }));
			await shop.run(shop.parameters(undefined, { ...OTHER_CUSTOMER, options }));

			expect(shop.charges).toBe(2);
		});

		test('a code that is given without need changes nothing', async () => {
			const options = { repeatCode: 'ABCD-2345' };
			await shop.run(shop.parameters('order-1', { options }));
			await shop.run(shop.parameters('order-1', { options }));

			expect(shop.charges).toBe(1);
		});
	});

	describe('a code allows what its refusal told, and nothing else:', () => {
		const FIFTY = { additionalFields: { amount: '50' } };
		const asked = (order?: string, more: INodeParameters = {}) => shop.parameters(order, more);
		const coded = (repeatCode: string) => ({ options: { repeatCode } });

		test("an order of n8n's database, behind a doubt of this process", async () => {
			await shop.run(asked('order-2'));
			const worker = { process: NodeProcess.fresh() };
			shop.fault('drop');
			await shop.run(asked(), worker);
			const first = await shop.run(asked('order-2'), worker);
			const second = await shop.run(asked('order-2', coded(codeIn(first))), worker);

			expect(shop.charges).toBe(1);
			expect(errorOf(first)).not.toContain('order-2');
			expect(errorOf(second)).toContain(
				'Also: A customer may already have been charged for order "order-2"',
			);
			await shop.run(asked('order-2', coded(codeIn(second))), worker);
			expect(shop.charges).toBe(2);
		});

		test('a doubt that began after the code was shown', async () => {
			shop.fault('drop');
			await shop.run(asked('order-2', FIFTY));
			const before = await shop.run(asked('order-2'));
			shop.fault('lose');
			await shop.run(asked('order-1'));
			const refused = await shop.run(asked('order-2', coded(codeIn(before))));

			expect(refused.node?.error?.message).toContain('for order "order-2"');
			expect(errorOf(refused)).toMatch(
				/Also: The customer may already have been charged for order "order-1".* Details: .*39,80/,
			);
			expect(shop.charges).toBe(1);
			await shop.run(asked('order-2', coded(codeIn(refused))));
			expect(shop.charges).toBe(2);
		});

		test('a doubt of another worker, in a Retry with another amount', async () => {
			const worker = { process: NodeProcess.fresh() };
			shop.fault('drop');
			const failed = await shop.run(asked(), worker);
			shop.fault('lose');
			await shop.run(asked(undefined, FIFTY));
			const retry = async (options = {}) =>
				await shop.retry(asked(undefined, { ...FIFTY, ...options }), failed, worker);
			const first = await retry();
			const second = await retry(coded(codeIn(first)));

			expect(errorOf(first)).not.toContain('Also: ');
			expect(errorOf(second)).toMatch(/Also: The customer .* Details: .*50,00/);
			expect(shop.charges).toBe(1);
			await retry(coded(codeIn(second)));
			expect(shop.charges).toBe(2);
		});
	});

	describe('the same customer presses twice', () => {
		test('the first is waited for, and the second is sent like any other', async () => {
			shop.account.fault('charge', { kind: 'delay', ms: 80 });
			const runs = await Promise.all([shop.run(shop.parameters()), shop.run(shop.parameters())]);

			expect(runs.map(({ status }) => status)).toEqual(['success', 'success']);
			expect(shop.charges).toBe(2);
		});

		test('the second is refused if the outcome of the first is unknown', async () => {
			shop.fault('lose');
			const runs = await Promise.all([shop.run(shop.parameters()), shop.run(shop.parameters())]);

			expect(runs.map(({ status }) => status)).toEqual(['error', 'error']);
			expect(runs.map(errorOf).join()).toContain(REFUSED);
			expect(shop.charges).toBe(1);
		});

		test('in another process it is refused, and the error gives both reasons', async () => {
			shop.account.fault('charge', { kind: 'delay', ms: 300 });
			const first = shop.run(shop.parameters());
			while (shop.posts < 1) await pause(5);
			const second = await shop.run(shop.parameters(), { process: NodeProcess.fresh() });

			expect(errorOf(second)).toContain(
				'n8n was restarted or this package was updated since, another process sent it or is sending it',
			);
			expect(errorOf(second)).toContain('Wait a few minutes, then look for the charge');
			expect((await first).status).toBe('success');
			expect(shop.charges).toBe(1);
		});

		test('cancelling an execution ends its wait for the first', async () => {
			shop.account.fault('charge', { kind: 'delay', ms: 1_000 });
			const first = shop.run(shop.parameters());
			while (shop.posts < 1) await pause(5);
			const canceling = new AbortController();
			const startedAt = Date.now();
			setTimeout(() => canceling.abort(), 50);
			await shop.run(shop.parameters(), { signal: canceling.signal });

			expect(Date.now() - startedAt).toBeLessThan(600);
			await first;
			expect(shop.charges).toBe(1);
		});
	});

	test('cancelling stops the wait for a rate limit at once, and leaves no doubt', async () => {
		shop.account.fault('charge', { kind: 'retryAfter', seconds: 60 }, 'always');
		const canceling = new AbortController();
		const running = shop.run(shop.parameters(), { signal: canceling.signal });
		const answered = (): boolean =>
			shop.account.sandbox.requests.some(({ status }) => status === 429);
		while (!answered()) await pause(5);
		// If it is cancelled before the answer arrives, the outcome of the charge is unknown.
		await pause(100);
		const canceledAt = Date.now();
		canceling.abort();
		const run = await running;

		expect(run.node?.error?.message).toBe('The execution was canceled');
		expect(Date.now() - canceledAt).toBeLessThan(1_000);
		expect(shop.posts).toBe(1);
		shop.account.reset();
		expect((await shop.run(shop.parameters())).status).toBe('success');
	});
});
