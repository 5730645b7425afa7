import { EventEmitter } from 'node:events';
import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { readTransaction } from '../../../nodes/DigitalSales/api/schemas/transaction';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { handedOver, handOver, isBacklogged } from '../../../nodes/DigitalSales/trigger/receive';
import { type Wanted, whyUnwanted } from '../../../nodes/DigitalSales/trigger/wanted';

type Given = Partial<Omit<Wanted, 'filters'>> & { filters?: Partial<Wanted['filters']> };

const NOTHING: Wanted = {
	triggerOn: ['any'],
	otherStatuses: undefined,
	products: [],
	offers: [],
	filters: { minimumAmount: undefined, paymentMethods: undefined },
};

describe('What a trigger does not want', () => {
	test.each<[string, Given, IDataObject, string | undefined]>([
		['any status', {}, { payment_status: 'never_heard_of' }, undefined],
		['any status, even none', {}, {}, undefined],
		['a status of its group', { triggerOn: ['paid'] }, { payment_status: 'paid' }, undefined],
		[
			'a status that is not stated',
			{ triggerOn: ['paid'] },
			{},
			'The status of the transaction is not stated, which Trigger On does not let in.',
		],
		[
			'another of the other statuses',
			{ triggerOn: ['other'], otherStatuses: ['frozen', 'thawed'] },
			{ payment_status: 'paid' },
			'The status of the transaction is paid, which Trigger On does not let in.',
		],
		[
			'one of the other statuses, however its accents are stored',
			{ triggerOn: ['other'], otherStatuses: ['em análise'.normalize('NFD')] },
			{ payment_status: 'em análise'.normalize('NFC') },
			undefined,
		],
		['its method', { filters: { paymentMethods: ['pix'] } }, { payment_method: 'pix' }, undefined],
		[
			'boleto',
			{ filters: { paymentMethods: ['boleto'] } },
			{ payment_method: 'boleto' },
			undefined,
		],
		[
			'billet',
			{ filters: { paymentMethods: ['boleto'] } },
			{ payment_method: 'billet' },
			undefined,
		],
		[
			'a method that is not stated',
			{ filters: { paymentMethods: ['pix', 'crypto'] } },
			{},
			'The payment method of the transaction is not stated, which Filters > Payment Methods does not let in.',
		],
		[
			'its product',
			{ products: [{ product: 'p1' }, { product: 'p2' }] },
			{ product: { hash: 'p2' } },
			undefined,
		],
		[
			'a product that is not stated',
			{ products: [{ product: 'p1' }, { product: 'p2' }] },
			{},
			'The product of the transaction is not stated, which Products does not let in.',
		],
		[
			'another product',
			{ products: [{ product: 'p1' }] },
			{ product: { hash: 'p3' } },
			'The product of the transaction is p3, which Products does not let in.',
		],
		[
			'its offer',
			{ offers: [{ offer: 'o1' }, { offer: 'o2' }] },
			{ offer: { hash: 'o2' } },
			undefined,
		],
		[
			'an offer that is not stated',
			{ offers: [{ offer: 'o1' }, { offer: 'o2' }] },
			{ product: { hash: 'o1' } },
			'The offer of the transaction is not stated, which Offers does not let in.',
		],
		[
			'another offer',
			{ offers: [{ offer: 'o1' }], products: [{ product: 'p1' }] },
			{ offer: { hash: 'o3' }, product: { hash: 'p1' } },
			'The offer of the transaction is o3, which Offers does not let in.',
		],
		['exactly the amount', { filters: { minimumAmount: 1990 } }, { amount: 1990 }, undefined],
		['the amount as a text', { filters: { minimumAmount: 1990 } }, { amount: '1990' }, undefined],
		['nothing to pay', { filters: { minimumAmount: 0 } }, { amount: 0 }, undefined],
		['more than the amount', { filters: { minimumAmount: 1990 } }, { amount: 1991 }, undefined],
		[
			'a cent less than the amount',
			{ filters: { minimumAmount: 199_000 } },
			{ amount: 198_999 },
			'The amount of the transaction is R$ 1.989,99, which Filters > Minimum Amount in Reais does not let in.',
		],
		[
			'an amount that is not stated',
			{ filters: { minimumAmount: 1990 } },
			{},
			'The amount of the transaction is not stated in cents, which Filters > Minimum Amount in Reais does not let in.',
		],
		[
			'an amount that is not stated where nothing is the least',
			{ filters: { minimumAmount: 0 } },
			{},
			'The amount of the transaction is not stated in cents, which Filters > Minimum Amount in Reais does not let in.',
		],
		[
			'an amount that is empty',
			{ filters: { minimumAmount: 1990 } },
			{ amount: '' },
			'The amount of the transaction is not stated in cents, which Filters > Minimum Amount in Reais does not let in.',
		],
		[
			'an amount that cannot be read',
			{ filters: { minimumAmount: 0 } },
			{ amount: '19.90' },
			'The amount of the transaction is not stated in cents, which Filters > Minimum Amount in Reais does not let in.',
		],
	])('%s', (_name, wanted, transaction, expected) => {
		const filters = { ...NOTHING.filters, ...wanted.filters };
		const whole = { ...NOTHING, ...wanted, filters };
		const read = readTransaction({ hash: 'tr1', ...transaction });
		if (!read) throw new Error('Not a transaction');
		expect(whyUnwanted(whole, read)).toBe(expected);
	});
});

describe('Whether n8n would answer the next notice too late', () => {
	let now: number;
	let responses: EventEmitter[];

	beforeEach(() => {
		[now, responses] = [1_000_000, []];
		handedOver.clear();
		jest.spyOn(clock, 'elapsed').mockImplementation(() => now);
	});
	afterEach(() => jest.restoreAllMocks());

	const hand = (count: number): void => {
		for (let nth = 0; nth < count; nth++) {
			const response = new EventEmitter();
			const getResponseObject = () => response;
			const context = { getResponseObject } as unknown as IWebhookFunctions;
			handOver(context, `notice ${responses.length}`, false);
			responses.push(response);
		}
	};
	/** Its answer goes out, or its sender leaves. */
	const close = (nth: number): void => void responses[nth]?.emit('close');

	test('not if it stores none', () => {
		expect(isBacklogged()).toBe(false);
	});

	test('with eighty at once, until one of them is answered', () => {
		hand(79);
		expect(isBacklogged()).toBe(false);
		hand(1);
		expect(isBacklogged()).toBe(true);
		close(0);
		expect(isBacklogged()).toBe(false);
	});

	test('if the oldest waits for three seconds', () => {
		hand(1);
		now += 2_999;
		hand(1);
		expect(isBacklogged()).toBe(false);
		now += 1;
		expect(isBacklogged()).toBe(true);
		close(1);
		expect(isBacklogged()).toBe(true);
	});
});
