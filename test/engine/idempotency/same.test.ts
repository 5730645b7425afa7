import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { CUSTOMER } from '../../helpers/account';
import { type Ask, customers, OWN_CUSTOMER, RETRY_ON_FAIL, useShop } from '../../helpers/charging';
import { crashedData } from '../../helpers/engine';

const ORDER = { order: 'order-1' };

describe('Which customers and charges count as the same', () => {
	const shop = useShop();
	test.each([true, false])(
		'an item says whether its charge is new (Simplify: %s)',
		async (simplify) => {
			const first = await shop.charge({ ...ORDER, more: { simplify } });
			const second = await shop.charge({ ...ORDER, more: { simplify } });

			expect([first, second].map(({ json }) => json[0]?.already_charged)).toEqual([false, true]);
			const columns = Object.keys(second.json[0] ?? {});
			expect([columns[0], columns.at(-1)]).toEqual(['hash', 'already_charged']);
		},
	);

	test.each<[string, boolean, Ask]>([
		['in the Retry that the error advises', true, {}],
		['with Retry On Fail', false, { settings: RETRY_ON_FAIL }],
	])(
		'items whose charges are made, but whose run failed, are new to the next nodes %s',
		async (_when, isRetry, more) => {
			const list = { more: OWN_CUSTOMER, items: customers(3), ...more };
			shop.fault('refuse', 2);
			const first = await shop.ask(list);
			const given = isRetry ? await shop.charge({ ...list, retrying: first }) : first;

			expect(given.json.map((item) => item.already_charged)).toEqual([false, false, false]);
			expect(shop.charges).toBe(3);
		},
	);

	test.each([
		['made it itself', [false, false]],
		['got it from an earlier execution', [true, true]],
	])('the Retry of an execution that crashed says the same as if it %s', async (_how, expected) => {
		if (expected[0]) await shop.charge(ORDER);
		const crashed = await shop.charge(ORDER);
		// A later execution gets the charge, too.
		await shop.charge(ORDER);
		const retryOf = crashedData(crashed.begun, [{ name: 'Digital Sales', finished: false }]);
		const again = await shop.charge({ ...ORDER, retryOf });

		expect([crashed, again].map(({ json }) => json[0]?.already_charged)).toEqual(expected);
		expect(shop.charges).toBe(1);
	});

	test('a hint names how an existing charge differs from its item', async () => {
		await shop.charge(ORDER);
		const same = await shop.charge({ ...ORDER, more: { customerEmail: 'MARIA@example.com' } });
		const more = { customerEmail: 'new@example.com', customerPhone: '(21) 98765-4321' };
		const other = await shop.charge({ ...ORDER, more });

		expect(JSON.stringify(same.hints)).not.toContain('another');
		expect(JSON.stringify(other.hints)).toContain(
			`Transaction ${shop.hashes[0]}: It was charged with another Customer Email and Customer Phone than this item has, and stays as it is.`,
		);
	});

	test('one hint says which items got the charge of an earlier equal item', async () => {
		const { json, hints } = await shop.charge({ items: Array(12).fill({}) });
		const flags = json.map((item) => item.already_charged);
		const places = Array.from({ length: 10 }, (_, nth) => `Item ${nth + 1}`).join(', ');

		expect(flags).toEqual([false, ...Array<boolean>(11).fill(true)]);
		expect(shop.charges).toBe(1);
		expect(hints.map(({ message }) => message)).toEqual([
			`${places} and 1 more: It has the customer and cart of an earlier item of this execution, and got its charge. To charge each, give each its own Order Reference.`,
		]);
	});

	test('equal items, each with its own reference, are charged each', async () => {
		await shop.charge({ items: [{}, {}], order: '={{ $itemIndex }}' });

		expect(shop.charges).toBe(2);
	});

	test.each([
		['another document', { document: '11144477735' }, true],
		['the same document', { document: CUSTOMER.customerDocument }, false],
	])('a hint tells of a new charge with %s', async (_what, customer, isTold) => {
		shop.account.fault('charge', { kind: 'patchBody', set: { customer } });
		const { hints } = await shop.charge();

		expect(JSON.stringify(hints).includes('is for another CPF or CNPJ')).toBe(isTold);
	});

	describe('a charge that is over a day old comes with a hint', () => {
		const madeAt = (created_at: string, payment_status = 'waiting_payment') =>
			shop.account.fault('read', { kind: 'patchBody', set: { created_at, payment_status } });
		const ageHints = async (order: string) =>
			(await shop.charge({ order })).hints
				.map(({ message }) => message)
				.filter((message) => message.includes('over a day old'));

		test.each([
			[
				'that a paid order needs another reference for a new purchase',
				['2026-11-03T12:00:00Z', 'paid'],
				'It is over a day old and paid: a new purchase needs its own reference.',
			],
			[
				'the same of one that was refunded',
				['2026-11-03T12:00:00Z', 'refunded'],
				'It is over a day old and refunded: a new purchase needs its own reference.',
			],
			[
				'that an open charge may be too old to pay',
				['2026-11-03 23:30:00'],
				'It is over a day old and not paid: its PIX code may be too old to pay; for a new code, cancel it on your platform and run this again.',
			],
		] as const)('%s', async (_what, [created, status], hint) => {
			await shop.charge({ order: '1042' });
			madeAt(created, status);

			expect(await ageHints('1042')).toEqual([`Transaction ${shop.hashes[0]}: ${hint}`]);
		});

		const inBrasilia = (hoursAgo: number): string =>
			new Date(clock.now() - hoursAgo * 3_600_000).toLocaleString('sv-SE', {
				timeZone: 'America/Sao_Paulo',
			});
		const young = [new Date(clock.now()).toISOString(), inBrasilia(22), 'yesterday', ''];
		test.each(young)('but not for %j', async (created) => {
			await shop.charge({ order: '1042' });
			madeAt(created);

			expect(await ageHints('1042')).toEqual([]);
		});
	});
});
