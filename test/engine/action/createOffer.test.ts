import type { INodeParameters } from 'n8n-workflow';
import { useAccount } from '../../helpers/account';

describe('Offer > Create', () => {
	const account = useAccount();

	const picked = (value: string) => ({ __rl: true, mode: 'hash', value });
	const discounts = (
		...items: Array<[paymentMethod: string, discountPercentage: number | string]>
	) => ({
		paymentMethodDiscounts: {
			items: items.map(([paymentMethod, discountPercentage]) => ({
				paymentMethod,
				discountPercentage,
			})),
		},
	});
	const parameters = (more: INodeParameters = {}): INodeParameters => ({
		resource: 'offer',
		operation: 'create',
		productHash: picked(account.sandbox.products[0]?.hash ?? ''),
		title: 'Black Friday',
		price: '19,90',
		paymentMethods: [1, 3],
		...more,
	});

	test('sends every documented field under its name as JSON, integers as integers', async () => {
		const { items } = await account.run(
			parameters({
				additionalFields: {
					methodDefault: 3,
					interval: 'semi-annual',
					affiliatesVisible: '={{ "false" }}',
					...discounts(['pix', 7.5], ['billet', 2]),
				},
			}),
		);

		expect(account.bodies()).toEqual([
			{
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
			},
		]);
		expect(account.sandbox.requests).toMatchObject([
			{
				bearer: true,
				headers: { accept: 'application/json', 'content-type': 'application/json' },
			},
		]);
		expect(items[0]?.pairedItem).toEqual({ item: 0 });
	});

	test('returns the answer of the platform, and adds the price in reais', async () => {
		account.fault('offer', { kind: 'patchBody', set: { extra: 1 } });

		const { json } = await account.run(parameters());

		const { interval: _none, ...made } = account.sandbox.offers[0]?.offer ?? {};
		expect(json).toEqual([{ ...made, extra: 1, price_reais: 19.9 }]);
	});

	test('does not send blank fields', async () => {
		await account.fail(parameters({ title: ' ', price: '', paymentMethods: [] }));

		expect(account.bodies()).toEqual([{}]);
	});

	test('adds Custom Fields', async () => {
		await account.run(
			parameters({ additionalFields: { customFields: { checkout: { theme: 'a' } } } }),
		);

		expect(account.bodies()).toMatchObject([{ title: 'Black Friday', checkout: { theme: 'a' } }]);
	});

	test.each([
		['price', 1990, 'Price in Reais'],
		['payment_methods', [1], 'Payment Methods'],
		['method_default', 2, 'Additional Fields > Default Method'],
		['payment_method_discounts', [], 'Additional Fields > Payment Method Discounts'],
	])(
		'refuses %s in Custom Fields, because the form has a field for it',
		async (name, value, field) => {
			const customFields = { [name]: value };

			const failure = await account.fail(
				parameters({ price: '', paymentMethods: [], additionalFields: { customFields } }),
			);

			expect(failure.message).toBe(`Additional Fields > Custom Fields must not contain ${name}`);
			expect(failure.description).toBe(`This item was not sent.\nEnter it in ${field}.`);
			expect(account.sandbox.requests).toEqual([]);
		},
	);

	test.each<[string, INodeParameters, string]>([
		[
			'no product',
			{ productHash: picked('={{ $json.nothing }}') },
			'Product is empty: its expression returned nothing',
		],
		[
			'a product that is a path',
			{ productHash: picked('..') },
			'Product is "..", which is not a hash; enter one hash alone',
		],
		[
			'a product by its address',
			{ productHash: picked('HTTPS://pay.example.com/ab12?x=1') },
			'Product is "HTTPS://pay.example.com/ab12?x=1", which is not a hash; enter one hash alone',
		],
		[
			'a product that is a number too large to be exact',
			{ productHash: picked('={{ 2 ** 56 }}') },
			'Product is too large for a number; enter it as text',
		],
		['a product that is a list', { productHash: picked('={{ [1] }}') }, 'Product must be text'],
		['a title that is not text', { title: '={{ true }}' }, 'Title must be text'],
		[
			'neither yes nor no',
			{ additionalFields: { affiliatesVisible: '={{ "yes" }}' } },
			'must be true or false',
		],
		[
			'a percentage that is blank',
			{ additionalFields: discounts(['pix', '']) },
			'Discount Percentage must be a percentage from 0 to 100, for example 12.5',
		],
		[
			'payment methods that are not a list',
			{ paymentMethods: '={{ "pix" }}' },
			'Payment Methods must be a list of 1, 2 and 3',
		],
		[
			'a discount above 100',
			{ additionalFields: discounts(['pix', 101]) },
			'Additional Fields > Payment Method Discounts > Discount 1 > Discount Percentage must be a percentage',
		],
		[
			'a discount for a method without a name',
			{ additionalFields: discounts(['pix', 1], [' ', 1]) },
			'Additional Fields > Payment Method Discounts > Discount 2 > Payment Method is empty; fill it in',
		],
		[
			'custom fields that are not an object',
			{ additionalFields: { customFields: '[1]' } },
			'Additional Fields > Custom Fields must be a JSON object',
		],
	])('refuses %s by the name of the parameter and sends nothing', async (_name, wrong, message) => {
		const failure = await account.fail(parameters(wrong), { items: [{}, {}] });

		expect(failure.message).toContain(message);
		expect(failure.itemIndex).toBe(0);
		expect(account.sandbox.requests).toEqual([]);
	});

	test('names all mistakes in one error', async () => {
		const failure = await account.fail(
			parameters({ price: -5, paymentMethods: [0], additionalFields: { interval: 'hourly' } }),
		);

		expect(failure.message).toContain('Price in Reais must be an amount');
		expect(failure.description).toBe(
			[
				'This item was not sent.',
				'Also: Payment Methods 1 must be a whole number of at least 1.',
				'Also: Additional Fields > Interval must be one of daily, monthly, quarterly, semi-annual, weekly, yearly.',
			].join('\n'),
		);
	});
});
