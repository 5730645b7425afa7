import type { INodeParameters } from 'n8n-workflow';
import { useAccount } from '../support/account';

describe('Offer > Create', () => {
	const account = useAccount();

	const parameters = (more: INodeParameters = {}): INodeParameters => ({
		resource: 'offer',
		operation: 'create',
		productHash: { __rl: true, mode: 'hash', value: account.sandbox.products[0]?.hash ?? '' },
		title: 'Black Friday',
		price: '19,90',
		paymentMethods: [1, 3],
		...more,
	});

	const body = (): unknown => account.sandbox.requests[0]?.body;

	test('sends every documented field under its name, integers as integers', async () => {
		const { items } = await account.run(
			parameters({
				additionalFields: {
					methodDefault: 3,
					interval: 'semi-annual',
					affiliatesVisible: false,
					paymentMethodDiscounts: {
						items: [
							{ paymentMethod: 'pix', discountPercentage: 7.5 },
							{ paymentMethod: 'billet', discountPercentage: 2 },
						],
					},
				},
			}),
		);

		expect(body()).toEqual({
			title: 'Black Friday',
			price: 1990,
			payment_methods: [1, 3],
			method_default: 3,
			interval: 'semi-annual',
			affiliates_visible: false,
			payment_method_discounts: [
				{ payment_method: 'pix', discount_percentage: 7.5 },
				{ payment_method: 'billet', discount_percentage: 2 },
			],
		});
		expect(items[0]?.pairedItem).toEqual({ item: 0 });
	});

	test('returns what the service sent, with the price in reais besides', async () => {
		account.fault('offer', { kind: 'patchBody', set: { extra: 1 } });

		const { json } = await account.run(parameters());

		const { interval: _none, ...made } = account.sandbox.offers[0]?.offer ?? {};
		expect(json).toEqual([{ ...made, extra: 1, price_reais: 19.9 }]);
	});

	test('leaves out what is blank', async () => {
		await account.fail(parameters({ title: ' ', price: '', paymentMethods: [] }));

		expect(body()).toEqual({});
	});

	test('says what it sends, and what it takes', async () => {
		await account.run(parameters());

		expect(account.sandbox.requests[0]?.headers).toMatchObject({
			accept: 'application/json',
			'content-type': 'application/json',
		});
		expect(account.sandbox.requests[0]?.bearer).toBe(true);
	});

	test.each<[string, INodeParameters, string]>([
		[
			'no product',
			{ productHash: { __rl: true, mode: 'hash', value: '={{ $json.nothing }}' } },
			'Product is an expression that gave nothing',
		],
		[
			'a product that is a path',
			{ productHash: { __rl: true, mode: 'hash', value: '={{ ".." }}' } },
			'Product is not a hash',
		],
		[
			'payment methods that are no list',
			{ paymentMethods: '={{ "pix" }}' },
			'Payment Methods must be a list of 1, 2 and 3',
		],
		[
			'a discount above 100',
			{
				additionalFields: {
					paymentMethodDiscounts: { items: [{ paymentMethod: 'pix', discountPercentage: 101 }] },
				},
			},
			'Additional Fields > Payment Method Discounts > Discount 1 > Discount Percentage must be a percentage',
		],
		[
			'a discount for a method without a name',
			{
				additionalFields: {
					paymentMethodDiscounts: {
						items: [
							{ paymentMethod: 'pix', discountPercentage: 1 },
							{ paymentMethod: ' ', discountPercentage: 1 },
						],
					},
				},
			},
			'Additional Fields > Payment Method Discounts > Discount 2 > Payment Method is empty; fill it in',
		],
		[
			'custom fields that are no object',
			{ additionalFields: { customFields: '[1]' } },
			'Additional Fields > Custom Fields must be a JSON object',
		],
	])('refuses %s by the name of the parameter and sends nothing', async (_name, wrong, message) => {
		const failure = await account.fail(parameters(wrong), { items: [{}, {}] });

		expect(failure.message).toContain(message);
		expect(failure.itemIndex).toBe(0);
		expect(account.sandbox.requests).toEqual([]);
	});

	test('names all that is wrong at once', async () => {
		const failure = await account.fail(
			parameters({ price: -5, paymentMethods: [9], additionalFields: { interval: 'hourly' } }),
		);

		expect(failure.message).toBe('Price in Reais must not be negative');
		expect(failure.description).toBe(
			[
				'Nothing was sent.',
				'Also: Payment Methods 1 must be a whole number from 1 to 3.',
				'Also: Additional Fields > Interval must be one of daily, weekly, monthly, quarterly, semi-annual, yearly.',
			].join('\n'),
		);
	});

	test('sends no item at all when a later one is wrong', async () => {
		const failure = await account.fail(parameters({ price: '={{ $json.price }}' }), {
			items: [{ price: 1 }, { price: 'cheap' }],
		});

		expect(failure.itemIndex).toBe(1);
		expect(failure.description).toContain('neither was any other item');
		expect(account.sandbox.requests).toEqual([]);
	});
});
