import { setTimeout as pause } from 'node:timers/promises';
import type { INodeParameters } from 'n8n-workflow';
import { errorIn, openAccount, useLimits } from '../../helpers/account';
import {
	type Ask,
	decide,
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
				message: `Transaction ${shop.hashes[0]}: The customer was already charged. A new purchase needs its own reference.`,
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

	test('a Retry for another customer, on another worker, shows nothing of the charge that a decision has found', async () => {
		shop.fault('loseAnswer');
		const failed = await shop.ask(ORDER);
		const [hash = ''] = shop.hashes;
		await shop.charge({ ...ORDER, ...decide('order-1', hash) });
		const retry = await afterRestart({ ...ORDER, more: OTHER_CUSTOMER, retrying: failed });

		expect(errorOf(retry)).toContain('already belongs to a charge with another customer');
		expect(errorOf(retry)).not.toContain(hash);
		expect(errorOf(retry)).not.toContain('4725');
	});

	test('a repeat whose read gets no answer says that the transaction exists', async () => {
		limit({ maxTries: 1 });
		await shop.ask(ORDER);
		shop.account.fault('read', { kind: 'resetBeforeProcessing' });

		expect(errorOf(await shop.ask(ORDER))).toBe(
			`The customer was already charged, but transaction ${shop.hashes[0]} could not be read\nThe platform did not answer in time, or the connection broke, so this item was not sent. Read it with Transaction > Get when the platform answers again.`,
		);
	});

	test.each([
		{ kind: 'status', status: 404, body: { message: 'Not found' } } as const,
		{ kind: 'status', status: 400, body: {} } as const,
		{ kind: 'status', status: 410, body: {} } as const,
		{ kind: 'status', status: 422, body: {} } as const,
		{ kind: 'successFalse' } as const,
		{ kind: 'html', status: 404 } as const,
	])(
		'an order whose transaction the platform no longer returns ($kind $status) is refused until a person decides',
		async (gone) => {
			await shop.ask(ORDER);
			shop.account.fault('read', gone, 2);
			const refused = await shop.ask(ORDER);

			expect(errorOf(refused)).toContain(
				`It was charged as transaction ${shop.hashes[0]}, which the platform does not find now`,
			);
			const allowed = await shop.charge({ ...ORDER, ...decide('order-1') });
			expect([allowed.json[0]?.hash, shop.charges]).toEqual([shop.hashes[1], 2]);
			const other = await shop.charge({ ...ORDER, ...otherProcess() });
			expect(other.json[0]?.hash).toBe(shop.hashes[1]);
		},
	);

	test('an order in doubt is refused to another customer without its data, and a decision charges that customer', async () => {
		shop.fault('loseRequest');
		await shop.ask(ORDER);
		const refused = await shop.ask({ ...ORDER, more: OTHER_CUSTOMER });

		expect(errorOf(refused)).toContain(
			`The customer ${MAYBE} for order "order-1", so this item was not sent`,
		);
		expect(errorOf(refused)).toContain('It may have been for another customer, cart or amount');
		expect(errorOf(refused)).not.toContain('4725');
		await shop.charge({ ...ORDER, more: OTHER_CUSTOMER, ...decide('order-1') });
		expect(shop.charges).toBe(1);
	});

	test('the error names the order of the charge in doubt if the process knows it', async () => {
		shop.fault('loseAnswer');
		await shop.ask(ORDER);
		const other = await shop.ask({ order: 'order-2' });
		const restarted = await afterRestart({ order: 'order-2' });

		expect(other.node?.error?.message).toBe(
			`The customer ${MAYBE} for order "order-1", so this item was not sent`,
		);
		expect(restarted.node?.error?.message).toBe(`The customer ${MAYBE}, so this item was not sent`);
		for (const refused of [other, restarted]) {
			expect(errorOf(refused)).toContain('4. It is there, but for another order: decide for that');
		}
		await shop.charge({ ...ORDER, ...decide('order-1', shop.hashes[0]) });
		await shop.charge({ order: 'order-2' });
		expect(shop.charges).toBe(2);
	});

	test('the reference is not sent to the platform', async () => {
		await shop.ask({ order: 'order-secret-name' });

		expect(JSON.stringify(shop.account.sandbox.requests)).not.toContain('order-secret-name');
	});

	test('after a restart a repeat returns the charge, even of a manual run, and refuses other data', async () => {
		await shop.ask({ ...ORDER, mode: 'manual' });
		const second = await afterRestart(ORDER);
		const other = await afterRestart({ ...ORDER, more: OTHER_CUSTOMER });

		expect(second.json[0]).toMatchObject({ hash: shop.hashes[0], already_charged: true });
		expect(errorOf(other)).toContain('already belongs to a charge with another customer');
		expect(errorOf(other)).not.toContain(shop.hashes[0]);
		expect(shop.posts).toBe(1);
	});

	test.each(['h'.repeat(41), 'a.b'])(
		'after a restart a charge whose hash does not fit (%s) is in doubt until its hash is entered',
		async (hash) => {
			shop.account.fault('charge', { kind: 'patchBody', set: { hash } });
			await shop.ask(ORDER);
			await shop.refused({ ...ORDER, ...otherProcess() });
			await pause(5 * 60_000);
			const [known] = shop.hashes;
			await shop.charge({ ...ORDER, ...decide('order-1', known), ...otherProcess() });
			await shop.charge({ ...ORDER, ...otherProcess() });

			expect(shop.posts).toBe(1);
		},
	);

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
			{ additionalFields: { customFields: { amount: 990_000 } } },
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

	test.each([
		['two empty fields are two orders', '', '', 2],
		['two blank fields are two orders', ' \t ', ' \t ', 2],
		['invisible blanks are two orders', '\u200b\u00a0\ufeff', '\u200b\u00a0\ufeff', 2],
		['upper and lower case are one order', 'pedido', 'PEDIDO', 1],
		['a spreadsheet’s apostrophe is no part of it', "'1042", '1042', 1],
		['decimals of a spreadsheet are no part of it', '1042.0', '1042', 1],
		['an en dash and a hyphen are one order', '10–42', '10-42', 1],
		['1042.5 and 1042 are two orders', '1042.5', '1042', 2],
		['1.000 and 1 are two orders', '1.000', '1', 2],
		[
			'two Unicode forms are one order',
			'pedido-é'.normalize('NFC'),
			'pedido-é'.normalize('NFD'),
			1,
		],
		['a number, even 0, and its digits are one order', '={{ 0 }}', '0', 1],
		[
			'a CPF, a phone and an e-mail between commas are one order, however they are written',
			'529.982.247-25, (11) 91234-5678, Maria@Example.test, 2026-11-29',
			'52998224725,+55 11 91234-5678 , maria@example.test, 2026-11-29',
			1,
		],
		['a CNPJ with letters is one order', '12.abc.345/01de-35, 1', '12ABC34501DE35, 1', 1],
		['other signs tell orders apart', 'maria, 2026-1-12', 'maria, 2026-11-2', 2],
		['a CPF alone is a number as any other', '529.982.247-25', '52998224725', 2],
	])('%s', async (_what, one, other, charges) => {
		await shop.charge({ order: one });
		await shop.charge({ order: other });

		expect(shop.charges).toBe(charges);
	});

	test('an order whose price has changed names its charge, with another Base URL, too', async () => {
		await shop.charge(ORDER);
		const credentials = shop.account.credentialsElsewhere();
		const more = { additionalFields: { customFields: { amount: 5000 } } };
		const refused = await shop.ask({ ...ORDER, more, credentials });
		await shop.latestBecomes('expired');
		await shop.charge({ ...ORDER, more, credentials });

		expect(errorOf(refused)).toContain(`The existing charge is ${shop.hashes[0]} (`);
		expect(shop.charges).toBe(2);
	});

	test('a charged order is refused in another account, where another reference is charged', async () => {
		await shop.charge(ORDER);
		const { sandbox, credentials } = await openAccount();
		const refused = await shop.ask({ ...ORDER, credentials });
		const other = await shop.ask({ ...ORDER, more: OTHER_CUSTOMER, credentials });
		await shop.charge({ order: 'order-2', credentials });
		await sandbox.close();

		expect(errorOf(refused)).toContain('it was deleted, or belongs to another account');
		expect(errorOf(other)).not.toContain(shop.hashes[0]);
		expect(sandbox.charges()).toBe(1);
	});
});
