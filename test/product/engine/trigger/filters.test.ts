import type { INodeParameters } from 'n8n-workflow';
import { activateTrigger } from '../harness';
import { PublishedTrigger } from '../harness/trigger';
import { locator, offers, products, useInbox } from '../support/inbox';

const BAD_FILTERS: Array<[string, INodeParameters, string]> = [
	['a word', { minimumAmount: 'abc' }, 'Filters > Minimum Amount in Reais must be an amount'],
	['two amounts in one', { minimumAmount: '1.990' }, 'Filters > Minimum Amount in Reais'],
	['a negative amount', { minimumAmount: -5 }, 'Filters > Minimum Amount in Reais must not be'],
	['no amount', { minimumAmount: ' ' }, 'Filters > Minimum Amount in Reais is empty; fill it in'],
	[
		'an amount that its expression does not give',
		{ minimumAmount: '={{ undefined }}' },
		'Filters > Minimum Amount in Reais is empty; fill it in',
	],
	[
		'a product that nobody has chosen',
		{ products: { items: [{ product: { __rl: true, mode: 'list', value: '' } }] } },
		'Products > Product 1 > Product is empty; fill it in',
	],
	[
		'a product that its expression does not give',
		products('p1', '={{ undefined }}'),
		'Products > Product 2 > Product is empty; fill it in',
	],
	[
		'a placeholder',
		products('put the hash of your product here'),
		'Products > Product 1 > Product is "put the hash of your product here", which is not a hash; choose from the list or enter one hash',
	],
	['hashes in one', products('p1, p2'), 'Product is "p1, p2", which is not a hash'],
	['quotes', products('"p1"'), 'Product is ""p1"", which is not a hash'],
	['typographic quotes', products('“p1”'), 'Product is "“p1”", which is not a hash'],
	['a dot', offers('..'), 'Offers > Offer 1 > Offer is not a hash'],
	[
		'an address',
		offers('https://pay.example.com/off1'),
		'Offers > Offer 1 > Offer is an address, not a hash; enter the hash alone',
	],
	['a list for a hash', offers('={{ ["p1"] }}'), 'Offers > Offer 1 > Offer must be text'],
	['a number for methods', { paymentMethods: 17 }, 'Filters > Payment Methods must be a list'],
	['no method', { paymentMethods: [] }, 'Filters > Payment Methods is empty; fill it in'],
	['no text of methods', { paymentMethods: '' }, 'Filters > Payment Methods is empty; fill it in'],
	['blank methods', { paymentMethods: ' , ' }, 'Filters > Payment Methods is empty; fill it in'],
	[
		'methods that their expression leaves empty',
		{ paymentMethods: '={{ "" }}' },
		'Filters > Payment Methods is empty; fill it in',
	],
];

/** Products and offers stand beside the collection Filters. */
function parametersOf(filter: INodeParameters): INodeParameters {
	return 'products' in filter || 'offers' in filter ? filter : { filters: filter };
}

const BAD: Array<[string, INodeParameters, string]> = [
	...BAD_FILTERS.map(([name, filter, problem]): [string, INodeParameters, string] => [
		`a filter: ${name}`,
		parametersOf(filter),
		problem,
	]),
	['no Trigger On', { triggerOn: [] }, 'Trigger On is empty; fill it in'],
	['a Trigger On of commas', { triggerOn: ', ' }, 'Trigger On is empty; fill it in'],
	[
		'a Trigger On that its expression does not give',
		{ triggerOn: '={{ undefined }}' },
		'Trigger On is empty; fill it in',
	],
	['a number for Trigger On', { triggerOn: '={{ 17 }}' }, 'Trigger On must be a list'],
	[
		'a status for Trigger On, which has groups',
		{ triggerOn: '={{ ["paid", "refunded"] }}' },
		'Trigger On contains "refunded", which is not one of its values: any, other, paid, reversed, failed, waiting',
	],
	[
		'Other without a status',
		{ triggerOn: ['paid', 'other'], otherStatuses: ' ' },
		'Other Statuses is empty; fill it in',
	],
	[
		'a number for Other Statuses',
		{ triggerOn: ['other'], otherStatuses: 17 },
		'Other Statuses must be a list',
	],
	['a word for Simplify', { simplify: '={{ "perhaps" }}' }, 'Simplify must be true or false'],
	[
		'an unknown field',
		{ options: { fields: ['hash', 'dollars'] } },
		'Options > Fields 2 is none of its choices',
	],
];

