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
	const STATUS = 'which Trigger On does not let in.';
	const AMOUNT = 'which Filters > Minimum Amount in Reais does not let in.';
	const NO_AMOUNT = `amount of the transaction is not stated in cents, ${AMOUNT}`;
	const least = (minimumAmount: number): Given => ({ filters: { minimumAmount } });
	const paidBy = (...paymentMethods: string[]): Given => ({ filters: { paymentMethods } });
	const ofProducts = (...hashes: string[]): Given => ({
		products: hashes.map((product) => ({ product })),
	});
	const ofOffers = (...hashes: string[]): Given => ({ offers: hashes.map((offer) => ({ offer })) });
	const other = (...otherStatuses: string[]): Given => ({ triggerOn: ['other'], otherStatuses });

	test.each<[string, Given, IDataObject, string?]>([
		['any status', {}, { payment_status: 'never_heard_of' }],
		['any status, even none', {}, {}],
		['a status of its group', { triggerOn: ['paid'] }, { payment_status: 'paid' }],
		[
			'no status',
			{ triggerOn: ['paid'] },
			{},
			`status of the transaction is not stated, ${STATUS}`,
		],
		[
			'another of the other statuses',
			other('frozen', 'thawed'),
			{ payment_status: 'paid' },
			`status of the transaction is paid, ${STATUS}`,
		],
		[
			'one of the other statuses, however its accents are stored',
			other('em análise'.normalize('NFD')),
			{ payment_status: 'em análise'.normalize('NFC') },
		],
		['its method', paidBy('pix'), { payment_method: 'pix' }],
		['boleto', paidBy('boleto'), { payment_method: 'boleto' }],
		['billet', paidBy('boleto'), { payment_method: 'billet' }],
		[
			'no method',
			paidBy('pix', 'crypto'),
			{},
			'payment method of the transaction is not stated, which Filters > Payment Methods does not let in.',
		],
		['its product', ofProducts('p1', 'p2'), { product: { hash: 'p2' } }],
		[
			'no product',
			ofProducts('p1', 'p2'),
			{},
			'product of the transaction is not stated, which Products does not let in.',
		],
		[
			'another product',
			ofProducts('p1'),
			{ product: { hash: 'p3' } },
			'product of the transaction is p3, which Products does not let in.',
		],
		['its offer', ofOffers('o1', 'o2'), { offer: { hash: 'o2' } }],
		[
			'no offer',
			ofOffers('o1', 'o2'),
			{ product: { hash: 'o1' } },
			'offer of the transaction is not stated, which Offers does not let in.',
		],
		[
			'another offer',
			{ ...ofOffers('o1'), ...ofProducts('p1') },
			{ offer: { hash: 'o3' }, product: { hash: 'p1' } },
			'offer of the transaction is o3, which Offers does not let in.',
		],
		['exactly the amount', least(1990), { amount: 1990 }],
		['the amount as a text', least(1990), { amount: '1990' }],
		['nothing to pay', least(0), { amount: 0 }],
		['more than the amount', least(1990), { amount: 1991 }],
		[
			'a cent less than the amount',
			least(199_000),
			{ amount: 198_999 },
			`amount of the transaction is R$ 1.989,99, ${AMOUNT}`,
		],
		['no amount', least(1990), {}, NO_AMOUNT],
		['no amount where nothing is the least', least(0), {}, NO_AMOUNT],
		...['', '19.90', 'R$ 19,90', 19.9, true, 1e20, null].map(
			(amount): [string, Given, IDataObject, string] => [
				`an amount that cannot be read: ${String(amount)}`,
				least(0),
				{ amount },
				NO_AMOUNT,
			],
		),
	])('%s', (...given) => {
		const [, wanted, transaction, expected] = given;
		const filters = { ...NOTHING.filters, ...wanted.filters };
		const whole = { ...NOTHING, ...wanted, filters };
		const read = readTransaction({ hash: 'tr1', ...transaction });
		if (!read) throw new Error('Not a transaction');
		expect(whyUnwanted(whole, read)).toBe(expected && `The ${expected}`);
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
			handOver(context, `notice ${responses.length}`);
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
