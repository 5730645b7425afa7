import type { INodeParameters } from 'n8n-workflow';
import { HarnessCredentials } from '../../helpers/engine/credentials';
import { type Ask, customers, errorOf, OWN_CUSTOMER, useShop } from '../../helpers/charging';

describe('A credential with an expression of the item', () => {
	const shop = useShop();
	afterEach(() => jest.restoreAllMocks());
	const baseUrls = (): string[] =>
		[shop.account.credentials, shop.account.credentialsElsewhere()].map(({ digitalSalesApi }) =>
			String(digitalSalesApi?.baseUrl),
		);
	/** Charges a customer at each address. */
	const ask = async (
		addresses: Array<string | undefined>,
		more: INodeParameters = {},
		options: Ask = {},
	) =>
		await shop.ask({
			items: customers(addresses.length).map((item, nth) => ({ ...item, to: addresses[nth] })),
			more: { ...OWN_CUSTOMER, ...more },
			credentials: shop.account.credentialsWith({ baseUrl: '={{ $json.to }}' }),
			...options,
		});

	test('charges nobody if the items are of several accounts', async () => {
		const [here, elsewhere] = baseUrls();
		const error = errorOf(await ask([here, here, elsewhere]));

		expect(error).toContain('An expression in the credential gives the items different values');
		expect(error).toContain('Loop Over Items');
		expect(shop.posts).toBe(0);
	});

	test('under On Error: Continue, each item says that it was not sent', async () => {
		const { json } = await ask(baseUrls(), {}, { continueOnFail: true });

		expect(json.map(({ error }) => error)).toMatchObject(
			Array(2).fill({ advice: expect.stringMatching(/^This item was not sent.\n/) as string }),
		);
		expect(shop.posts).toBe(0);
	});

	test('waits for no payment in the account of another item', async () => {
		const wait = { operation: 'waitForPayment', transactionHash: 'ab12cd34' };

		expect(errorOf(await ask(baseUrls(), wait))).toContain('different values');
		expect(shop.account.sandbox.requests).toEqual([]);
	});

	test('is asked for once by a plain read of many items', async () => {
		const decrypt = jest.spyOn(HarnessCredentials.prototype, 'getDecrypted');
		const [here] = baseUrls();
		await ask([here, here, here], { operation: 'get', transactionHash: 'ab12cd34' });

		expect(decrypt).toHaveBeenCalledTimes(1);
	});

	test('charges items of one account, and those of others in other runs', async () => {
		const [here, elsewhere] = baseUrls();

		expect((await ask([here, here])).status).toBe('success');
		expect((await ask([elsewhere])).status).toBe('success');
		expect(shop.charges).toBe(3);
	});
});
