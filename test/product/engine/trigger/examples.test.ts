import type { INodeParameters } from 'n8n-workflow';
import { Example } from '../../../host/n8n/examples';
import { activateTrigger, postJson } from '../harness';
import { useInbox } from '../support/inbox';

const DELIVERING = ['catalog-and-charge.json', 'paid-sale-to-crm.json'];

describe('The examples that a payment starts', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	const examples = async (): Promise<Example[]> =>
		(await Example.all()).filter(({ hasTrigger }) => hasTrigger);
	const parametersOf = async (file: string, filledIn: boolean): Promise<INodeParameters> => {
		const example = (await examples()).find((one) => one.file === file);
		const [product] = inbox.account.sandbox.products;
		const { workflow } =
			(filledIn
				? example?.filledIn({ productHash: product?.hash ?? '', lowestPrice: '49,90' })
				: example) ?? {};
		const node = workflow?.nodes.find(({ type }) => type.endsWith('.digitalSalesTrigger'));
		return node?.parameters as INodeParameters;
	};
	/** Charges an offer of a product, for an amount in cents, and marks it as paid. */
	const paid = async (nthProduct: number, cents: number): Promise<string> => {
		const offer = inbox.account.sandbox.products[nthProduct]?.offers[0]?.hash;
		const offerHash = { __rl: true, mode: 'hash', value: offer ?? '' };
		const cart = { items: [{ offerHash, price: String(cents / 100), quantity: 1 }] };
		const hash = await inbox.chargeHere({ cart });
		await inbox.account.sandbox.setStatus(hash, 'paid');
		return hash;
	};

	test('all ask for the secret in their URL', async () => {
		const files = (await examples()).map(({ file }) => file);
		expect(files).toEqual(expect.arrayContaining(DELIVERING));
		for (const file of files) {
			expect([file, (await parametersOf(file, false)).options]).toEqual([
				file,
				{ urlSecret: true },
			]);
		}
	});

	test.each(DELIVERING)('%s asks for a product and a lowest price', async (file) => {
		const { filters } = await parametersOf(file, false);

		expect(Object.keys(filters ?? {}).sort()).toEqual(['minimumAmount', 'products']);
	});

	test.each(DELIVERING)('%s cannot be published as it is copied, and says why', async (file) => {
		const parameters = await parametersOf(file, false);

		const publishing = activateTrigger({ credentials: inbox.account.credentials, parameters });

		await expect(publishing).rejects.toThrow(
			'Filters > Products > Product 1 > Product is empty; choose one or enter its hash',
		);
	});

	test('paid-sale-to-crm.json cannot be published without its price, either', async () => {
		const parameters = await parametersOf('paid-sale-to-crm.json', false);

		const publishing = activateTrigger({ credentials: inbox.account.credentials, parameters });

		await expect(publishing).rejects.toThrow('Filters > Minimum Amount in Reais');
	});

	test.each(DELIVERING)('%s starts only for its product and its price', async (file) => {
		const [cent, other, right] = [await paid(0, 1), await paid(1, 4990), await paid(0, 4990)];
		const parameters = await parametersOf(file, true);
		const trigger = await inbox.publish(parameters);
		const key = /\?key=[\w-]+/.exec(JSON.stringify(trigger.staticData))?.[0] ?? '';
		const post = async (query: string, hash: string): Promise<number> =>
			(await postJson(`${trigger.url}${query}`, { hash, status: 'paid' })).status;

		expect(await post('', right)).toBe(401);
		for (const hash of [cent, other, right]) expect(await post(key, hash)).toBe(200);
		expect(trigger.executions).toMatchObject([[{ json: { hash: right } }]]);
	});
});
