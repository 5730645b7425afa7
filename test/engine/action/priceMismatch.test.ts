import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { clearProcessState } from '../../../nodes/DigitalSales/shared/processState';
import { runListSearch, runNode } from '../../helpers/engine';
import { pixParameters, useAccount } from '../../helpers/account';

const GET_MANY = { resource: 'product', operation: 'getAll', limit: 3 };
const SHOP = { mode: 'trigger', workflowId: 'shop' } as const;

describe('A price that is exactly a hundred times the price in the catalog, or a hundredth', () => {
	const account = useAccount();

	/** The hash of an offer that the platform accepts. */
	const known = (): string => account.sandbox.products[0]?.offers[0]?.hash ?? '';
	const sells = (price: number | string): void =>
		account.sells({ hash: 'p1', title: 'Curso', offers: [{ hash: known(), title: 'A', price }] });
	const seen = async (price: number | string): Promise<void> => {
		sells(price);
		await account.run(GET_MANY);
	};
	const item = (price: string, more: INodeParameters = {}): INodeParameters => ({
		offerHash: known(),
		more: { title: 'Curso' },
		price,
		...more,
	});
	const cart = (...items: INodeParameters[]): INodeParameters =>
		pixParameters(account.sandbox, { cart: { items } });
	const charges = (): IDataObject[] => account.bodies().filter((body) => 'cart' in body);

	test('is refused, and the error names the field and both readings', async () => {
		await seen(1990);

		const failure = await account.fail(cart(item('5', { offerHash: 'other' }), item('1990')));

		expect(failure.message).toBe(
			'Cart > Item 2 > Price in Reais is R$ 1.990,00, but the catalog last said R$ 19,90',
		);
		expect(failure.description).toBe(
			'This item was not sent.\nEnter 19,90, or add Options > Allow Price Mismatch if R$ 1.990,00 is right.',
		);
		expect(failure.itemIndex).toBe(0);
		expect(charges()).toEqual([]);
	});

	test('is also refused if only the list of offers showed the price', async () => {
		sells(1990);
		await runListSearch('searchOffers', { credentials: account.credentials });

		const failure = await account.fail(cart(item('1990')));

		expect(failure.message).toContain('but the catalog last said R$ 19,90');
	});

	test("is refused without a workflow, as in n8n's Agents", async () => {
		await seen(1990);

		const failure = await account.fail(cart(item('1990')), { workflowId: '' });

		expect(failure.message).toContain('but the catalog last said R$ 19,90');
	});

	test('leaves nothing in doubt when refused, and is charged once it is allowed', async () => {
		await seen(1990);
		const asked = (options: INodeParameters) => ({ ...cart(item('1990')), options });

		await account.fail(asked({}), SHOP);
		await account.fail(asked({ allowPriceMismatch: false }), SHOP);
		expect(charges()).toEqual([]);
		await account.run(asked({ allowPriceMismatch: true }), SHOP);

		expect(charges()).toMatchObject([{ amount: 199_000 }]);
	});

	test('is not found for a free offer, or without a readable price', async () => {
		await seen(0);
		await account.run(cart(item('0'), item('19,90')));
		await seen('much');
		await account.run(cart(item('1990')));

		expect(charges()).toMatchObject([{ amount: 1990 }, { amount: 199_000 }]);
	});

	test.each([
		['an item before the catalog is read', [{ title: 'A', price: '1990' }, { price: '19,90' }], 0],
		['an item after the catalog is read', [{ price: '19,90' }, { title: 'A', price: '1990' }], 1],
	])('stops the whole run before anything is sent if it is in %s', async (_name, items, wrong) => {
		sells(1990);
		const more = { title: '={{ $json.title }}' };

		const failure = await account.fail(cart(item('={{ $json.price }}', { more })), { items });

		expect(failure.itemIndex).toBe(wrong);
		expect(failure.description).toContain('This item was not sent');
		expect(charges()).toEqual([]);
	});

	test('is refused in the cents of a cart in Custom Fields', async () => {
		await seen(1990);
		const customFields = { cart: [{ offer_hash: known(), price: 199_000 }] };

		const failure = await account.fail({ ...cart(), additionalFields: { customFields } });

		expect(failure.message).toBe(
			'Additional Fields > Custom Fields > cart 1 > price is R$ 1.990,00, but the catalog last said R$ 19,90',
		);
		expect(failure.description).toContain('Enter 1990, or add');
		expect(charges()).toEqual([]);
	});

	test.each([
		['just now', async (offer: INodeParameters) => await account.run(offer, SHOP)],
		[
			'before a restart, and a Retry returned it',
			async (offer: INodeParameters) => {
				account.fault('offer', { kind: 'status', status: 422, after: 1 });
				const options = { ...SHOP, credentials: account.credentials };
				const { run } = await runNode(offer, { ...options, items: [{ n: 1 }, { n: 2 }] });
				clearProcessState();
				return await account.run(offer, { ...SHOP, retryOf: run?.data });
			},
		],
	])('is refused if an offer in cents was created %s', async (_when, create) => {
		const { json } = await create({
			resource: 'offer',
			operation: 'create',
			productHash: account.sandbox.products[0]?.hash ?? '',
			title: '={{ "Oferta " + $json.n }}',
			price: '19,90',
		});
		const { hash, price } = json[0] ?? {};

		const failure = await account.fail(cart(item(String(price), { offerHash: String(hash) })));

		expect(failure.message).toContain('is R$ 1.990,00, but the catalog last said R$ 19,90');
		expect(charges()).toEqual([]);
	});

	describe('in an order that was sent before', () => {
		const order = (options: INodeParameters = {}): INodeParameters => ({
			...cart(item('100,00')),
			orderReference: 'order-1',
			options,
		});
		const makeVoid = async (): Promise<void> => {
			const { json } = await account.run(order(), SHOP);
			await account.sandbox.setStatus(String(json[0]?.hash), 'expired');
		};
		const leaveInDoubt = async (): Promise<void> => {
			account.fault('charge', { kind: 'resetAfterProcessing' });
			await account.fail(order(), SHOP);
		};

		test('leads to the error of the charge in doubt', async () => {
			await leaveInDoubt();
			await seen(100);

			const again = await account.fail(order(), SHOP);

			expect(again.message).toContain('The customer may already have been charged');
			expect(charges()).toHaveLength(1);
		});

		test('leads to the existing charge', async () => {
			const first = await account.run(order(), SHOP);
			await seen(100);

			const again = await account.run(order(), SHOP);

			expect(again.json).toMatchObject([{ hash: first.json[0]?.hash }]);
			expect(charges()).toHaveLength(1);
		});

		test.each([
			['an order that is void', makeVoid],
			['a doubt with a decision', leaveInDoubt],
		])('is refused if the order can be charged again: %s', async (_name, before) => {
			await before();
			const items = [{ orderOrCustomer: 'order-1', hash: '' }];
			const chargesInDoubt = { items };
			await seen(100);

			const failure = await account.fail(order({ chargesInDoubt }), SHOP);
			const allowed = await account.run(order({ chargesInDoubt, allowPriceMismatch: true }), SHOP);

			expect(failure.message).toContain('is R$ 100,00, but the catalog last said R$ 1,00');
			expect(allowed.json).toHaveLength(1);
			expect(charges()).toHaveLength(2);
		});
	});
});
