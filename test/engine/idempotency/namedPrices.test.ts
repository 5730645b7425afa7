import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { crashedData } from '../../helpers/engine';
import { errorIn } from '../../helpers/account';
import { callTool } from '../../helpers/tool';
import {
	codeIn,
	customers,
	errorOf,
	OWN_CUSTOMER,
	retryable,
	otherProcess,
	PROCESSES,
	useShop,
} from '../../helpers/charging';

describe('The hash of a charge in doubt when prices change:', () => {
	const shop = useShop();
	const at = (price: string, more = {}) => ({
		cart: { items: [{ offerHash: shop.offer, price }] },
		...more,
	});

	test('the Retry of a crash charges nobody again if the blank price was typed since', async () => {
		shop.sells(1990);
		const each = { items: customers(3) };
		const { begun } = await shop.charge({ ...each, more: at('', OWN_CUSTOMER) });
		const retryOf = crashedData(begun, [{ name: 'Digital Sales', finished: false }]);
		const more = at('19,90', OWN_CUSTOMER);
		await shop.refused({ ...each, more, retryOf, ...otherProcess() });
		expect(shop.charges).toBe(3);
	});

	test('the Retry of a crash charges nobody again if Amount was typed since', async () => {
		const each = { items: customers(3) };
		const { begun } = await shop.charge({ ...each, more: at('19,90', OWN_CUSTOMER) });
		const retryOf = crashedData(begun, [{ name: 'Digital Sales', finished: false }]);
		const more = at('19,90', { ...OWN_CUSTOMER, additionalFields: { amount: '19,90' } });
		await shop.refused({ ...each, more, retryOf, ...otherProcess() });
		expect(shop.charges).toBe(3);
	});

	test('an error names the charge that another item got by its hash', async () => {
		const two = { items: customers(2), more: OWN_CUSTOMER };
		shop.fault('loseAnswer');
		await shop.ask({ ...two, items: two.items.slice(0, 1) });
		const [hash = ''] = shop.hashes;
		shop.fault('refuse');
		const failed = await shop.ask({ ...two, code: hash });
		expect(errorOf(failed)).toContain(hash);
	});

	test.each(['retry', 'order', 'crash'])(
		'the hash returns a charge at the earlier catalog price once that price is entered (%s)',
		async (how) => {
			const order = how === 'order' ? { order: 'order-1' } : {};
			shop.sells(1990);
			shop.fault('loseAnswer');
			const failed = await shop.ask({ more: at(''), ...order });
			const [hash = ''] = shop.hashes;
			shop.sells(2500);
			const retryOf = crashedData(failed.begun, [{ name: 'Digital Sales', finished: false }]);
			const again = {
				order: order,
				retry: { retrying: failed },
				crash: { retryOf, ...otherProcess() },
			}[how];
			const refused = await shop.refused({ more: at(''), ...again, code: hash });
			expect(errorOf(refused)).toContain(
				`Transaction ${hash} has another amount (R$ 19,90; to accept it, set Additional Fields > Amount in Reais to 19,90 in a new execution with this item alone, then remove it).`,
			);
			expect(errorOf(refused)).toContain(
				'set price, customer and Order Reference back to what they were',
			);
			const named = await shop.charge({ more: at('19,90'), ...again, code: hash });
			expect(named.json[0]?.hash).toBe(hash);
			expect(shop.charges).toBe(1);
		},
	);

	test.each([
		['newest first', (hashes: string[]) => [...hashes].reverse()],
		['alone', (hashes: string[]) => hashes.slice(1)],
	])(
		'at blank prices a hash never fits an order for another quantity (%s)',
		async (_how, enter) => {
			const more = {
				cart: { items: [{ offerHash: shop.offer, price: '', quantity: '={{ $json.quantity }}' }] },
			};
			const two = { items: [{ quantity: 1 }, { quantity: 2 }], more, continueOnFail: true };
			const order = '={{ "order-" + $json.quantity }}';
			shop.fault('loseAnswer');
			shop.fault('loseAnswer');
			await shop.ask({ ...two, order });
			const [first, second] = shop.hashes;
			const code = enter(shop.hashes).join(', ');
			const { json } = await shop.ask({ ...two, order, code, ...otherProcess() });
			expect([undefined, first]).toContain(json[0]?.hash);
			expect(json[1]?.hash).toBe(second);
			expect(shop.charges).toBe(2);
		},
	);

	describe('The hash of a charge whose customer the service masks', () => {
		const doubts = async () => {
			const items = [
				{ document: '529.982.247-25', email: 'a@example.com', phone: '(11) 98765-4321' },
				{ document: '111.444.777-35', email: 'b@example.com', phone: '(21) 91234-5678' },
			];
			const more = {
				customerName: '={{ "Cliente " + $json.email }}',
				customerDocument: '={{ $json.document }}',
				customerEmail: '={{ $json.email }}',
				customerPhone: '={{ $json.phone }}',
			};
			shop.fault('loseRequest');
			shop.fault('loseAnswer');
			await shop.ask({ items, more, continueOnFail: true });
			return { items, more, hash: shop.hashes[0] ?? '' };
		};
		const masks = (customer: Record<string, string> | null): void =>
			shop.account.fault('read', { kind: 'patchBody', set: { customer } }, 'always');

		test.each([
			[{ document: '***.444.777-**', email: 'b@example.com' }],
			[{ document: '***.444.777-**', phone_number: '21912345678', email: '***' }],
			[
				{
					document: '***.444.777-**',
					phone_number: '(**) *****-5678',
					name: 'Cliente b@example.com',
				},
			],
		])('is compared by the fields that can be read (%j)', async (customer) => {
			const { items, more, hash } = await doubts();
			masks(customer);
			const { json } = await shop.ask({ items, more, code: hash, continueOnFail: true });
			expect(json.map((item) => item.hash)).toEqual([undefined, hash]);
			expect(shop.charges).toBe(1);
		});

		test.each([
			[{ document: '***.444.777-**', phone_number: '(**) *****-5678', email: '***' }],
			[null],
		])('is refused if no field can be read (%j)', async (customer) => {
			const { items, more, hash } = await doubts();
			masks(customer);
			for (const asked of [items, items.slice(1)]) {
				const { json } = await shop.ask({ items: asked, more, code: hash, continueOnFail: true });
				for (const item of json) {
					expect(errorIn(item).advice).toContain(
						`Transaction ${hash} has no customer that can be compared.`,
					);
				}
			}
			expect(shop.charges).toBe(1);
		});
	});

	test('after a crash each of two equal items gets its own charge by the hashes', async () => {
		const two = { items: [{}, {}] };
		const { begun } = await shop.charge(two);
		const retryOf = crashedData(begun, [{ name: 'Digital Sales', finished: false }]);
		const retry = await shop.ask({
			...two,
			retryOf,
			...otherProcess(),
			code: shop.hashes.join(', '),
		});
		expect(retry.json.map(({ hash }) => hash)).toEqual(shop.hashes);
	});

	describe.each(PROCESSES)('a charge in doubt at another catalog price, %s,', (_, where) => {
		const blank = () => ({ more: at('') });
		const doubted = async (): Promise<string> => {
			shop.sells(1990);
			shop.fault('loseAnswer');
			await shop.ask(blank());
			shop.sells(2500);
			return shop.hashes.at(-1) ?? '';
		};

		test('is refused, and returned by its hash once its price is entered', async () => {
			const hash = await doubted();
			await shop.refused({ ...blank(), ...where() });
			await shop.refused({ ...blank(), ...where(), code: hash });
			const given = await shop.charge({ more: at('19,90'), ...where(), code: hash });
			expect(given.json[0]?.hash).toBe(hash);
			// The doubt is over.
			await shop.charge({ ...blank(), ...where() });
			expect(shop.charges).toBe(2);
		});

		test('is made once by the code of its refusal', async () => {
			await doubted();
			const code = codeIn(await shop.refused({ ...blank(), ...where() }));
			await shop.charge({ ...blank(), ...where(), code });
			expect(shop.charges).toBe(2);
		});

		test('is also refused at a typed price, while another cart is charged', async () => {
			await doubted();
			await shop.refused({ more: at('19,90'), ...where() });
			const two = { items: [{ offerHash: shop.offer, price: '19,90', quantity: 2 }] };
			await shop.charge({ more: { cart: two }, ...where() });
			expect(shop.charges).toBe(2);
		});
	});

	describe.each(PROCESSES)('the hash of another charge of the same customer, %s,', (_, where) => {
		const otherOffer = (): string =>
			shop.account.sandbox.products.flatMap(({ offers }) => offers)[1]?.hash ?? '';
		const of = (offerHash: string, price: string) => ({
			more: { cart: { items: [{ offerHash, price }] } },
		});

		test.each(['', '30'])('returns nothing for another offer at the price "%s"', async (price) => {
			shop.fault('loseAnswer');
			await shop.ask(of(otherOffer(), price));
			shop.fault('loseAnswer');
			await shop.ask(of(shop.offer, price));
			const [wrong = '', hash = ''] = shop.hashes;
			const refused = await shop.refused({ ...of(shop.offer, price), code: wrong, ...where() });

			expect(errorOf(refused)).toContain(
				`Transaction ${wrong} has another Offer (${otherOffer()})`,
			);
			const given = await shop.charge({
				...of(shop.offer, price),
				code: `${wrong}, ${hash}`,
				...where(),
			});
			expect(given.json[0]?.hash).toBe(hash);
		});

		test('returns nothing for a cart with more items', async () => {
			const cart = (...offers: string[]) => ({
				more: { cart: { items: offers.map((offerHash) => ({ offerHash, price: '' })) } },
			});
			await shop.charge(cart(shop.offer));
			const [wrong = ''] = shop.hashes;
			shop.fault('loseAnswer');
			await shop.ask(cart(shop.offer, otherOffer()));
			const entered = { ...cart(shop.offer, otherOffer()), code: wrong, ...where() };
			expect(errorOf(await shop.refused(entered))).toContain('ends this doubt');
		});

		test('returns nothing for another typed amount', async () => {
			const typed = (amount: string) => ({
				more: { ...of(shop.offer, '').more, additionalFields: { amount } },
			});
			shop.fault('loseAnswer');
			await shop.ask(typed('50'));
			const [hash = ''] = shop.hashes;
			const refused = errorOf(await shop.refused({ ...typed('70'), code: hash, ...where() }));

			expect(refused).toContain(`Transaction ${hash} has another amount (`);
			await shop.charge({ ...typed('50'), code: hash, ...where() });
			expect(shop.charges).toBe(1);
		});
	});

	describe.each(PROCESSES)('a hash that is left in the form, %s,', (_, where) => {
		test.each([
			['without references', {}, {}],
			['with references', { order: 'jan' }, { order: 'feb' }],
			['if references were added since', {}, { order: 'feb' }],
			['if references were removed since', { order: 'jan' }, {}],
		])('does not end a later doubt %s', async (_case, january, february) => {
			shop.fault('loseAnswer');
			await shop.ask(january);
			const [hash = ''] = shop.hashes;
			await shop.charge({ ...january, code: hash });
			await shop.latestBecomes('paid');
			await clock.sleep(86_400_000 * 30);
			shop.fault('loseRequest');
			await shop.ask({ ...february, code: hash, ...where() });
			const third = await shop.ask({ ...february, code: hash, ...where() });
			expect(third.json[0]?.hash).not.toBe(hash);
		});
	});

	test('the hash of a charge that a Retry recorded for an order returns it to that order', async () => {
		shop.fault('loseAnswer');
		const failed = await shop.ask();
		const [hash = ''] = shop.hashes;
		const given = await shop.charge({ retrying: failed, code: hash });
		const order = { order: 'order-1' };
		await shop.charge({ ...order, retryOf: retryable(given) });
		const again = await shop.charge({ ...order, code: hash, ...otherProcess() });
		expect(again.json[0]?.hash).toBe(hash);
	});

	test('the hash returns a charge to its order even if this worker knows it at another catalog price', async () => {
		shop.sells(2500);
		const made = await shop.charge({ more: at('') });
		const [hash = ''] = shop.hashes;
		shop.sells(1990);
		const order = { order: 'order-1', more: at('') };
		await shop.charge({ ...order, retryOf: retryable(made), ...otherProcess() });
		const given = await shop.charge({ ...order, more: at('25,00'), code: hash });
		expect(given.json[0]?.hash).toBe(hash);
	});

	test('the hash returns nothing to a call of an agent with another e-mail address and phone', async () => {
		const call = async (more: Record<string, string>, code = '') => {
			const parameters = shop.parameters(undefined, { ...more, options: { repeatCode: code } });
			const { credentials } = shop.account;
			return await callTool(parameters, [{}], { credentials, workflowId: 'chat' });
		};
		shop.fault('loseAnswer');
		await call({});
		const [hash = ''] = shop.hashes;
		await shop.latestBecomes('paid');
		const got = await call(
			{ customerEmail: 'thief@example.com', customerPhone: '(21) 98765-4321' },
			hash,
		);
		expect(got.answers[0]?.[0]?.hash).not.toBe(hash);
	});

	test.each(['XXX.982.247-XX', '•••.982.247-••', '2725'])(
		'the hash of a charge whose CPF is masked as %s ends the doubt',
		async (document) => {
			shop.fault('loseAnswer');
			await shop.ask();
			const [hash = ''] = shop.hashes;
			shop.account.fault(
				'read',
				{ kind: 'patchBody', set: { customer: { document, name: 'Maria da Silva' } } },
				'always',
			);
			const given = await shop.ask({ code: hash });

			expect(errorOf(given)).not.toContain('another Customer CPF or CNPJ');
			expect(given.json[0]?.hash).toBe(hash);
		},
	);

	test('the error says how the hash of a charge with a fee on top ends the doubt', async () => {
		shop.fault('loseAnswer');
		await shop.ask();
		const [hash = ''] = shop.hashes;
		const [stored] = shop.account.sandbox.transactions;
		if (stored) stored.amount += 99;
		const [, amount = ''] =
			/set (?:.*) > Amount in Reais to ([\d,]+) in a new execution/.exec(
				errorOf(await shop.refused({ code: hash })),
			) ?? [];
		const given = await shop.charge({
			more: { additionalFields: { amount }, options: { repeatCode: hash } },
		});

		expect(given.json[0]?.hash).toBe(hash);
		expect(shop.charges).toBe(1);
	});
});
