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

	test('one hint says that equal items got the charge of an earlier one', async () => {
		const { json, hints } = await shop.charge({ items: Array(12).fill({}) });
		const flags = json.map((item) => item.already_charged);

		expect(flags).toEqual([false, ...Array<boolean>(11).fill(true)]);
		expect(shop.charges).toBe(1);
		expect(hints.map(({ message }) => message)).toEqual([
			`Transaction ${shop.hashes[0]}: The customer was already charged. A new purchase needs its own reference.`,
		]);
	});

	test('equal items, each with its own reference, are charged each', async () => {
		await shop.charge({ items: [{}, {}], order: '={{ $itemIndex }}' });

		expect(shop.charges).toBe(2);
	});
});
