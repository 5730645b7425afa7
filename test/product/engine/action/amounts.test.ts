import type { INodeParameters } from 'n8n-workflow';
import { useTimeLapse } from '../../../support/timeLapse';
import { type Account, openAccount, pixParameters } from '../support/account';

describe('Amounts of the forms and of simplified output', () => {
	let account: Account;

	useTimeLapse();
	beforeAll(async () => {
		account = await openAccount();
	});
	beforeEach(() => account.reset());
	afterAll(async () => await account.sandbox.close());

	const cart = (price: string): INodeParameters => ({
		cart: {
			items: [
				{
					offerHash: account.sandbox.products[0]?.offers[0]?.hash ?? '',
					price,
					more: { title: 'Curso', cover: 'https://example.com/a.png' },
				},
			],
		},
	});
	const body = (): unknown => account.sandbox.requests.at(-1)?.body;

	test.each([
		['R$ 1.234,56', '1000'],
		['1234,56', '1000,00'],
		['={{ 123456 / 100 }}', '={{ 100000 / 100 }}'],
	])('reads %s in reais', async (price, amount) => {
		await account.run(
			pixParameters(account.sandbox, { ...cart(price), additionalFields: { amount } }),
		);

		expect(body()).toMatchObject({ amount: 100_000, cart: [{ price: 123_456 }] });
	});

	test('reads the price of an offer in reais', async () => {
		await account.run({
			resource: 'offer',
			operation: 'create',
			productHash: { __rl: true, mode: 'hash', value: account.sandbox.products[0]?.hash ?? '' },
			title: 'Oferta',
			price: '19,9',
		});

		expect(body()).toMatchObject({ price: 1990 });
	});

	test('names a field in errors as the form shows it', async () => {
		const reais = await account.fail(pixParameters(account.sandbox, cart('1.999')));

		expect(reais.message).toBe(
			'Cart > Item 1 > Price in Reais is ambiguous: write 1999,00, not "1.999"',
		);
	});

	test('"1.990" from a sheet charges nobody', async () => {
		const failure = await account.fail(pixParameters(account.sandbox, cart('={{ $json.price }}')), {
			items: [{ price: '1.990' }],
		});

		expect(failure.message).toBe(
			'Cart > Item 1 > Price in Reais is ambiguous: write 1990,00 or 1,99, not "1.990"',
		);
		expect(failure.description).toContain('Nothing was sent.');
		expect(account.sandbox.requests).toEqual([]);
	});

	describe('of simplified output', () => {
		const create = async (options: INodeParameters) =>
			(await account.run(pixParameters(account.sandbox, { simplify: true, options }))).json[0] ??
			{};

		test('is reais by default', async () => {
			const row = await create({});

			expect(row).toMatchObject({ amount_reais: 39.8 });
			expect(row).not.toHaveProperty('amount');
		});

		test('is cents where they are chosen', async () => {
			const { hash } = await create({ fields: ['amount'] });
			const { json } = await account.run({
				resource: 'transaction',
				operation: 'get',
				transactionHash: String(hash),
				options: { fields: ['amount', 'amount_reais'] },
			});

			expect(json[0]).toMatchObject({ hash, amount: 3980, amount_reais: 39.8 });
		});

		test.each([true, false])('is reais for products (split offers: %s)', async (splitOffers) => {
			const { json } = await account.run({
				resource: 'product',
				operation: 'getAll',
				limit: 1,
				options: { splitOffers },
			});

			const prices = account.sandbox.products[0]?.offers.map(({ price }) => price / 100);
			expect(prices).toContain(json[0]?.price_reais);
			expect(json[0]).not.toHaveProperty('price');
		});
	});
});
