import type { IDataObject } from 'n8n-workflow';
import { customers, errorOf, OWN_CUSTOMER, useShop } from '../../helpers/charging';

describe('A credential with an expression of the item', () => {
	const shop = useShop();
	const ask = async (...addresses: string[]) =>
		await shop.ask({
			items: customers(addresses.length).map((item, nth) => ({ ...item, to: addresses[nth] })),
			more: OWN_CUSTOMER,
			credentials: shop.account.credentialsWith({ baseUrl: '={{ $json.to }}' }),
		});
	const baseUrlOf = ({ digitalSalesApi }: Record<string, IDataObject>): string =>
		String(digitalSalesApi?.baseUrl);
	const here = (): string => baseUrlOf(shop.account.credentials);
	const elsewhere = (): string => baseUrlOf(shop.account.credentialsElsewhere());

	test('charges nobody if the items are of several accounts', async () => {
		const error = errorOf(await ask(here(), here(), elsewhere()));

		expect(error).toContain('The credential is not the same for all items');
		expect(error).toContain('Loop Over Items');
		expect(shop.posts).toBe(0);
	});

	test('charges items of one account, and those of others in other runs', async () => {
		expect((await ask(here(), here())).status).toBe('success');
		expect((await ask(elsewhere())).status).toBe('success');
		expect(shop.charges).toBe(3);
	});
});
