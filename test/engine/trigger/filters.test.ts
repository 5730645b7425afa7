import type { INodeParameters } from 'n8n-workflow';
import { locator, offers, products, useInbox } from '../../helpers/inbox';

const AMOUNT = 'Filters > Minimum Amount in Reais';
const METHODS = 'Filters > Payment Methods';
const EMPTY = 'is empty; fill it in';
const NO_HASH = 'which is not a hash; choose from the list or enter one hash';

describe('Digital Sales Trigger: which transactions start the workflow', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	/** Charges R$ 19,90 and marks it as paid. */
	const sell = async () => {
		const hash = await inbox.chargeHere({ additionalFields: { amount: '19.90' } });
		await inbox.account.sandbox.setStatus(hash, 'paid');
		const { offer, product } = inbox.account.sandbox.transactions.at(-1) ?? {};
		return { hash, offer: offer?.hash ?? '', product: product?.hash ?? '' };
	};
	/** Whether a sale starts a workflow with this form. */
	const starts = async (form: INodeParameters, hash: string): Promise<boolean> => {
		const trigger = await inbox.publish({ triggerOn: ['paid'], ...form });
		// The amount in the webhook does not count.
		const notice = { hash, status: 'waiting_payment', amount: 1_000_000 };
		expect((await trigger.post(notice)).status).toBe(200);
		return trigger.emitted.length > 0;
	};

	test('transactions of at least the minimum amount', async () => {
		const { hash } = await sell();

		expect(await starts({ filters: { minimumAmount: '19,91' } }, hash)).toBe(false);
		expect(await starts({ filters: { minimumAmount: '19,90' } }, hash)).toBe(true);
	});

	test('transactions of a chosen offer or product, from the list or as plain text', async () => {
		const { hash, offer, product } = await sell();
		const chosen = { __rl: true, mode: 'list', value: product };
		const listing = (choice: INodeParameters | string): INodeParameters => ({
			products: { items: [{ product: locator('other1') }, { product: choice }] },
		});

		expect(await starts(offers('other1'), hash)).toBe(false);
		expect(await starts(offers('other1', ` ${offer} `), hash)).toBe(true);
		expect(await starts(listing('other2'), hash)).toBe(false);
		expect(await starts(listing(chosen), hash)).toBe(true);
		// As an agent writes it.
		expect(await starts(listing(product), hash)).toBe(true);
	});

	test.each([{ products: {} }, { offers: { items: [] } }])(
		'all transactions if the list is empty: %j',
		async (list) => {
			expect(await starts(list, (await sell()).hash)).toBe(true);
		},
	);

	test('transactions of a product whose hash is a number', async () => {
		const { hash } = await sell();
		inbox.account.fault('read', { kind: 'patchBody', set: { product: { hash: 17 } } }, 'always');

		expect(await starts(products('={{ 17 }}'), hash)).toBe(true);
	});

	test('transactions with a status from a comma-separated text, ignoring blank entries', async () => {
		const { hash } = await sell();
		expect(await starts({ triggerOn: 'failed, , paid ' }, hash)).toBe(true);

		const form = { triggerOn: ['other'], otherStatuses: 'frozen,' };
		inbox.account.fault('read', { kind: 'patchBody', remove: ['payment_status'] });
		expect(await starts(form, hash)).toBe(false);
		await inbox.account.sandbox.setStatus(hash, 'frozen');
		expect(await starts(form, hash)).toBe(true);
	});

	test('all transactions if an expression returns a text instead of the filters, because n8n drops the text', async () => {
		expect(await starts({ filters: 'pix' }, (await sell()).hash)).toBe(true);
	});

	test.each<[INodeParameters, string]>([
		[{ filters: { minimumAmount: 'abc' } }, `${AMOUNT} must be an amount`],
		[{ filters: { minimumAmount: ' ' } }, `${AMOUNT} ${EMPTY}`],
		[{ filters: { minimumAmount: '={{ undefined }}' } }, `${AMOUNT} ${EMPTY}`],
		[products('p1', '={{ undefined }}'), `Products > Product 2 > Product ${EMPTY}`],
		[products('put your product here'), `Product is "put your product here", ${NO_HASH}`],
		[products('p1,p2'), `Product is "p1,p2", ${NO_HASH}`],
		[products('"p1"'), `Product is ""p1"", ${NO_HASH}`],
		[products('“p1”'), `Product is "“p1”", ${NO_HASH}`],
		[offers('..'), 'Offers > Offer 1 > Offer is not a hash'],
		[{ filters: { paymentMethods: 17 } }, `${METHODS} must be a list`],
		[{ filters: { paymentMethods: ' , ' } }, `${METHODS} ${EMPTY}`],
		[{ triggerOn: [] }, `Trigger On ${EMPTY}`],
		[{ triggerOn: '={{ undefined }}' }, `Trigger On ${EMPTY}`],
		[
			{ triggerOn: '={{ ["paid", "refunded"] }}' },
			'Trigger On contains "refunded", which is not one of its values: paid, waiting, reversed, failed, any, other',
		],
		[{ triggerOn: ['paid', 'other'], otherStatuses: ' ' }, `Other Statuses ${EMPTY}`],
		[{ simplify: '={{ "perhaps" }}' }, 'Simplify must be true or false'],
		[
			{ options: { fields: ['hash', 'dollars'] } },
			'Options > Output Fields 2 is not an available field',
		],
	])('a form that cannot be read is reported at once: %j', async (form, problem) => {
		await expect(inbox.publish({ triggerOn: ['paid'], ...form })).rejects.toMatchObject({
			name: 'NodeOperationError',
			message: expect.stringContaining(problem) as string,
		});
	});
});
