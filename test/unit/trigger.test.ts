import type { IDataObject } from 'n8n-workflow';
import { readTransaction } from '../../nodes/DigitalSales/api/schemas/transaction';
import { isLater } from '../../nodes/DigitalSales/domain/paymentStatus';
import { type Wanted, rejectionReason } from '../../nodes/DigitalSales/trigger/filters';

type Given = Partial<Omit<Wanted, 'filters'>> & { filters?: Partial<Wanted['filters']> };

const NOTHING: Wanted = {
	triggerOn: ['any'],
	otherStatuses: undefined,
	products: [],
	filters: { offers: [], minimumAmount: undefined, paymentMethods: undefined },
};

describe('A transaction', () => {
	const least = (minimumAmount: number): Given => ({ filters: { minimumAmount } });
	const paidBy = (...paymentMethods: string[]): Given => ({ filters: { paymentMethods } });
	const ofProducts = (...hashes: string[]): Given => ({
		products: hashes.map((product) => ({ product })),
	});
	const ofOffers = (...hashes: string[]): Given => ({
		filters: { offers: hashes.map((offer) => ({ offer })) },
	});
	const on = (triggerOn: string, ...otherStatuses: string[]): Given => ({
		triggerOn: [triggerOn],
		otherStatuses,
	});
	const reasonFor = (given: Given, transaction: IDataObject): string | undefined => {
		const read = readTransaction({ hash: 'tr1', ...transaction });
		if (!read) throw new Error('Not a transaction');
		const filters = { ...NOTHING.filters, ...given.filters };
		return rejectionReason({ ...NOTHING, ...given, filters }, read);
	};

	test.each<[string, Given, IDataObject]>([
		['any status', {}, { payment_status: 'never_heard_of' }],
		['any status, even a missing status', {}, {}],
		['a status of its group', on('paid'), { payment_status: 'paid' }],
		[
			'one of the other statuses, however its accents are stored',
			on('other', 'em análise'.normalize('NFD')),
			{ payment_status: 'em análise'.normalize('NFC') },
		],
		['its method', paidBy('pix'), { payment_method: 'pix' }],
		['its method in capitals', paidBy('pix'), { payment_method: 'PIX' }],
		['its method, which the form has in capitals', paidBy('PIX'), { payment_method: 'pix' }],
		['boleto', paidBy('boleto'), { payment_method: 'boleto' }],
		['billet', paidBy('boleto'), { payment_method: 'billet' }],
		['its product', ofProducts('p1', 'p2'), { product: { hash: 'p2' } }],
		['its offer', ofOffers('o1', 'o2'), { offer: { hash: 'o2' } }],
		['exactly the amount', least(1990), { amount: 1990 }],
		['the amount as a text', least(1990), { amount: '1990' }],
		['nothing to pay', least(0), { amount: 0 }],
		['more than the amount', least(1990), { amount: 1991 }],
	])('starts the workflow with %s', (_name, given, transaction) => {
		expect(reasonFor(given, transaction)).toBeUndefined();
	});

	test.each<[string, Given, IDataObject]>([
		['status is not stated, which does not match Trigger On', on('paid'), {}],
		[
			'status is paid, which does not match Trigger On',
			on('other', 'frozen'),
			{ payment_status: 'paid' },
		],
		[
			'status is frozen, which does not match Trigger On',
			on('paid', 'frozen'),
			{ payment_status: 'frozen' },
		],
		[
			'payment method is not stated, which does not match Filters > Payment Methods',
			paidBy('pix', 'crypto'),
			{},
		],
		['product is not stated, which does not match Products', ofProducts('p1', 'p2'), {}],
		['product is p3, which does not match Products', ofProducts('p1'), { product: { hash: 'p3' } }],
		[
			'offer is not stated, which does not match Filters > Offers',
			ofOffers('o1'),
			{ product: { hash: 'o1' } },
		],
		[
			'offer is o3, which does not match Filters > Offers',
			{ ...ofOffers('o1'), ...ofProducts('p1') },
			{ offer: { hash: 'o3' }, product: { hash: 'p1' } },
		],
		[
			'amount is R$ 1.989,99, which does not match Filters > Minimum Amount in Reais',
			least(199_000),
			{ amount: 198_999 },
		],
	])('is rejected if its %s', (reason, given, transaction) => {
		const [what, rest] = reason.split(' is ');
		expect(reasonFor(given, transaction)).toBe(`The ${what} of the transaction is ${rest}.`);
	});

	test.each([undefined, '', '19.90', 'R$ 19,90', 19.9, true, 1e20, null])(
		'is rejected if its amount is %j, even if the minimum is 0',
		(amount) => {
			expect(reasonFor(least(0), { amount })).toBe(
				'The amount of the transaction is not stated in cents, which does not match Filters > Minimum Amount in Reais.',
			);
		},
	);

	test.each<[string, string, string[]]>([
		[
			'waiting',
			'failed',
			[
				...['waiting_payment', 'pending', 'processing', 'prossessing', 'authorized'],
				...['antifraud', 'analyzing', 'pending_review'],
			],
		],
		[
			'failed',
			'reversed',
			['refused', 'rejected', 'declined', 'failed', 'canceled', 'cancelled', 'expired'],
		],
		['reversed', 'paid', ['refunded', 'chargeback', 'med_analysis']],
	])('is %s, not %s, by the statuses of the platform', (group, other, statuses) => {
		const wantedBy = (triggerOn: string): string[] =>
			statuses.filter((status) => !reasonFor(on(triggerOn), { payment_status: status }));

		expect([wantedBy(group), wantedBy(other)]).toEqual([statuses, []]);
	});
});

describe('A status', () => {
	test.each([
		['paid', 'waiting_payment'],
		['expired', 'authorized'],
		['paid', 'expired'],
		['med_analysis', 'paid'],
		['refunded', 'waiting_refund'],
		['chargeback', 'med_received'],
		['PAID', 'Waiting_Payment'],
	])('%s comes after %s, and not the other way', (later, earlier) => {
		expect([isLater(later, earlier), isLater(earlier, later)]).toEqual([true, false]);
	});

	test.each([
		['paid', 'paid'],
		['authorized', 'waiting_payment'],
		['refused', 'expired'],
		['refunded', 'expired'],
		['paid', 'never_heard_of'],
		['paid', undefined],
	])('%s and %s have no known order', (one, other) => {
		expect([isLater(one, other), isLater(other, one)]).toEqual([false, false]);
	});
});
