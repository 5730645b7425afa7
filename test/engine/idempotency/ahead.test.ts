import { errorIn } from '../../helpers/account';
import { cpf } from '../../helpers/charge';
import {
	customers,
	decide,
	errorOf,
	OWN_CUSTOMER,
	PROCESSES,
	useShop,
} from '../../helpers/charging';

describe('All items are checked before the first is sent:', () => {
	const shop = useShop();
	const FEES = { items: [{ m: 1 }, { m: 2 }, { m: 3 }], order: '={{ "fee-" + $json.m }}' };
	/** More than are sent at the same moment. */
	const SIX = { items: customers(6), more: OWN_CUSTOMER, order: '={{ "order-" + $json.n }}' };
	const sixth = { items: customers(6).slice(5), more: OWN_CUSTOMER };

	test.each(PROCESSES)('if the sixth is in doubt, nobody is charged, %s', async (_when, where) => {
		shop.fault('loseAnswer');
		await shop.ask(sixth);
		const refused = await shop.ask({ ...SIX, ...where() });

		expect(errorOf(refused)).toContain('The customer may already have been charged');
		expect(refused.node?.error?.context?.itemIndex).toBe(5);
		expect(shop.posts).toBe(1);
	});

	test('if the sixth reference belongs to another order, nobody is charged until that charge is void', async () => {
		await shop.charge({ order: 'order-5' });
		const refused = await shop.ask(SIX);

		expect(errorOf(refused)).toContain(
			'Order Reference "order-5" already belongs to a charge with another customer',
		);
		expect(shop.posts).toBe(1);
		await shop.latestBecomes('expired');
		await shop.charge(SIX);
		expect(shop.charges).toBe(7);
	});

	test('if two items have one reference for two customers, nobody is charged', async () => {
		const refused = await shop.ask({ ...SIX, order: '={{ "order-" + $json.n % 5 }}' });

		expect(errorOf(refused)).toContain(
			'Two items of this run have Order Reference "order-0", but differ in customer, cart or amount',
		);
		expect(shop.posts).toBe(0);
		const same = await shop.charge({ ...SIX, items: [...SIX.items, ...SIX.items] });
		expect(same.json).toHaveLength(12);
		expect(shop.charges).toBe(6);
	});

	test('under On Error: Continue the others are charged, and the error item describes the charge in doubt', async () => {
		shop.fault('loseAnswer');
		await shop.ask(sixth);
		const { json } = await shop.ask({ ...SIX, continueOnFail: true });

		expect(errorIn(json[5]).about).toContain('customer document ending in');
		expect(errorIn(json[5]).outcome).toBe('unknown');
		expect(shop.charges).toBe(6);
	});

	test('an existing charge is returned without a second read', async () => {
		await shop.charge(SIX);
		await shop.charge(SIX);

		expect(shop.account.reads()).toBe(6);
	});

	test('if the customer of a charge in doubt was corrected for the Retry, it charges nobody', async () => {
		// The first is refused after the fourth was sent.
		shop.account.fault('charge', { kind: 'delay', ms: 500 });
		shop.fault('refuse');
		shop.fault('loseAnswer', 3);
		const list = { items: customers(4), more: OWN_CUSTOMER };
		const failed = await shop.ask(list);
		expect(shop.charges).toBe(3);
		const corrected = `={{ $json.n === 3 ? '${cpf(123_456_099)}' : $json.document }}`;
		const more = { ...OWN_CUSTOMER, customerDocument: corrected };
		const refused = await shop.ask({ ...list, more, retrying: failed });

		expect(errorOf(refused)).toContain('The customer may already have been charged');
		expect(shop.charges).toBe(3);
	});

	test.each(['loseAnswer', 'loseRequest'] as const)(
		'a decision about the first fee lets the Retry charge the next fees of the customer (%s)',
		async (fault) => {
			shop.fault(fault);
			const failed = await shop.ask(FEES);
			const decision = decide('fee-1', shop.hashes[0]);
			await shop.charge({ ...FEES, ...decision, retrying: failed });

			expect(shop.charges).toBe(3);
		},
	);
});
