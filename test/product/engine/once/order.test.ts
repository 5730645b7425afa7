import type { INodeParameters } from 'n8n-workflow';
import { type NodeOutcome, NodeProcess, processedItems, runNode } from '../harness';
import { errorIn, openAccount, pixParameters, useLimits } from '../support/account';
import { codeIn, errorOf, useShop } from '../support/charging';

describe('Order Reference', () => {
	const limit = useLimits();
	const shop = useShop();

	const afterRestart = async (parameters: INodeParameters): Promise<NodeOutcome> =>
		await shop.run(parameters, { process: NodeProcess.fresh() });

	test('a repeat returns the existing transaction, and says so', async () => {
		const first = await shop.run(shop.parameters('order-1'));
		const second = await shop.run(shop.parameters('order-1'));

		expect(second.json[0]?.hash).toBe(first.json[0]?.hash);
		expect(shop.charges).toBe(1);
		expect(second.hints).toEqual([
			{
				message: `The customer was already charged. Returning transaction ${shop.hashes[0]}.`,
				location: 'outputPane',
			},
		]);
	});

	test.each([403, 429])(
		'a repeat whose existing transaction is answered %i says that it exists, and never "refused"',
		async (status) => {
			limit({ maxTries: 1, maxTotalMs: 0 });
			const parameters = shop.parameters('order-1');
			await shop.run(parameters);
			const body = { message: 'Not now' };
			shop.account.fault('read', { kind: 'status', status, body }, 'always');

			const { json } = await shop.run(parameters, { continueOnFail: true });

			expect(errorIn(json[0])).toMatchObject({
				message: `The customer was already charged, but transaction ${shop.hashes[0]} could not be read`,
				outcome: 'unknown',
				status,
				messages: ['Not now'],
			});
			expect(shop.posts).toBe(1);
		},
	);

	test('one whose transaction the service no longer has is refused, until its code is given', async () => {
		await shop.run(shop.parameters('order-1'));
		const body = { message: 'Not found' };
		shop.account.fault('read', { kind: 'status', status: 404, body });
		const refused = await shop.run(shop.parameters('order-1'));

		expect(errorOf(refused)).toContain(
			`It was charged as transaction ${shop.hashes[0]}, but the service has no such transaction now (404).`,
		);
		shop.account.fault('read', { kind: 'status', status: 404, body });
		const options = { repeatCode: codeIn(refused) };
		const allowed = await shop.run(shop.parameters('order-1', { options }));
		expect([allowed.json[0]?.hash, shop.charges]).toEqual([shop.hashes[1], 2]);
	});

	test('another customer under the reference of an order in doubt learns nothing of it; the code is for this one', async () => {
		shop.fault('lose');
		await shop.run(shop.parameters('order-1'));
		const other = (options = {}) =>
			shop.parameters('order-1', { customerDocument: '111.444.777-35', options });
		const refused = await shop.run(other());

		expect(errorOf(refused)).toContain(
			'A customer may already have been charged for order "order-1", so nothing was sent',
		);
		expect(errorOf(refused)).toMatch(/It may have been for other data\. Asked for now: .*7735\./);
		expect(errorOf(refused)).not.toContain('4725');
		expect(shop.posts).toBe(1);
		await shop.run(other({ repeatCode: codeIn(refused) }));
		expect(shop.posts).toBe(2);
	});

	test('a doubt about another order, or about none, is told as that', async () => {
		shop.fault('lose');
		await shop.run(shop.parameters('order-1'));
		const other = await shop.run(shop.parameters('order-2'));
		const restarted = await afterRestart(shop.parameters('order-2'));

		expect(other.node?.error?.message).toBe(
			'The customer may already have been charged for order "order-1", so nothing was sent',
		);
		expect(restarted.node?.error?.message).toBe(
			'The customer may already have been charged, so nothing was sent',
		);
		// The latest code that was shown holds, in any process.
		const options = { repeatCode: `${codeIn(other)}, ${codeIn(restarted)}` };
		expect((await shop.run(shop.parameters('order-2', { options }))).status).toBe('success');
	});

	test('a doubt and an order of two customers are not told as one after a restart', async () => {
		shop.fault('lose');
		await shop.run(shop.parameters());
		await shop.run(shop.parameters('order-1', { customerDocument: '111.444.777-35' }));
		const refused = await afterRestart(shop.parameters('order-1'));

		expect(refused.node?.error?.message).toBe(
			'The customer may already have been charged, so nothing was sent',
		);
		expect(errorOf(refused)).toContain(
			'Also: A customer may already have been charged for order "order-1", so nothing was sent.',
		);
	});

	test('an order that began in the place of a void charge gets a code that holds', async () => {
		shop.fault('refuse', 1);
		const without = await shop.run(shop.parameters(), { items: [{}, {}] });
		const order = (options = {}) => shop.parameters('order-1', { options });
		const expire = async (nth: number) =>
			await shop.account.sandbox.setStatus(shop.hashes[nth] ?? '', 'expired');
		await expire(0);
		await shop.retry(order(), without);
		await expire(1);
		await shop.run(order());
		const restarted = NodeProcess.fresh();
		const refused = await shop.run(order(), { process: restarted });
		const repeatCode = codeIn(refused);

		expect((await shop.run(order({ repeatCode }), { process: restarted })).status).toBe('success');
	});

	test('a price that is refused keeps no void order from being charged with the right one', async () => {
		const { cart } = pixParameters(shop.account.sandbox) as { cart: { items: object[] } };
		const priced = (price: string, options = {}) => {
			const items = cart.items.map((item) => ({ ...item, price }));
			return shop.parameters('order-1', { cart: { items }, options });
		};
		const cents = shop.account.sandbox.products[0]?.offers[0]?.price ?? 0;
		const hundredfold = String(cents);
		await shop.run(priced(hundredfold));
		await shop.account.sandbox.setStatus(shop.hashes[0] ?? '', 'expired');
		await shop.account.run({ resource: 'product', operation: 'getAll', returnAll: true });
		const refused = await shop.run(priced(hundredfold));
		const right = await shop.run(priced((cents / 100).toFixed(2).replace('.', ',')));

		expect(errorOf(refused)).toContain('the catalog last said');
		expect([right.status, shop.charges]).toEqual(['success', 2]);
	});

	test('a long reference is shortened in errors', async () => {
		shop.fault('lose');
		const reference = `order-${'9'.repeat(94)}`;
		await shop.run(shop.parameters(reference));
		const doubted = await shop.run(shop.parameters(reference));

		expect(doubted.node?.error?.message).toBe(
			`The customer may already have been charged for order "${reference.slice(0, 60)}...", so nothing was sent`,
		);
	});

	test('a repeat that the service does not answer says the same', async () => {
		limit({ maxTries: 1 });
		const parameters = shop.parameters('order-1');
		await shop.run(parameters);
		shop.account.fault('read', { kind: 'resetBeforeProcessing' }, 'always');

		const repeat = await shop.run(parameters);

		expect(errorOf(repeat)).toBe(
			`The customer was already charged, but transaction ${shop.hashes[0]} could not be read\nThe service did not answer, and nothing was sent. Read it with Transaction > Get when the service answers again.`,
		);
	});

	test('a repeat that is canceled while the service is asked says that', async () => {
		await shop.run(shop.parameters('order-1'));
		shop.account.fault('read', { kind: 'delay', ms: 1_000 });
		const signal = AbortSignal.timeout(100);
		const repeat = await shop.run(shop.parameters('order-1'), { signal });

		expect(repeat.node?.error?.message).toBe('The execution was canceled');
	});

	test('it is not sent to the service', async () => {
		await shop.run(shop.parameters('order-secret-name'));

		expect(JSON.stringify(shop.account.sandbox.requests)).not.toContain('order-secret-name');
	});

	test('after a restart a repeat is refused, until its code is given once', async () => {
		await shop.run(shop.parameters('order-1'));
		const second = await afterRestart(shop.parameters('order-1'));

		expect(second.node?.error?.message).toBe(
			'A customer may already have been charged for order "order-1", so nothing was sent',
		);
		expect(errorOf(second)).toContain('n8n has a record of an attempt, but not of its outcome');
		expect(errorOf(second)).toContain('It may have been for other data.');
		expect(shop.posts).toBe(1);

		const repeatCode = codeIn(second);
		const allowed = shop.parameters('order-1', { options: { repeatCode } });
		expect((await afterRestart(allowed)).status).toBe('success');
		const third = await afterRestart(allowed);
		expect(third.status).toBe('error');
		expect(codeIn(third)).not.toBe(repeatCode);
		expect(shop.charges).toBe(2);
	});

	test('a worker refuses what another worker has charged', async () => {
		const workers = [NodeProcess.fresh(), NodeProcess.fresh()];
		for (let nth = 0; nth < 4; nth++) {
			const process = workers[nth % 2] ?? NodeProcess.fresh();
			const { json } = await shop.run(shop.parameters('order-1'), { process });
			expect(json.map(({ hash }) => hash)).toEqual(nth % 2 === 0 ? [shop.hashes[0]] : []);
		}

		expect(shop.charges).toBe(1);
	});

	test('the same reference twice in one run is one charge', async () => {
		const { json } = await shop.run(shop.parameters('order-1'), { items: [{}, {}] });

		expect(json[0]?.hash).toBe(json[1]?.hash);
		expect(shop.charges).toBe(1);
	});

	test('simultaneous executions wait for the first, and give its transaction', async () => {
		shop.account.fault('charge', { kind: 'delay', ms: 50 }, 'always');
		const runs = await Promise.all(
			Array.from({ length: 5 }, async () => await shop.run(shop.parameters('order-1'))),
		);

		expect(shop.charges).toBe(1);
		expect(runs.map(({ json }) => json[0]?.hash)).toEqual(Array(5).fill(shop.hashes[0]));
	});

	test.each<[string, () => INodeParameters]>([
		['another customer', () => ({ customerDocument: '111.444.777-35' })],
		['another amount', () => ({ additionalFields: { amount: '9900' } })],
		[
			'another cart',
			() => {
				const { cart } = pixParameters(shop.account.sandbox) as { cart: { items: object[] } };
				return { cart: { items: cart.items.map((item) => ({ ...item, quantity: 7 })) } };
			},
		],
	])('for %s it is refused, and shows nothing of the first, readable or not', async (_, other) => {
		await shop.run(shop.parameters('order-1'));
		const refusals = [await shop.run(shop.parameters('order-1', other()))];
		shop.account.fault('read', { kind: 'status', status: 500 }, 'always');
		refusals.push(await shop.run(shop.parameters('order-1', other())));

		for (const refused of refusals) {
			expect(refused.node?.error?.message).toBe(
				'Order Reference "order-1" was used before for another customer, cart or amount',
			);
			expect(errorOf(refused)).not.toContain(shop.hashes[0]);
		}
		expect(shop.posts).toBe(1);
	});

	test('an order refused at once can be charged again, even after a restart', async () => {
		shop.account.fault('charge', { kind: 'refused' });
		const first = await shop.run(shop.parameters('order-1'));
		const second = await afterRestart(shop.parameters('order-1'));

		expect(first.json[0]?.payment_status).toBe('refused');
		expect(second.json[0]?.payment_status).toBe('waiting_payment');
	});

	test.each([['expired'], ['canceled'], ['refused']])(
		'one whose transaction is %s by now is charged again',
		async (status) => {
			const first = await shop.run(shop.parameters('order-1'));
			await shop.account.sandbox.setStatus(String(first.json[0]?.hash), status);
			const second = await shop.run(shop.parameters('order-1'));
			const third = await shop.run(shop.parameters('order-1'));

			expect(second.json[0]?.hash).not.toBe(first.json[0]?.hash);
			expect(third.json[0]?.hash).toBe(second.json[0]?.hash);
			expect(shop.charges).toBe(2);
		},
	);

	test('an expired one is charged again, also after an earlier try at that was refused', async () => {
		for (const refusals of [0, 1, 2]) {
			const made = await shop.run(shop.parameters('order-1'));
			expect(errorOf(made)).toBe('\n');
			await shop.account.sandbox.setStatus(String(made.json[0]?.hash), 'expired');
			for (let nth = 0; nth < refusals; nth++) {
				shop.fault('refuse');
				expect(errorOf(await shop.run(shop.parameters('order-1')))).toContain('(422)');
			}
		}
		expect((await shop.run(shop.parameters('order-1'))).status).toBe('success');
	});

	test('one that is paid is never charged again', async () => {
		const first = await shop.run(shop.parameters('order-1'));
		await shop.account.sandbox.setStatus(String(first.json[0]?.hash), 'paid');

		expect((await shop.run(shop.parameters('order-1'))).json[0]?.payment_status).toBe('paid');
		expect(shop.charges).toBe(1);
	});

	test.each(['', ' \t ', '\u200b\u00a0\ufeff'])(
		'an empty field (%j) is none',
		async (reference) => {
			await shop.run(shop.parameters(reference));
			await shop.run(shop.parameters(reference));

			expect(shop.charges).toBe(2);
		},
	);

	test('one of 10,000 characters is refused', async () => {
		const failed = await shop.run(shop.parameters('x'.repeat(10_000)));

		expect(failed.node?.error?.message).toBe(
			'Order Reference must have at most 255 characters; this one has 10000',
		);
		expect(shop.posts).toBe(0);
	});

	test('two Unicode forms of one text are one reference; upper and lower case are two', async () => {
		await shop.run(shop.parameters('pedido-é'.normalize('NFC')));
		await shop.run(shop.parameters('pedido-é'.normalize('NFD')));
		expect(shop.charges).toBe(1);

		await shop.run(shop.parameters('PEDIDO-é'));
		expect(shop.charges).toBe(2);
	});

	test('a number is its digits, even if it is 0', async () => {
		await shop.run(shop.parameters('={{ 0 }}'));
		await shop.run(shop.parameters('0'));

		expect(shop.charges).toBe(1);
	});

	test('another account has its own', async () => {
		await shop.run(shop.parameters('order-1'));
		const other = await openAccount();
		const run = await runNode(pixParameters(other.sandbox, { orderReference: 'order-1' }), {
			credentials: other.credentials,
			mode: 'trigger',
			workflowId: shop.workflowId,
		});
		await other.sandbox.close();

		expect(run.status).toBe('success');
		expect(run.hints).toEqual([]);
		expect(other.sandbox.charges()).toBe(1);
	});

	test('a manual run counts like any other', async () => {
		await shop.run(shop.parameters('order-1'), { mode: 'manual' });
		await shop.run(shop.parameters('order-1'));

		expect(shop.charges).toBe(1);
		expect(processedItems.size).toBeGreaterThan(0);
	});
});
