import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { decide, errorOf, useShop } from '../../helpers/charging';
import { callTool } from '../../helpers/tool';

/** A public form could send this text. */
const BREAKS_OUT = 'x", "amount": 1, "y": "z';

describe('Custom Fields', () => {
	const shop = useShop();
	const call = async (more: INodeParameters, calls: IDataObject[]) =>
		await callTool(shop.parameters(undefined, more), calls, {
			credentials: shop.account.credentials,
			workflowId: 'chat',
		});

	describe('with a text of a customer or a model in their JSON', () => {
		test('does not change the amount', async () => {
			const customFields = '={"coupon": "{{ $json.coupon }}"}';
			const more = { additionalFields: { customFields } };
			await shop.ask({ items: [{ coupon: BREAKS_OUT }], more });

			expect(shop.account.bodies().map(({ amount }) => amount)).not.toContain(1);
		});

		test('does not change the price of an item that an agent charges', async () => {
			const customFields = '={"size": "{{ $fromAI("size") }}"}';
			const item = { offerHash: shop.offer, price: '19,90', more: { customFields } };
			await call({ cart: { items: [item] } }, [{ size: BREAKS_OUT.replace('amount', 'price') }]);

			expect(shop.account.bodies().map(({ amount }) => amount)).not.toContain(1);
		});

		test.each([
			['Rua "das Flores"', '={"street": "{{ $json.text }}"}', undefined],
			['Rua "das Flores"', '={"street": {{ JSON.stringify($json.text) }} }', 'Rua "das Flores"'],
			['Rua "das Flores"', '={{ { street: $json.text } }}', 'Rua "das Flores"'],
			['das Flores', '={"street": "{{ $json.text }}"}', 'das Flores'],
		])('the text %s in %s is sent as %s', async (text, customFields, sent) => {
			const more = { additionalFields: { customFields } };
			const outcome = await shop.ask({ items: [{ text }], more });

			expect(shop.account.bodies().map(({ street }) => street)).toEqual(sent ? [sent] : []);
			expect(errorOf(outcome).trim()).toMatch(
				sent
					? /^$/
					: /^Additional Fields > Custom Fields is broken by a quotation mark or backslash from \{\{ \$json\.text \}\}: make the whole field one expression/,
			);
		});
	});

	test.each([
		['{"length": 12}', { length: 12 }],
		['{"constructor": "a", "toString": "b"}', { constructor: 'a', toString: 'b' }],
		['={{ { due: new Date(0) } }}', { due: '1970-01-01T00:00:00.000Z' }],
		['{"box": {"length": 20, "sides": [1, null]}}', { box: { length: 20, sides: [1, null] } }],
		[
			'={{ { due: DateTime.fromMillis(0, { zone: "utc" }) } }}',
			{ due: '1970-01-01T00:00:00.000Z' },
		],
	])('%s are sent as their JSON says', async (customFields, sent) => {
		await shop.charge({ more: { additionalFields: { customFields } } });

		expect(shop.account.bodies()).toEqual([expect.objectContaining(sent)]);
	});

	test.each([
		'={{ { due: new Date("tomorrow") } }}',
		'={{ { due: [DateTime.fromISO("tomorrow")] } }}',
		'={{ { days: 1 / 0 } }}',
		'={{ { box: { days: undefined } } }}',
	])('%s are refused', async (customFields) => {
		const refused = await shop.ask({ more: { additionalFields: { customFields } } });

		expect(errorOf(refused)).toContain('contains a field whose expression returned nothing');
		expect(shop.charges).toBe(0);
	});

	test.each([{ amount: '97,00' }, { amount: '97.00' }, { cart: [{ title: 'A', price: '97,00' }] }])(
		'an amount in reais is not read as cents: %j',
		async (customFields) => {
			const cart = 'cart' in customFields ? { cart: {} } : {};
			const refused = await shop.ask({ more: { ...cart, additionalFields: { customFields } } });

			expect(errorOf(refused)).toContain('must be a whole number');
			expect(shop.charges).toBe(0);
		},
	);

	const leafs: Array<[field: string, customFields: INodeParameters, where: string]> = [
		['cart', { cart: [] }, 'Enter it in Cart.'],
		['customer.document', { customer: { document: '1' } }, 'Enter it in Customer CPF or CNPJ.'],
		['customer.phone_number', { customer: { phone_number: '1' } }, 'Enter it in Customer Phone.'],
		[
			'tracking.src',
			{ tracking: { src: 'a' } },
			'Enter it in Additional Fields > Tracking > Source (Src).',
		],
		['tracking', { tracking: 'a' }, 'Enter it in Additional Fields > Tracking.'],
		['customer.name', { customer: { name: { first: 'a' } } }, 'Enter it in Customer Name.'],
		['installments', { installments: { count: 2 } }, 'The node sends it itself.'],
		[
			'webhook_url',
			{ webhook_url: 'https://a.example.com' },
			'Enter it in Options > Notification URL.',
		],
		['payment_method', { payment_method: 'credit_card' }, 'The node sends it itself.'],
		['installments', { installments: 2 }, 'The node sends it itself.'],
	];
	test.each(leafs)('never replace what the form sends: %s', async (field, customFields, where) => {
		const refused = await shop.ask({ more: { additionalFields: { customFields } } });

		expect(errorOf(refused)).toContain(`Custom Fields must not contain ${field}`);
		expect(errorOf(refused)).toContain(where);
		expect(shop.account.sandbox.requests).toEqual([]);
	});

	test.each(['offer_hash', 'price', 'quantity', 'title', 'cover', 'operation_type'])(
		'of an item never replace its other fields: %s',
		async (field) => {
			const more = { customFields: JSON.stringify({ [field]: 1 }) };
			const item = { offerHash: shop.offer, price: '5', more };
			const refused = await shop.ask({ more: { cart: { items: [item] } } });

			expect(errorOf(refused)).toContain(
				'Cart > Item 1 > More > Custom Fields must not contain offer_hash, quantity, price, title, cover, operation_type: the item has fields for them',
			);
			expect(shop.account.sandbox.requests).toEqual([]);
		},
	);

	test('merge with the objects of the form', async () => {
		const customFields = {
			customer: { address: { city: 'Natal' } },
			tracking: { fbclid: 'x' },
			installments: 1,
			amount: 4200,
		};
		await shop.charge({
			more: { additionalFields: { customFields, tracking: { src: 'instagram' } } },
		});

		expect(shop.account.bodies()).toMatchObject([
			{
				amount: 4200,
				customer: { name: 'Maria da Silva', address: { city: 'Natal' } },
				tracking: { src: 'instagram', fbclid: 'x' },
			},
		]);
	});

	describe('that name the offer beside the cart', () => {
		test('ends a doubt by the hash of the charge if the offer in Custom Fields is not that of the form', async () => {
			const more = { additionalFields: { customFields: '{"offer_hash": "outra12ab"}' } };
			shop.fault('loseAnswer');
			const failed = await shop.ask({ more });
			const decision = decide(undefined, shop.hashes[0]);
			const again = await shop.ask({ more, ...decision, retrying: failed });

			expect(errorOf(again).trim()).toBe('');
		});

		test('does not take an order of another product for the same order', async () => {
			const productOf = (hash: string) => ({
				additionalFields: { customFields: JSON.stringify({ offer_hash: hash }) },
			});
			await shop.charge({ order: 'o-1', more: productOf('curso') });
			const other = await shop.ask({ order: 'o-1', more: productOf('mentoria') });

			expect(errorOf(other)).toContain('already belongs to');
		});
	});
});
