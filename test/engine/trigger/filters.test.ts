import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { locator, offers, products, useInbox } from '../../helpers/inbox';

const AMOUNT = 'Filters > Minimum Amount in Reais';
const METHODS = 'Filters > Payment Methods';
const EMPTY = 'is empty; fill it in';
const NO_HASH = 'which is not a hash; enter one hash alone';

describe('Digital Sales Trigger: which transactions start the workflow', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	const listed = (...choices: Array<INodeParameters | string>): INodeParameters => ({
		products: { items: choices.map((product) => ({ product })) },
	});

	/** Of a sale of R$ 19,90 that was paid. */
	test.each<
		[
			string,
			(sale: { offer: string; product: string }) => INodeParameters,
			boolean,
			/** What reads show instead. */
			IDataObject?,
		]
	>([
		['its method in capitals', () => ({ filters: { paymentMethods: ['PIX'] } }), true],
		['another method', () => ({ filters: { paymentMethods: ['boleto'] } }), false],
		[
			'the method billet as boleto',
			() => ({ filters: { paymentMethods: ['boleto'] } }),
			true,
			{ payment_method: 'billet' },
		],
		[
			'a minimum, and an amount as a text',
			() => ({ filters: { minimumAmount: '19,90' } }),
			true,
			{ amount: '1990' },
		],
		['an amount of nothing', () => ({ filters: { minimumAmount: '0' } }), true, { amount: 0 }],
		[
			'any status, and none that is stated',
			() => ({ triggerOn: ['any'] }),
			true,
			{ payment_status: null },
		],
		['a larger amount', () => ({ filters: { minimumAmount: '19,91' } }), false],
		['the amount', () => ({ filters: { minimumAmount: '19,90' } }), true],
		['another offer', () => offers('other1'), false],
		['the offer, with blanks', ({ offer }) => offers('other1', ` ${offer} `), true],
		['other products', () => listed(locator('other1'), locator('other2')), false],
		[
			'the product, from the list',
			({ product }) => listed(locator('other1'), { __rl: true, mode: 'list', value: product }),
			true,
		],
		['the product, as an agent writes it', ({ product }) => listed('other1', product), true],
		[
			'a product whose hash is a number',
			() => products('={{ 17 }}'),
			true,
			{ product: { hash: 17 } },
		],
		['no product', () => ({ products: {} }), true],
		['statuses in a text', () => ({ triggerOn: 'failed, , paid ' }), true],
		['another status', () => ({ triggerOn: ['other'], otherStatuses: 'frozen,' }), false],
		['its status as another', () => ({ triggerOn: ['other'], otherStatuses: 'x, paid' }), true],
		// n8n drops a text that an expression returns for a collection.
		['a text instead of the filters', () => ({ filters: 'pix' }), true],
	])('with %s in the form', async (_name, formFor, isStarted, set = {}) => {
		const hash = await inbox.chargeHere({ additionalFields: { customFields: { amount: 1990 } } });
		await inbox.account.sandbox.setStatus(hash, 'paid');
		const { offer, product } = inbox.account.sandbox.transactions.at(-1) ?? {};
		inbox.account.fault('read', { kind: 'patchBody', set }, 'always');
		const form = formFor({ offer: offer?.hash ?? '', product: product?.hash ?? '' });
		await inbox.publish({ triggerOn: ['paid'], ...form });

		// The amount in the webhook does not count.
		const notice = { hash, status: 'waiting_payment', amount: 1_000_000 };
		expect((await inbox.trigger.post(notice)).status).toBe(200);
		expect(inbox.items.length > 0).toBe(isStarted);
	});

	test.each([
		[
			'waiting',
			[
				...['waiting_payment', 'pending', 'processing', 'prossessing', 'authorized'],
				...['antifraud', 'analyzing', 'pending_review'],
			],
		],
		['failed', ['refused', 'rejected', 'declined', 'failed', 'canceled', 'cancelled', 'expired']],
		['reversed', ['refunded', 'chargeback', 'med_analysis']],
	])('Trigger On %s means %j, and not paid', async (group, statuses) => {
		await inbox.publish({ triggerOn: [group] });
		for (const status of [...statuses, 'paid']) {
			const hash = await inbox.charge();
			await inbox.account.sandbox.setStatus(hash, status);
			expect(await inbox.post(hash, status)).toBe(200);
		}

		expect(inbox.statuses).toEqual(statuses);
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
		[offers('..'), `Offers > Offer 1 > Offer is "..", ${NO_HASH}`],
		[{ filters: { paymentMethods: 17 } }, `${METHODS} must be a list`],
		[{ filters: { paymentMethods: ' , ' } }, `${METHODS} ${EMPTY}`],
		[{ triggerOn: [] }, `Trigger On ${EMPTY}`],
		[{ triggerOn: '={{ undefined }}' }, `Trigger On ${EMPTY}`],
		[
			{ triggerOn: '={{ ["paid", "refunded"] }}' },
			'Trigger On must contain only paid, waiting, reversed, failed, any, other',
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
