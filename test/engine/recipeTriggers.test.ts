import type { INodeParameters } from 'n8n-workflow';
import { RECIPES, recipeOf } from '../../examples/source';
import { LANGUAGES, render } from '../../examples/source/workflow';
import { locator, products, useInbox } from '../helpers/inbox';

const DELIVERING = ['access-by-http', 'sell-and-deliver'];

/** The triggers for sales in a recipe, in each language. */
const triggersOf = (recipe: string) =>
	LANGUAGES.flatMap((language) =>
		render(recipeOf(recipe), recipe, language).nodes.filter(({ type }) =>
			type.endsWith('.digitalSalesTrigger'),
		),
	);

describe('The recipes that a payment starts', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	/** Charges an offer of a product, for an amount in cents, and marks it as paid. */
	const paid = async (nthProduct: number, cents: number): Promise<string> => {
		const offer = inbox.account.sandbox.products[nthProduct]?.offers[0]?.hash ?? '';
		const item = { offerHash: locator(offer), price: String(cents / 100), quantity: 1 };
		const hash = await inbox.chargeHere({ cart: { items: [item] } });
		await inbox.account.sandbox.setStatus(hash, 'paid');
		return hash;
	};

	test('contain no webhook address, because all copies would share it', () => {
		const triggers = Object.keys(RECIPES).flatMap(triggersOf);

		expect(triggers.length).toBeGreaterThan(DELIVERING.length);
		expect(triggers.filter(({ webhookId }) => webhookId !== undefined)).toEqual([]);
	});

	test.each(DELIVERING)('%s cannot be published as it is copied, and says why', async (recipe) => {
		for (const { parameters } of triggersOf(recipe)) {
			await expect(inbox.publish(parameters)).rejects.toThrow(
				/Products > Product 1 > Product is.*Filters > Minimum Amount in Reais/,
			);
		}
	});

	test.each(DELIVERING)('%s starts only for its product and its price', async (recipe) => {
		const [cent, other, right] = [await paid(0, 1), await paid(1, 4990), await paid(0, 4990)];
		const parameters: INodeParameters = {
			...triggersOf(recipe)[0]?.parameters,
			...products(inbox.account.sandbox.products[0]?.hash ?? ''),
			filters: { minimumAmount: '49,90' },
		};
		const trigger = await inbox.publish(parameters);

		for (const hash of [cent, other, right]) {
			expect((await trigger.post({ hash, status: 'paid' })).status).toBe(200);
		}
		expect(trigger.emitted).toMatchObject([[{ json: { hash: right } }]]);
	});
});
