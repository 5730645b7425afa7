import { NodeHelpers, type INodeParameters, type INodeProperties } from 'n8n-workflow';
import { DigitalSales } from '../../../../nodes/DigitalSales/DigitalSales.node';
import { useTimeLapse } from '../../../support/timeLapse';
import { everyProperty } from '../support/form';
import { openAccount, pixParameters, type Account } from '../support/account';

describe('Amount Unit', () => {
	let account: Account;

	useTimeLapse();
	beforeAll(async () => {
		account = await openAccount();
	});
	beforeEach(() => account.reset());
	afterAll(async () => await account.sandbox.close());

	const inCents = { options: { amountUnit: 'cents' } };
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

	test.each<[string, string, string, INodeParameters]>([
		['reais', 'R$ 1.234,56', '1000', {}],
		['reais where it says so', '1234,56', '1000,00', { options: { amountUnit: 'reais' } }],
		['cents where it says so', '123456', '100000', inCents],
	])('reads amounts in %s', async (_name, price, amount, unit) => {
		await account.run(
			pixParameters(account.sandbox, { ...cart(price), ...unit, additionalFields: { amount } }),
		);

		expect(body()).toMatchObject({ amount: 100_000, cart: [{ price: 123_456 }] });
	});

	test.each<[string, string, INodeParameters]>([
		['reais', '19,9', {}],
		['cents where it says so', '1990', inCents],
	])('reads the price of an offer in %s', async (_name, price, unit) => {
		await account.run({
			resource: 'offer',
			operation: 'create',
			productHash: { __rl: true, mode: 'hash', value: account.sandbox.products[0]?.hash ?? '' },
			title: 'Oferta',
			price,
			...unit,
		});

		expect(body()).toMatchObject({ price: 1990 });
	});

	test('names a field in errors as the form shows it', async () => {
		const reais = await account.fail(pixParameters(account.sandbox, cart('1.999')));
		const cents = await account.fail(
			pixParameters(account.sandbox, { ...cart('19,99'), ...inCents }),
		);

		expect(reais.message).toBe(
			'Cart > Item 1 > Price in Reais is ambiguous: write 1999,00, not "1.999"',
		);
		expect(cents.message).toBe(
			'Cart > Item 1 > Price in Cents must be digits only, for example 1990 for R$ 19,90; "19,99" is not an amount',
		);
	});

	test.each([
		[
			'R$ 1990',
			'cents',
			'Price in Cents must be digits only, for example 1990 for R$ 19,90; "R$ 1990" is not an amount',
		],
		['1.990', 'reais', 'Price in Reais is ambiguous: write 1990,00 or 1,99, not "1.990"'],
	])('%j from a sheet, in %s, charges nobody', async (price, amountUnit, message) => {
		const failure = await account.fail(
			pixParameters(account.sandbox, { ...cart('={{ $json.price }}'), options: { amountUnit } }),
			{ items: [{ price }] },
		);

		expect(failure.message).toBe(`Cart > Item 1 > ${message}`);
		expect(failure.description).toContain('Nothing was sent.');
		expect(account.sandbox.requests).toEqual([]);
	});

	describe('in the form', () => {
		const { properties } = new DigitalSales().description;
		const money = everyProperty(properties).filter(({ property }) =>
			/ in (Cents|Reais)$/.test(property.displayName),
		);
		const shown = (name: string, root: INodeParameters): INodeProperties[] =>
			money
				.map(({ property }) => property)
				.filter((property) => property.name === name)
				.filter((property) =>
					NodeHelpers.displayParameter(root, property, { typeVersion: 1 }, null, root),
				);

		test.each<[string, INodeParameters, string]>([
			['nothing was chosen', {}, 'in Reais'],
			['cents were chosen', { amountUnit: 'cents' }, 'in Cents'],
			['reais were chosen', { amountUnit: 'reais' }, 'in Reais'],
		])('shows each money field once, in its unit, where %s', (_name, options, ending) => {
			const charge = { resource: 'transaction', operation: 'create', options };
			const offer = { resource: 'offer', operation: 'create', options };

			expect(shown('amount', charge)).toMatchObject([{ displayName: `Amount ${ending}` }]);
			for (const form of [charge, offer]) {
				const labels = shown('price', form).map(({ displayName }) => displayName);
				expect(new Set(labels)).toEqual(new Set([`Price ${ending}`]));
			}
		});

		test('says in each hint how an amount is read', () => {
			expect(money).toHaveLength(6);
			for (const { property } of money) {
				expect(property.hint).toMatch(/97 is R\$ 97,00|1990 is R\$ 19,90/);
			}
		});
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
