import { setTimeout as pause } from 'node:timers/promises';
import type { INodeParameters } from 'n8n-workflow';
import { errorIn, openAccount, useLimits } from '../../helpers/account';
import {
	type Ask,
	codeIn,
	errorOf,
	MAYBE,
	otherProcess,
	useShop,
	VOID,
} from '../../helpers/charging';

const ORDER = { order: 'order-1' };
const OTHER_CUSTOMER = { customerDocument: '111.444.777-35' };

describe('Order Reference', () => {
	const limit = useLimits();
	const shop = useShop();

	const afterRestart = async (ask: Ask) => await shop.ask({ ...ask, ...otherProcess() });

	test('a repeat returns the existing transaction, and says so', async () => {
		const first = await shop.ask(ORDER);
		const second = await shop.ask(ORDER);

		expect(second.json[0]?.hash).toBe(first.json[0]?.hash);
		expect(shop.charges).toBe(1);
		expect(second.hints).toEqual([
			{
				message: `The customer was already charged. Returning transaction ${shop.hashes[0]}.`,
				location: 'outputPane',
			},
		]);
	});

	test('a repeat that may not read the transaction says that it exists, not that it was refused', async () => {
		await shop.ask(ORDER);
		const body = { message: 'Not now' };
		shop.account.fault('read', { kind: 'status', status: 403, body });

		const { json } = await shop.ask({ ...ORDER, continueOnFail: true });

		expect(errorIn(json[0])).toMatchObject({
			message: `The customer was already charged, but transaction ${shop.hashes[0]} could not be read`,
			outcome: 'unknown',
			status: 403,
			messages: ['Not now'],
		});
		expect(shop.posts).toBe(1);
	});

	test('a repeat whose read gets no answer says that the transaction exists', async () => {
		limit({ maxTries: 1 });
		await shop.ask(ORDER);
		shop.account.fault('read', { kind: 'resetBeforeProcessing' });

		expect(errorOf(await shop.ask(ORDER))).toBe(
			`The customer was already charged, but transaction ${shop.hashes[0]} could not be read\nThe service did not answer, and nothing was sent. Continue with it: read it with Transaction > Get when the service answers again.`,
		);
	});

	test('a repeat that is canceled during its read says that it was canceled', async () => {
		await shop.ask(ORDER);
		shop.account.fault('read', { kind: 'delay', ms: 1_000 });
		const repeat = await shop.ask({ ...ORDER, signal: AbortSignal.timeout(100) });

		expect(repeat.node?.error?.message).toBe('The execution was canceled');
	});

	test.each([
		{ kind: 'status', status: 404, body: { message: 'Not found' } } as const,
		{ kind: 'status', status: 400, body: {} } as const,
		{ kind: 'status', status: 410, body: {} } as const,
		{ kind: 'status', status: 422, body: {} } as const,
		{ kind: 'successFalse' } as const,
	])(
		'an order whose transaction the service no longer returns ($kind $status) is refused until its code is entered',
		async (gone) => {
			await shop.ask(ORDER);
			await pause(20 * 60_000);
			shop.account.fault('read', gone, 2);
			const refused = await shop.ask(ORDER);

			expect(errorOf(refused)).toContain(
				`It was charged as transaction ${shop.hashes[0]}, but the service does not return that transaction now.`,
			);
			shop.account.fault('read', gone, 2);
			const allowed = await shop.ask({ ...ORDER, code: codeIn(refused) });
			expect([allowed.json[0]?.hash, shop.charges]).toEqual([shop.hashes[1], 2]);
		},
	);

	test('an order whose transaction cannot be read yet is read again, then refused without a code', async () => {
		const missing = { kind: 'status', status: 404, body: { message: 'Not found' } } as const;
		await shop.ask(ORDER);
		shop.account.fault('read', { ...missing }, 2);
		const given = await shop.charge(ORDER);
		shop.account.fault('read', { ...missing }, 8);
		const refused = await shop.ask(ORDER);

		expect(given.json[0]?.hash).toBe(shop.hashes[0]);
		expect(errorOf(refused)).toBe(
			`The customer was already charged, but transaction ${shop.hashes[0]} could not be read\nThe service said: Not found.\nThe service answered with status 404, and nothing was sent. Continue with it: read it with Transaction > Get in a few minutes.`,
		);
		shop.account.sandbox.clearFaults();
		expect((await shop.charge(ORDER)).json[0]?.hash).toBe(shop.hashes[0]);
		expect(shop.charges).toBe(1);
	});

	test('an order in doubt is refused to another customer without its data, and the code charges that customer', async () => {
		shop.fault('loseAnswer');
		await shop.ask(ORDER);
		const refused = await shop.ask({ ...ORDER, more: OTHER_CUSTOMER });

		expect(errorOf(refused)).toContain(
			`A customer ${MAYBE} for order "order-1", so nothing was sent`,
		);
		expect(errorOf(refused)).toMatch(
			/It may have been for a different customer or amount\. Asked for now: .*7735\./,
		);
		expect(errorOf(refused)).not.toContain('4725');
		expect(shop.posts).toBe(1);
		await shop.charge({ ...ORDER, more: OTHER_CUSTOMER, code: codeIn(refused) });
	});

	test('the error names the order of the charge in doubt if the process knows it', async () => {
		shop.fault('loseAnswer');
		await shop.ask(ORDER);
		const other = await shop.ask({ order: 'order-2' });
		const restarted = await afterRestart({ order: 'order-2' });

		expect(other.node?.error?.message).toBe(
			`The customer ${MAYBE} for order "order-1", so nothing was sent`,
		);
		expect(restarted.node?.error?.message).toBe(`The customer ${MAYBE}, so nothing was sent`);
		// The latest code that was shown holds, in any process.
		await shop.charge({ order: 'order-2', code: codeIn(restarted) });
	});

	test('after a restart the error keeps a doubt and an order of two customers apart', async () => {
		shop.fault('loseAnswer');
		await shop.ask();
		await shop.ask({ ...ORDER, more: OTHER_CUSTOMER });
		const refused = await afterRestart(ORDER);

		expect(refused.node?.error?.message).toBe(`The customer ${MAYBE}, so nothing was sent`);
		expect(errorOf(refused)).toContain(
			`Also: A customer ${MAYBE} for order "order-1", so nothing was sent.`,
		);
	});

	test('a code is accepted after a restart for an order that a Retry added, and whose charges expired', async () => {
		shop.fault('refuse', 1);
		const without = await shop.ask({ items: [{}, {}] });
		await shop.latestBecomes('expired');
		await shop.ask({ ...ORDER, retrying: without });
		await shop.latestBecomes('expired');
		await shop.ask(ORDER);
		const restarted = { ...ORDER, ...otherProcess() };

		const code = codeIn(await shop.ask(restarted));
		expect((await shop.ask({ ...restarted, code })).status).toBe('success');
	});

	test('a long reference is shortened in errors', async () => {
		shop.fault('loseAnswer');
		const order = `order-${'9'.repeat(94)}`;
		await shop.ask({ order });
		const doubted = await shop.ask({ order });

		expect(doubted.node?.error?.message).toBe(
			`The customer ${MAYBE} for order "${order.slice(0, 60)}...", so nothing was sent`,
		);
	});

	test('the reference is not sent to the service', async () => {
		await shop.ask({ order: 'order-secret-name' });

		expect(JSON.stringify(shop.account.sandbox.requests)).not.toContain('order-secret-name');
	});

	test('after a restart a repeat is refused, even of a manual run, until its code is entered, which works once', async () => {
		await shop.ask({ ...ORDER, mode: 'manual' });
		const second = await afterRestart(ORDER);

		expect(second.node?.error?.message).toBe(
			`A customer ${MAYBE} for order "order-1", so nothing was sent`,
		);
		expect(errorOf(second)).toContain('An earlier attempt is on record, but its result is not');
		expect(errorOf(second)).toContain('It may have been for a different customer or amount.');
		expect(shop.posts).toBe(1);

		const other = await afterRestart({ ...ORDER, more: OTHER_CUSTOMER });
		const allowed = { ...ORDER, code: codeIn(second) };
		expect(codeIn(other)).not.toBe(allowed.code);
		expect((await afterRestart(allowed)).status).toBe('success');
		const third = await shop.refused({ ...allowed, ...otherProcess() });
		expect(codeIn(third)).not.toBe(allowed.code);
		expect(shop.charges).toBe(2);
	});

	test('simultaneous executions and their items wait for the first charge and return its transaction', async () => {
		shop.account.fault('charge', { kind: 'delay', ms: 50 }, 'always');
		const runs = await Promise.all(
			[1, 2, 3].map(async () => await shop.ask({ ...ORDER, items: [{}, {}] })),
		);

		expect(shop.charges).toBe(1);
		expect(runs.flatMap(({ json }) => json.map(({ hash }) => hash))).toEqual(
			Array(6).fill(shop.hashes[0]),
		);
	});

	test.each<[string, INodeParameters, boolean]>([
		['another customer is refused, and shows nothing of the first', OTHER_CUSTOMER, false],
		[
			'another amount is refused, and names the first',
			{ additionalFields: { amount: '9900' } },
			true,
		],
	])('a repeat for %s, whether the transaction can be read or not', async (_, more, isShown) => {
		await shop.ask(ORDER);
		const refusals = [await shop.ask({ ...ORDER, more })];
		shop.account.fault('read', { kind: 'status', status: 500 });
		refusals.push(await shop.ask({ ...ORDER, more }));

		for (const refused of refusals) {
			expect(refused.node?.error?.message).toMatch(/^Order Reference "order-1" already belongs to/);
			expect(errorOf(refused).includes(shop.hashes[0] ?? '')).toBe(isShown);
		}
		expect(shop.posts).toBe(1);
	});

	test('an order whose charge is refused at once can be charged again, even after a restart', async () => {
		shop.fault('void');
		const first = await shop.ask(ORDER);
		const second = await afterRestart(ORDER);

		expect(first.json[0]?.payment_status).toBe('refused');
		expect(second.json[0]?.payment_status).toBe('waiting_payment');
	});

	test.each(VOID)(
		'an order whose transaction is %s now is charged again once, even after refused tries',
		async (status) => {
			for (const refusals of [0, 1, 2]) {
				const made = await shop.charge(ORDER);
				const again = await shop.charge(ORDER);
				expect(again.json[0]?.hash).toBe(made.json[0]?.hash);
				await shop.latestBecomes(status);
				for (let nth = 0; nth < refusals; nth++) {
					shop.fault('refuse');
					expect(errorOf(await shop.ask(ORDER))).toContain('(422)');
				}
			}
			await shop.charge(ORDER);
			expect(shop.charges).toBe(4);
		},
	);

	test('a reference of 10,000 characters is refused', async () => {
		const failed = await shop.ask({ order: 'x'.repeat(10_000) });

		expect(failed.node?.error?.message).toBe(
			'Order Reference must have at most 255 characters; this one has 10000',
		);
		expect(shop.posts).toBe(0);
	});

	test.each([
		['two empty fields are two orders', '', '', 2],
		['two blank fields are two orders', ' \t ', ' \t ', 2],
		['invisible blanks are two orders', '\u200b\u00a0\ufeff', '\u200b\u00a0\ufeff', 2],
		['upper and lower case are two orders', 'pedido', 'PEDIDO', 2],
		[
			'two Unicode forms are one order',
			'pedido-é'.normalize('NFC'),
			'pedido-é'.normalize('NFD'),
			1,
		],
		['a number, even 0, and its digits are one order', '={{ 0 }}', '0', 1],
	])('%s', async (_what, one, other, charges) => {
		await shop.charge({ order: one });
		await shop.charge({ order: other });

		expect(shop.charges).toBe(charges);
	});

	test('a charged order is returned with another Base URL of the account', async () => {
		await shop.charge(ORDER);
		await shop.charge({ ...ORDER, credentials: shop.account.credentialsElsewhere() });

		expect(shop.charges).toBe(1);
	});

	test('an order whose price has changed names its charge, with another Base URL, too', async () => {
		await shop.charge(ORDER);
		const credentials = shop.account.credentialsElsewhere();
		const more = { additionalFields: { amount: '50' } };
		const refused = await shop.ask({ ...ORDER, more, credentials });
		await shop.latestBecomes('expired');
		await shop.charge({ ...ORDER, more, credentials });

		expect(errorOf(refused)).toContain(`The existing transaction is ${shop.hashes[0]} (`);
		expect(shop.charges).toBe(2);
	});

	test('a failed read with another Base URL does not say that the charge is of another account', async () => {
		await shop.charge(ORDER);
		shop.account.fault('read', { kind: 'status', status: 500 });
		const refused = await shop.ask({
			...ORDER,
			credentials: shop.account.credentialsElsewhere(),
		});

		expect(errorOf(refused)).toContain('could not be read');
		expect(errorOf(refused)).not.toContain('another token');
	});

	test('a charged order is refused in another account, where another reference is charged', async () => {
		await shop.charge(ORDER);
		const { sandbox, credentials } = await openAccount();
		const refused = await shop.ask({ ...ORDER, credentials });
		await shop.charge({ order: 'order-2', credentials });
		await sandbox.close();

		expect(errorOf(refused)).toContain(
			'The customer was already charged with another token or Base URL',
		);
		expect(errorOf(refused)).toContain('with this item alone and another Order Reference');
		expect(sandbox.charges()).toBe(1);
	});

	test('the number of another customer’s order, used again in another account, does not show that charge', async () => {
		await shop.charge(ORDER);
		const { sandbox, credentials } = await openAccount();
		const refused = await shop.ask({ ...ORDER, more: OTHER_CUSTOMER, credentials });
		await sandbox.close();

		expect(errorOf(refused)).toContain('already belongs to a different customer');
		expect(errorOf(refused)).not.toContain(shop.hashes[0]);
	});

	test('the number of another customer’s order, used again when its charge is gone, does not show that charge', async () => {
		await shop.charge(ORDER);
		await pause(3_600_000);
		shop.account.fault('read', { kind: 'status', status: 404 });
		const refused = await shop.ask({ ...ORDER, more: OTHER_CUSTOMER });

		expect(errorOf(refused)).toContain('It was charged as a transaction, but');
		expect(errorOf(refused)).not.toContain(shop.hashes[0]);
	});

	test('two items of one order with different amounts are refused without the advice to cancel a charge', async () => {
		const more = { additionalFields: { amount: '={{ 50 + $json.n }}' } };
		const refused = await shop.ask({ items: [{ n: 0 }, { n: 1 }], order: 'order-1', more });

		expect(shop.posts).toBe(0);
		expect(errorOf(refused)).not.toContain('cancel its earlier charge');
	});

	test('a repeat at another price has the outcome unknown: for other outcomes the recipes say "Nothing was charged"', async () => {
		await shop.charge({ order: 'order-1' });
		const more = { additionalFields: { amount: '50' } };
		const refused = await shop.ask({ order: 'order-1', more, continueOnFail: true });

		expect(errorIn(refused.json[0]).outcome).not.toBe('notSent');
	});
});
