import { setTimeout as pause } from 'node:timers/promises';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { chargeFingerprint } from '../../../../nodes/DigitalSales/once/identity';

import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { queues } from '../../../../nodes/DigitalSales/shared/hold';
import { cpf } from '../../../support/charge';
import { NodeProcess, processedItems } from '../harness';
import { errorIn, openAccount, pixParameters } from '../support/account';
import { codeIn, errorOf, RETRY_ON_FAIL, useShop } from '../support/charging';
import { failEntries } from '../support/database';
import { callTool } from '../support/tool';

describe('Attacks on what is charged once', () => {
	const shop = useShop();
	afterEach(() => jest.restoreAllMocks());

	test('the next one waits, as documented, after a queued one was cancelled', async () => {
		shop.account.fault('charge', { kind: 'delay', ms: 600 });
		const a = shop.run(shop.parameters());
		while (shop.posts < 1) await pause(5);
		const canceling = new AbortController();
		const b = shop.run(shop.parameters(), { signal: canceling.signal });
		await pause(60);
		canceling.abort();
		await b;
		const c = await shop.run(shop.parameters());
		await a;

		expect(errorOf(c)).toBe('\n');
	});

	test('Retry with a new token in the credential charges nobody again', async () => {
		shop.fault('refuse', 1);
		const first = await shop.run(shop.parameters(), { items: [{}, {}] });
		expect(shop.charges).toBe(1);
		// The sandbox has one token, so the address changes here; both are parts of shop.account.key.
		const { digitalSalesApi: credential } = shop.account.credentials;
		const baseUrl = String(credential?.baseUrl).replace('127.0.0.1', 'localhost');
		expect(baseUrl).not.toBe(credential?.baseUrl);
		const retry = await shop.retry(shop.parameters(), first, {
			credentials: shop.account.credentialsWith({ baseUrl }),
		});

		expect([retry.status, shop.charges]).toEqual(['success', 2]);
	});

	test.each([
		[
			'another cart, which shows nothing of the first charge',
			{ additionalFields: { amount: '50' } },
		],
		['the same, which it cannot read', {}],
	])('Retry with another account charges nobody: for %s', async (_name, more) => {
		shop.fault('refuse', 1);
		const first = await shop.run(shop.parameters(), { items: [{}, {}] });
		const other = await openAccount();
		const { credentials } = other;
		const retry = await shop.retry(shop.parameters(undefined, more), first, { credentials });
		await other.sandbox.close();

		expect(retry.node?.error?.message).toBe(
			'The customer of item 1 was already charged with another token or Base URL, so nothing was sent',
		);
		expect(other.sandbox.charges()).toBe(0);
	});

	test('an item of On Error: Continue does not list the charges of other items', async () => {
		shop.fault('lose', 1);
		const customerDocument = '={{ $json.document }}';
		const items = [1, 2, 2].map((n) => ({ document: cpf(n) }));
		const { json } = await shop.run(shop.parameters(undefined, { customerDocument }), {
			items,
			continueOnFail: true,
		});

		expect(errorIn(json[2]).message).toContain('may already have been charged');
		expect(JSON.stringify(json[2])).not.toContain(shop.hashes[0]);
	});

	test.each([0, 1, 2, 4, 6, 8])(
		'a code that two processes are given %i turns apart lets one charge pass',
		async (turns) => {
			shop.fault('drop');
			await shop.run(shop.parameters('order-1'));
			const refused = await shop.run(shop.parameters('order-1'), { process: NodeProcess.fresh() });
			const allowed = shop.parameters('order-1', { options: { repeatCode: codeIn(refused) } });
			const processes = [NodeProcess.fresh(), NodeProcess.fresh()];
			const runs = await Promise.all(
				processes.map(async (process, nth) => {
					for (let turn = 0; turn < turns * nth; turn++) await new Promise(setImmediate);
					return await shop.run(allowed, { process });
				}),
			);

			expect([runs.map(({ status }) => status).sort(), shop.charges]).toEqual([
				['error', 'success'],
				1,
			]);
		},
	);

	test('a code left in the field does not count again, even if its use is forgotten', async () => {
		shop.fault('drop');
		await shop.run(shop.parameters());
		const refused = await shop.run(shop.parameters());
		const allowed = shop.parameters(undefined, { options: { repeatCode: codeIn(refused) } });
		expect((await shop.run(allowed)).status).toBe('success');
		// Two days, and a restart.
		const { now } = Date;
		jest.spyOn(Date, 'now').mockImplementation(() => now() + 2 * 86_400_000);
		const process = NodeProcess.fresh();
		shop.fault('lose');
		const unknown = await shop.run(allowed, { process });
		expect(unknown.status).toBe('error');
		expect(shop.charges).toBe(2);
		const again = await shop.run(allowed, { process });

		expect([again.status, shop.charges]).toEqual(['error', 2]);
	});

	test('a charge that was not sent since the database failed is not in doubt afterwards', async () => {
		failEntries(2, 3);
		const failed = await shop.run(shop.parameters('order-1'));
		expect(errorOf(failed)).toContain('so it was not sent');
		expect(errorOf(failed)).toContain('then run this again');
		const again = await shop.run(shop.parameters('order-1'));

		expect([errorOf(again), shop.posts]).toEqual(['\n', 1]);
	});

	test('if the database failed on, it is in doubt, and its code allows it', async () => {
		processedItems.failAfter = 1;
		await shop.run(shop.parameters('order-1'));
		processedItems.failAfter = Infinity;
		const refused = await shop.run(shop.parameters('order-1'));
		expect(errorOf(refused)).toContain('its database failed');
		const options = { repeatCode: codeIn(refused) };
		const allowed = await shop.run(shop.parameters('order-1', { options }));

		expect([errorOf(allowed), shop.posts]).toEqual(['\n', 1]);
	});

	test('a charge stands if the picture, the hint or Simplify fails after it', async () => {
		shop.account.fault('charge', {
			kind: 'patchBody',
			set: { payment_status: { a: 1 }, pix: 7, customer: [1] },
		});
		const run = await shop.run(shop.parameters('order-1', { simplify: true, qrCodeImage: true }), {
			settings: RETRY_ON_FAIL,
		});
		await shop.run(shop.parameters('order-1'));

		expect([run.status, shop.charges]).toEqual(['success', 1]);
	});

	test('the reference __proto__ is one like any other', async () => {
		await shop.run(shop.parameters('__proto__'));
		await shop.run(shop.parameters('__proto__'));

		expect(shop.charges).toBe(1);
	});

	test.each([
		['numbers as texts', { amount: 3980, cart: [{ offer_hash: 'a', price: '1990' }] }],
		['a document as a number', { amount: 3980, customer: { document: 52998224725 } }],
	])('fingerprints: %s', (_, body) => {
		const same = JSON.parse(
			JSON.stringify(body).replace('"1990"', '1990').replace('52998224725', '"52998224725"'),
		);
		expect(chargeFingerprint(body as never)).toBe(chargeFingerprint(same));
	});

	test.each([
		['names', { customer: { name: 'José Açaí' } }],
		['titles without an offer', { cart: ['Aç', 'Az'].map((title) => ({ title, price: 1 })) }],
	])('fingerprints: %s are the same however their accents are stored', (_, body) => {
		const stored = (form: string): string =>
			chargeFingerprint(JSON.parse(JSON.stringify(body).normalize(form)));
		const plain = JSON.parse(
			JSON.stringify(body)
				.normalize('NFD')
				.replace(/[\u0300-\u036f]/g, ''),
		);
		expect(stored('NFD')).toBe(stored('NFC'));
		expect(stored('NFC')).not.toBe(chargeFingerprint(plain));
	});

	test.each([
		['offers whose hashes differ in zeros', { offer_hash: '0123' }, { offer_hash: '123' }],
		['items named as another service wants it', { product_hash: 'a' }, { product_hash: 'b' }],
	])('fingerprints: %s are not one', (_name, one, other) => {
		const of = (item: IDataObject) =>
			chargeFingerprint({ amount: 1990, cart: [{ price: 1990, quantity: 1, ...item }] });
		expect(of(one)).not.toBe(of(other));
	});

	test('fingerprints: customers with a placeholder for a document are not one customer', () => {
		const of = (email: string) =>
			chargeFingerprint({ amount: 1, customer: { document: '00000000000', email } });
		expect(of('a@example.com')).not.toBe(of('b@example.com'));
	});

	test('nothing is left in the queues', async () => {
		await Promise.all([1, 2, 3].map(async () => await shop.run(shop.parameters('order-1'))));
		expect(queues.size).toBe(0);
	});
});

describe('Attacks on what a tool charges once', () => {
	const shop = useShop();

	const call = async (parameters: INodeParameters, workflowId = 'chat') =>
		await callTool(parameters, [{}], { credentials: shop.account.credentials, workflowId });

	test("an agent's order with a reference is one charge, even after 15 minutes", async () => {
		const parameters = pixParameters(shop.account.sandbox, { orderReference: 'order-1' });
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

	test('a call in the same execution is not given what came to nothing', async () => {
		shop.account.fault('charge', { kind: 'refused' });
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

		test('a code allows one more charge, once', async () => {
			shop.fault('lose');
			await call(parameters(), '');
			const refused = await call(parameters(), '');
			const [repeatCode] = /[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(refused.errors.join()) ?? [];
			const allowed = { ...parameters(), options: { repeatCode } };
			shop.fault('lose');
			await call(allowed, '');
			const again = await call(allowed, '');

			expect(again.errors.join()).toContain('may already have been charged');
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
