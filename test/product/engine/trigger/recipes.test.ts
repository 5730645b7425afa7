import type { INodeParameters } from 'n8n-workflow';
import { RECIPES, recipeOf } from '../../../../examples/source';
import { LANGUAGES, render } from '../../../../examples/source/workflow';
import { activateTrigger } from '../harness';
import { useInbox } from '../support/inbox';

const DELIVERING = ['access-by-http', 'sell-and-deliver'];

/** The triggers for sales in a recipe, in each language; none if it has none. */
const nodesOf = (recipe: string) =>
	LANGUAGES.flatMap((language) =>
		render(recipeOf(recipe), recipe, language).nodes.filter(({ type }) =>
			type.endsWith('.digitalSalesTrigger'),
		),
	);
const triggersOf = (recipe: string): INodeParameters[] =>
	nodesOf(recipe).map(({ parameters }) => parameters);

describe('The recipes that a payment starts', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	/** Charges an offer of a product, for an amount in cents, and marks it as paid. */
	const paid = async (nthProduct: number, cents: number): Promise<string> => {
		const offer = inbox.account.sandbox.products[nthProduct]?.offers[0]?.hash;
		const offerHash = { __rl: true, mode: 'hash', value: offer ?? '' };
		const cart = { items: [{ offerHash, price: String(cents / 100), quantity: 1 }] };
		const hash = await inbox.chargeHere({ cart });
		await inbox.account.sandbox.setStatus(hash, 'paid');
		return hash;
	};

	test('have no address of their own: it would be the same for everybody', () => {
		const triggers = Object.keys(RECIPES).flatMap(nodesOf);

		expect(triggers.length).toBeGreaterThan(DELIVERING.length);
		expect(triggers.filter(({ webhookId }) => webhookId !== undefined)).toEqual([]);
	});

	test.each(DELIVERING)('%s cannot be published as it is copied, and says why', async (recipe) => {
		for (const parameters of triggersOf(recipe)) {
			const publishing = activateTrigger({ credentials: inbox.account.credentials, parameters });

			await expect(publishing).rejects.toThrow(
				/Products > Product 1 > Product is.*Filters > Minimum Amount in Reais/,
			);
		}
	});

	test.each(DELIVERING)('%s starts only for its product and its price', async (recipe) => {
		const [cent, other, right] = [await paid(0, 1), await paid(1, 4990), await paid(0, 4990)];
		const product = inbox.account.sandbox.products[0]?.hash ?? '';
		const parameters: INodeParameters = {
			...triggersOf(recipe)[0],
			products: { items: [{ product: { __rl: true, mode: 'list', value: product } }] },
			filters: { minimumAmount: '49,90' },
		};
		const trigger = await inbox.publish(parameters);

		for (const hash of [cent, other, right]) {
			expect((await trigger.post({ hash, status: 'paid' })).status).toBe(200);
		}
		expect(trigger.executions).toMatchObject([[{ json: { hash: right } }]]);
	});
});
