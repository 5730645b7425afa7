import type { INodeParameters } from 'n8n-workflow';
import { activateTrigger } from '../harness';
import { PublishedTrigger } from '../harness/trigger';
import { locator, offers, products, useInbox } from '../support/inbox';

const AMOUNT = 'Filters > Minimum Amount in Reais';
const METHODS = 'Filters > Payment Methods';
const EMPTY = 'is empty; fill it in';
const NO_HASH = 'which is not a hash; choose from the list or enter one hash';

/** Forms that cannot be read, and what is wrong with them. */
const BAD: Array<[INodeParameters, string]> = [
	[{ filters: { minimumAmount: 'abc' } }, `${AMOUNT} must be an amount`],
	[{ filters: { minimumAmount: ' ' } }, `${AMOUNT} ${EMPTY}`],
	[{ filters: { minimumAmount: '={{ undefined }}' } }, `${AMOUNT} ${EMPTY}`],
	[
		{ products: { items: [{ product: { __rl: true, mode: 'list', value: '' } }] } },
		`Products > Product 1 > Product ${EMPTY}`,
	],
	[products('p1', '={{ undefined }}'), `Products > Product 2 > Product ${EMPTY}`],
	[products('put your product here'), `Product is "put your product here", ${NO_HASH}`],
	[products('p1,p2'), `Product is "p1,p2", ${NO_HASH}`],
	[products('"p1"'), `Product is ""p1"", ${NO_HASH}`],
	[products('“p1”'), `Product is "“p1”", ${NO_HASH}`],
	[offers('..'), 'Offers > Offer 1 > Offer is not a hash'],
	[{ filters: { paymentMethods: 17 } }, `${METHODS} must be a list`],
	[{ filters: { paymentMethods: [] } }, `${METHODS} ${EMPTY}`],
	[{ filters: { paymentMethods: ' , ' } }, `${METHODS} ${EMPTY}`],
	[{ triggerOn: [] }, `Trigger On ${EMPTY}`],
	[{ triggerOn: '={{ undefined }}' }, `Trigger On ${EMPTY}`],
	[
		{ triggerOn: '={{ ["paid", "refunded"] }}' },
		'Trigger On contains "refunded", which is not one of its values: any, other, paid, reversed, failed, waiting',
	],
	[{ triggerOn: ['paid', 'other'], otherStatuses: ' ' }, `Other Statuses ${EMPTY}`],
	[{ simplify: '={{ "perhaps" }}' }, 'Simplify must be true or false'],
	[{ options: { fields: ['hash', 'dollars'] } }, 'Options > Fields 2 is none of its choices'],
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
		['a cent less than the minimum', 1989, 0],
		['exactly the minimum', 1990, 1],
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

	test.each(BAD)('a form that cannot be read is reported at once: %j', async (form, problem) => {
		await expect(activated(form)).rejects.toMatchObject({
			name: 'NodeOperationError',
			message: expect.stringContaining(problem) as string,
		});
	});

	describe('a form that cannot be read', () => {
		const filters = { minimumAmount: 'abc' };

		test('is reported at once in a test, too', async () => {
			await expect(activated({ filters }, { mode: 'test' })).rejects.toThrow(AMOUNT);
		});

		test('starts nothing and loses nothing if it appears later', async () => {
			const hash = await paid(1990);
			const trigger = await PublishedTrigger.prepare({
				credentials: inbox.account.credentials,
				parameters: { triggerOn: ['paid'], filters },
			});
			inbox.add(trigger).listen();

			const answer = await trigger.post({ hash, status: 'paid' });

			expect(answer.status).toBe(503);
			expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
			expect(answer.text).not.toContain('Filters');
			expect(emitted()).toEqual([]);
			const [logged] = trigger.logs.filter(({ level }) => level === 'error');
			expect(logged?.text).toContain(AMOUNT);
		});
	});
});
