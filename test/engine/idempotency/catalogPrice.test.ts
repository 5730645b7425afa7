import { crashedData } from '../../helpers/engine';
import {
	type Ask,
	customers,
	errorOf,
	OWN_CUSTOMER,
	otherProcess,
	useShop,
} from '../../helpers/charging';

const ORDER = { order: 'order-1' };

describe('A catalog price that changes between two attempts', () => {
	const shop = useShop();

	const blank = (more: Ask['more'] = {}) => ({
		more: { cart: { items: [{ offerHash: shop.offer, price: '' }] }, ...more },
	});
	const each = () => ({ ...blank(OWN_CUSTOMER), items: customers(3) });
	/** Charges two of three customers. The third is refused. */
	const thirdRefused = async (ask: Ask = each()) => {
		shop.sells(1990);
		shop.fault('refuse', 2);
		return await shop.ask(ask);
	};

	describe('in a Retry does not count as a changed charge:', () => {
		test('existing charges are returned with a hint, and missing charges are made', async () => {
			const first = await thirdRefused();
			shop.sells(2500);
			const retry = await shop.charge({ retrying: first, ...each() });

			expect(retry.json.map(({ hash }) => hash)).toEqual(shop.hashes);
			expect(shop.account.bodies().map(({ amount }) => amount)).toEqual([1990, 1990, 1990, 2500]);
			expect(JSON.stringify(retry.hints)).toContain(
				'Its amount differs from the one that this item asks for.',
			);
		});

		test('the same holds with Order References after a restart', async () => {
			const ask = { ...each(), order: '={{ $json.n }}' };
			const first = await thirdRefused(ask);
			shop.sells(2500);
			const retry = await shop.charge({ retrying: first, ...ask, ...otherProcess() });

			expect(retry.json.map(({ hash }) => hash)).toEqual(shop.hashes);
			expect(shop.charges).toBe(3);
		});

		test('existing charges are returned even if the price is now a hundred times as high', async () => {
			const ask = {
				...each(),
				more: { ...each().more, additionalFields: { customFields: { amount: 1990 } } },
			};
			const first = await thirdRefused(ask);
			shop.sells(199_000);
			const retry = await shop.ask({ retrying: first, ...ask, continueOnFail: true });

			expect(retry.json.slice(0, 2).map(({ hash }) => hash)).toEqual(shop.hashes.slice(0, 2));
			expect(shop.charges).toBe(3);
		});

		test('but a price that somebody typed since is a changed charge, and is refused', async () => {
			const first = await thirdRefused();
			const typed = { cart: { items: [{ offerHash: shop.offer, price: '25' }] }, ...OWN_CUSTOMER };
			const retry = await shop.ask({ retrying: first, ...each(), more: typed });

			expect(errorOf(retry)).toContain('This item already has its charge, so the changed charge');
			expect(shop.charges).toBe(2);
		});

		test('the Retry of a crash charges nobody again', async () => {
			shop.sells(1990);
			const { begun } = await shop.charge(each());
			shop.sells(2500);
			const retryOf = crashedData(begun, [{ name: 'Digital Sales', finished: false }]);
			const retry = await shop.charge({ ...each(), retryOf, ...otherProcess() });

			expect(retry.json.map(({ hash }) => hash)).toEqual(shop.hashes);
			expect(shop.charges).toBe(3);
		});
	});

	test('a repeated order at a new catalog price is returned with a hint, and new orders of the list are charged', async () => {
		const list = (count: number) => ({
			...blank(OWN_CUSTOMER),
			items: customers(count),
			order: '={{ $json.n }}',
		});
		shop.sells(1990);
		await shop.charge(list(2));
		shop.sells(2500);
		const { json, hints } = await shop.charge(list(3));

		expect(json.map(({ hash }) => hash)).toEqual(shop.hashes);
		expect(shop.account.bodies().map(({ amount }) => amount)).toEqual([1990, 1990, 2500]);
		expect(JSON.stringify(hints)).toContain('Its amount differs from');
	});

	describe('refuses a repeated order:', () => {
		test('at a typed price the error for the same customer names the transaction, both amounts and both ways out', async () => {
			shop.sells(1990);
			await shop.charge({ ...ORDER, ...blank() });
			const typed = { cart: { items: [{ offerHash: shop.offer, price: '25' }] } };
			const again = errorOf(await shop.ask({ ...ORDER, more: typed }));

			expect(again).toContain(
				'Order Reference "order-1" already belongs to a charge with another customer, cart or amount',
			);
			expect(again).toMatch(
				new RegExp(`The existing charge is ${shop.hashes[0]} \\(cart .*; amount R\\$ 19,90; `),
			);
			expect(again).toMatch(/Asked for now: cart .*; amount R\$ 25,00; /);
			expect(again).toContain(
				'Another order needs its own reference: change it for this item only. If it is the same order with corrected data, cancel its earlier charge on your platform first.',
			);
			expect(shop.charges).toBe(1);
		});

		test.each([
			['in doubt, with its details', {}, /Details: cart .*; amount R\$ 19,90; .*4725/],
			[
				'in doubt for another customer, without its details',
				{ customerDocument: '111.444.777-35' },
				/It may have been for another customer, cart or amount/,
			],
		])('%s', async (_what, more, shown) => {
			shop.sells(1990);
			shop.fault('loseAnswer');
			await shop.ask({ ...ORDER, ...blank() });
			shop.sells(2500);
			const again = errorOf(await shop.ask({ ...ORDER, ...blank(more) }));

			expect(again).toMatch(shown);
			expect(shop.charges).toBe(1);
		});
	});

	test('a paid charge is returned without a hint about its missing PIX code', async () => {
		await shop.charge(ORDER);
		await shop.latestBecomes('paid');
		shop.account.fault('read', { kind: 'patchBody', set: { pix: null } });
		const { hints } = await shop.charge(ORDER);

		expect(hints.map(({ message }) => message)).toEqual([
			`Transaction ${shop.hashes[0]}: The customer was already charged. A new purchase needs its own reference.`,
		]);
	});
});
