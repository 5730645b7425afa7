import type { INodeParameters } from 'n8n-workflow';
import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { openAccount, pixParameters } from '../support/account';
import { useShop } from '../support/charging';
import { callTool } from '../support/tool';

describe('Attacks on what a tool charges once', () => {
	const shop = useShop();

	const call = async (parameters: INodeParameters, workflowId = 'chat') =>
		await callTool(parameters, [{}], { credentials: shop.account.credentials, workflowId });

	test('two customers without a document of their own are not given one transaction', async () => {
		const of = (customerEmail: string) =>
			pixParameters(shop.account.sandbox, {
				customerDocument: '',
				customerEmail,
				customerPhone: '11912345678',
				additionalFields: { customFields: { customer: { document: '00000000000' } } },
			});
		const first = await call(of('a@example.com'));
		const second = await call(of('b@example.com'));

		expect([first.errors, second.errors]).toEqual([[], []]);
		expect(second.answers[0]?.[0]?.hash).not.toBe(first.answers[0]?.[0]?.hash);
	});

	test("an agent's order with a reference is one charge, even after 15 minutes", async () => {
		const parameters = pixParameters(shop.account.sandbox, {
			orderReference: 'order-1',
		});
		const { now } = clock;
		await call(parameters);
		clock.now = () => now() + 16 * 60_000;
		await call(parameters);
		clock.now = now;

		expect(shop.charges).toBe(1);
	});

	test('a call whose transaction is void by now is charged again, once', async () => {
		const parameters = pixParameters(shop.account.sandbox);
		const first = await call(parameters);
		await shop.account.sandbox.setStatus(String(first.answers[0]?.[0]?.hash), 'expired');
		const { outcome } = await call(parameters);
		await call(parameters);

		expect(shop.charges).toBe(2);
		expect(outcome.logs.map(({ text }) => text).join()).not.toContain('could not be written to');
	});

	test('a call whose transaction is void by now is not in doubt because its price was refused', async () => {
		const { cart } = pixParameters(shop.account.sandbox) as { cart: { items: object[] } };
		const cents = shop.account.sandbox.products[0]?.offers[0]?.price ?? 0;
		const items = cart.items.map((item) => ({ ...item, price: String(cents) }));
		const dear = (options = {}) =>
			pixParameters(shop.account.sandbox, { cart: { items }, options });
		const first = await call(dear());
		await shop.account.sandbox.setStatus(String(first.answers[0]?.[0]?.hash), 'expired');
		await shop.account.run({ resource: 'product', operation: 'getAll', returnAll: true });
		const refused = await call(dear());
		const allowed = await call(dear({ allowPriceMismatch: true }));

		expect(refused.errors.join()).toContain('the catalog last said');
		expect(allowed.errors).toEqual([]);
		expect(shop.charges).toBe(2);
	});

	test('a call in the same execution is not given what came to nothing', async () => {
		shop.account.sandbox.addFault({ endpoint: 'POST /transactions', kind: 'refused' });
		const parameters = pixParameters(shop.account.sandbox, { orderReference: 'order-1' });
		const { answers } = await callTool(parameters, [{}, {}], {
			credentials: shop.account.credentials,
			workflowId: 'chat',
		});

		expect(answers.map(([answer]) => answer?.payment_status)).toEqual([
			'refused',
			'waiting_payment',
		]);
		expect(shop.charges).toBe(2);
	});

	describe('without a workflow, as in an Agent of n8n, where there is no ledger', () => {
		const parameters = (): INodeParameters =>
			pixParameters(shop.account.sandbox, { orderReference: 'order-1' });

		test('an order whose transaction expired is charged again, once', async () => {
			const first = await call(parameters(), '');
			await shop.account.sandbox.setStatus(String(first.answers[0]?.[0]?.hash), 'expired');
			const second = await call(parameters(), '');
			const third = await call(parameters(), '');

			expect([...second.errors, ...third.errors]).toEqual([]);
			expect(third.answers).toMatchObject([[{ hash: shop.hashes[1] }]]);
			expect(shop.charges).toBe(2);
		});

		test('what the service refused is told, and can be charged', async () => {
			shop.fault('refuse');
			const refused = await call(parameters(), '');
			const second = await call(parameters(), '');

			expect(refused.errors.join()).toContain('did not accept the request (422)');
			expect(second.errors).toEqual([]);
			expect(shop.charges).toBe(1);
		});
	});

	test('another account is not given it', async () => {
		const other = await openAccount();
		await call(pixParameters(shop.account.sandbox));
		await callTool(pixParameters(other.sandbox), [{}], {
			credentials: other.credentials,
			workflowId: 'chat',
		});
		await other.sandbox.close();

		expect(other.sandbox.charges()).toBe(1);
	});
});
