import { EventEmitter } from 'node:events';
import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { readTransaction } from '../../../nodes/DigitalSales/api/schemas/transaction';
import { handedOver, handOver, isBacklogged } from '../../../nodes/DigitalSales/trigger/receive';
import { type Wanted, whyUnwanted } from '../../../nodes/DigitalSales/trigger/wanted';

type Given = Partial<Omit<Wanted, 'filters'>> & { filters?: Partial<Wanted['filters']> };

/** What is refused of a transaction, its value, and the field that refuses it. */
type Refused = [what: string, value: string, field: string];

const NOTHING: Wanted = {
	triggerOn: ['any'],
	otherStatuses: undefined,
	products: [],
	offers: [],
	filters: { minimumAmount: undefined, paymentMethods: undefined },
};

describe('What a trigger does not want', () => {
	const NO_AMOUNT: Refused = ['amount', 'not stated in cents', 'Filters > Minimum Amount in Reais'];
	const least = (minimumAmount: number): Given => ({ filters: { minimumAmount } });
	const paidBy = (...paymentMethods: string[]): Given => ({ filters: { paymentMethods } });
	const ofProducts = (...hashes: string[]): Given => ({
		products: hashes.map((product) => ({ product })),
	});
	const ofOffers = (...hashes: string[]): Given => ({ offers: hashes.map((offer) => ({ offer })) });
	const other = (...otherStatuses: string[]): Given => ({ triggerOn: ['other'], otherStatuses });

	test.each<[string, Given, IDataObject, Refused?]>([
		['any status', {}, { payment_status: 'never_heard_of' }],
		['any status, even none', {}, {}],
		['a status of its group', { triggerOn: ['paid'] }, { payment_status: 'paid' }],
		['no status', { triggerOn: ['paid'] }, {}, ['status', 'not stated', 'Trigger On']],
		[
			'another of the other statuses',
			other('frozen', 'thawed'),
			{ payment_status: 'paid' },
			['status', 'paid', 'Trigger On'],
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
			['payment method', 'not stated', 'Filters > Payment Methods'],
		],
		['its product', ofProducts('p1', 'p2'), { product: { hash: 'p2' } }],
		['no product', ofProducts('p1', 'p2'), {}, ['product', 'not stated', 'Products']],
		[
			'another product',
			ofProducts('p1'),
			{ product: { hash: 'p3' } },
			['product', 'p3', 'Products'],
		],
		['its offer', ofOffers('o1', 'o2'), { offer: { hash: 'o2' } }],
		['no offer', ofOffers('o1'), { product: { hash: 'o1' } }, ['offer', 'not stated', 'Offers']],
		[
			'another offer',
			{ ...ofOffers('o1'), ...ofProducts('p1') },
			{ offer: { hash: 'o3' }, product: { hash: 'p1' } },
			['offer', 'o3', 'Offers'],
		],
		['exactly the amount', least(1990), { amount: 1990 }],
		['the amount as a text', least(1990), { amount: '1990' }],
		['nothing to pay', least(0), { amount: 0 }],
		['more than the amount', least(1990), { amount: 1991 }],
		[
			'a cent less than the amount',
			least(199_000),
			{ amount: 198_999 },
			['amount', 'R$ 1.989,99', 'Filters > Minimum Amount in Reais'],
		],
		['no amount', least(1990), {}, NO_AMOUNT],
		['no amount where nothing is the least', least(0), {}, NO_AMOUNT],
		...['', '19.90', 'R$ 19,90', 19.9, true, 1e20, null].map(
			(amount): [string, Given, IDataObject, Refused] => [
				`an amount that cannot be read: ${String(amount)}`,
				least(0),
				{ amount },
				NO_AMOUNT,
			],
		),
	])('%s', (...given) => {
		const [, wanted, transaction, refused] = given;
		const filters = { ...NOTHING.filters, ...wanted.filters };
		const whole = { ...NOTHING, ...wanted, filters };
		const read = readTransaction({ hash: 'tr1', ...transaction });
		if (!read) throw new Error('Not a transaction');
		const [what, value, field] = refused ?? [];
		const reason = `The ${what} of the transaction is ${value}, which ${field} does not let in.`;
		expect(whyUnwanted(whole, read)).toBe(refused && reason);
	});
});

describe('Waiting for Payment', () => {
	test.each([
		...['waiting_payment', 'pending', 'processing', 'prossessing', 'authorized', 'antifraud'],
		...['analyzing', 'pending_review'],
	])('is what the service calls %s', (payment_status) => {
		const read = readTransaction({ hash: 'tr1', payment_status });
		const reasons = ['waiting', 'failed'].map(
			(group) => read && whyUnwanted({ ...NOTHING, triggerOn: [group] }, read),
		);

		expect(reasons).toEqual([undefined, expect.stringContaining('Trigger On')]);
	});
});

describe('Whether n8n would answer the next notice too late', () => {
	let responses: EventEmitter[];

	beforeEach(() => {
		responses = [];
		handedOver.clear();
	});

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
});