describe('Digital Sales Trigger: which transactions start the workflow', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	const publish = async (parameters: INodeParameters, mode?: 'test'): Promise<PublishedTrigger> =>
		await inbox.publish({ triggerOn: ['paid'], ...parameters }, mode && { mode });
	/** Charges an amount in cents and marks it as paid. */
	const paid = async (cents: number): Promise<string> => {
		const hash = await inbox.chargeHere({ additionalFields: { amount: String(cents / 100) } });
		await inbox.account.sandbox.setStatus(hash, 'paid');
		return hash;
	};
	const emitted = (): unknown[] => inbox.items.map(({ hash }) => hash);

	test.each([
		['a paid cent', 1, 0],
		['a cent less than the minimum', 1989, 0],
		['exactly the minimum', 1990, 1],
		['more', 199_000, 1],
	])('%s, where the minimum is R$ 19,90', async (_name, cents, started) => {
		const hash = await paid(cents);
		const served = await publish({ filters: { minimumAmount: '19,90' } });

		// What the notice claims of the amount counts for nothing.
		expect((await served.post({ hash, amount: 1_000_000 })).status).toBe(200);
		expect(emitted()).toEqual(started === 1 ? [hash] : []);
	});

	test('offers', async () => {
		const hash = await paid(1990);
		const offer = inbox.account.sandbox.transactions.at(-1)?.offer.hash ?? '';
		const served = await publish(offers('other1'));
		await served.post({ hash });
		served.stopListening();
		expect(emitted()).toEqual([]);

		await (await publish(offers('other1', ` ${offer} `))).post({ hash });
		expect(emitted()).toEqual([hash]);
	});

	test.each([
		['chosen from the list', (product: string) => ({ __rl: true, mode: 'list', value: product })],
		['from an expression', (product: string) => locator(`={{ "${product}" }}`)],
		['in a plain text, as an agent writes it', (product: string) => product],
	])('products %s', async (_name, choice) => {
		const hash = await paid(1990);
		const product = inbox.account.sandbox.transactions.at(-1)?.product.hash ?? '';
		const items = [{ product: locator('other1') }, { product: choice(product) }];
		const served = await publish({ products: { items } });

		await served.post({ hash });

		expect(emitted()).toEqual([hash]);
	});

	test.each([{ products: {} }, { offers: { items: [] } }])(
		'all sales if it is empty: %j',
		async (list) => {
			const hash = await paid(1990);

			await (await publish(list)).post({ hash });

			expect(emitted()).toEqual([hash]);
		},
	);

	test('a product whose hash is a number', async () => {
		const hash = await paid(1990);
		inbox.account.fault('read', { kind: 'patchBody', set: { product: { hash: 17 } } });
		const served = await publish(products('={{ 17 }}'));

		await served.post({ hash });

		expect(emitted()).toEqual([hash]);
	});

	const activated = async (form: INodeParameters, more = {}): Promise<unknown> =>
		await activateTrigger({
			credentials: inbox.account.credentials,
			parameters: { triggerOn: ['paid'], ...form },
			...more,
		});

	test.each(BAD)(
		'a form that cannot be read is reported at once: %s',
		async (_name, form, problem) => {
			await expect(activated(form)).rejects.toMatchObject({
				name: 'NodeOperationError',
				message: expect.stringContaining(problem) as string,
			});
		},
	);

	describe.each([BAD[0], BAD.at(-1)].flatMap((row) => (row ? [row] : [])))(
		'a form that cannot be read: %s',
		(_name, form, problem) => {
			test('is reported at once in a test, too', async () => {
				await expect(activated(form, { mode: 'test' })).rejects.toThrow(problem);
			});

			test('starts nothing and loses nothing if it appears later', async () => {
				const hash = await paid(1990);
				const trigger = await PublishedTrigger.prepare({
					credentials: inbox.account.credentials,
					parameters: { triggerOn: ['paid'], ...form },
				});
				inbox.add(trigger).listen();

				const answer = await trigger.post({ hash, status: 'paid' });

				expect(answer.status).toBe(503);
				expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
				expect(answer.text).not.toContain(problem.slice(0, 10));
				expect(emitted()).toEqual([]);
				const [logged] = trigger.logs.filter(({ level }) => level === 'error');
				expect(logged?.text).toContain(problem.slice(0, 30));
			});
		},
	);
});
