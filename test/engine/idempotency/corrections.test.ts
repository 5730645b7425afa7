import { setTimeout as pause } from 'node:timers/promises';
import { codeIn, customers, errorOf, OWN_CUSTOMER, useShop } from '../../helpers/charging';
import { callTool } from '../../helpers/tool';

describe('The error tells whoever stops or corrects a charge how to go on:', () => {
	const shop = useShop();

	const FULL_PRICE = { additionalFields: { amount: '97' } };
	const TYPO = { additionalFields: { amount: '9,70' } };

	test('whoever stops a slow charge and runs it again at once is told to wait before entering the code', async () => {
		shop.account.fault('charge', { kind: 'delay', ms: 3_000 });
		const canceling = new AbortController();
		const first = shop.ask({ mode: 'manual', signal: canceling.signal });
		while (shop.posts < 1) await pause(5);
		await pause(50);
		canceling.abort();
		await first;
		const again = await shop.ask({ mode: 'manual' });

		// The service makes the first charge later, so the dashboard does not show it yet, and the code charges twice.
		expect(shop.charges).toBe(0);
		expect(codeIn(again)).not.toBe('');
		expect(errorOf(again)).toContain('Wait a few minutes, then look');
	});

	test('a price that was typed wrong can be corrected under its reference, and the error says how', async () => {
		await shop.charge({ order: 'order-1', more: TYPO });
		const refused = await shop.ask({ order: 'order-1', more: FULL_PRICE });
		await shop.latestBecomes('canceled');
		await shop.charge({ order: 'order-1', more: FULL_PRICE });

		expect(errorOf(refused)).toMatch(/cancel/i);
	});

	test('a price that was typed wrong can be corrected in a Retry, and the error says how', async () => {
		const ask = { items: customers(2) };
		shop.fault('refuse', 1);
		const retrying = await shop.ask({ ...ask, more: { ...OWN_CUSTOMER, ...TYPO } });
		const corrected = { ...ask, more: { ...OWN_CUSTOMER, ...FULL_PRICE }, retrying };
		const refused = await shop.ask(corrected);
		await shop.latestBecomes('canceled');
		await shop.charge(corrected);

		expect(errorOf(refused)).toMatch(/cancel/i);
	});

	test('a customer corrects the e-mail in a chat, and a person is told how to charge the order', async () => {
		const call = async (customerEmail: string) =>
			await callTool(shop.parameters('chat-1 1 offer', { customerEmail }), [{}], {
				credentials: shop.account.credentials,
				workflowId: 'chat',
			});
		await call('maria@gmial.com');
		const { errors, outcome } = await call('maria@gmail.com');
		await shop.latestBecomes('canceled');
		const again = await call('maria@gmail.com');

		expect(again.errors).toEqual([]);
		const told = [...errors, ...outcome.logs.map(({ text }) => text)].join('\n');
		expect(told).toMatch(/cancel it in the service/);
	});
});
