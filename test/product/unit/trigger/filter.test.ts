import type { Notice } from '../../../../nodes/DigitalSales/notice/parse';
import { whyUnwanted, type Wanted } from '../../../../nodes/DigitalSales/trigger/form';

describe('What a trigger does not want', () => {
	test.each<[string, Partial<Wanted>, Partial<Notice>, string | undefined]>([
		['any status', {}, { status: 'never_heard_of' }, undefined],
		['any status, even none', {}, {}, undefined],
		['a status of its group', { triggerOn: ['paid'] }, { status: 'paid' }, undefined],
		[
			'a status that is not stated',
			{ triggerOn: ['paid'] },
			{},
			'The status of the transaction is not stated; Trigger On asks for Paid.',
		],
		[
			'another of the other statuses',
			{ triggerOn: ['other'], otherStatuses: ['frozen', 'thawed'] },
			{ status: 'paid' },
			'The status of the transaction is paid; Trigger On asks for frozen, thawed.',
		],
		[
			'one of the other statuses, however its accents are stored',
			{ triggerOn: ['other'], otherStatuses: ['em análise'.normalize('NFD')] },
			{ status: 'em análise'.normalize('NFC') },
			undefined,
		],
		['its method', { filters: { paymentMethods: ['pix'] } }, { paymentMethod: 'pix' }, undefined],
		['boleto', { filters: { paymentMethods: ['boleto'] } }, { paymentMethod: 'boleto' }, undefined],
		['billet', { filters: { paymentMethods: ['boleto'] } }, { paymentMethod: 'billet' }, undefined],
		[
			'a method that is not stated',
			{ filters: { paymentMethods: ['pix', 'crypto'] } },
			{},
			'The payment method of the transaction is not stated; Filters > Payment Methods asks for PIX, crypto.',
		],
		['its product', { products: ['p1', 'p2'] }, { productHash: 'p2' }, undefined],
		[
			'a product that is not stated',
			{ products: ['p1', 'p2'] },
			{},
			'The product of the transaction is not stated; Products asks for p1, p2.',
		],
		[
			'another product',
			{ products: ['p1'] },
			{ productHash: 'p3' },
			'The product of the transaction is p3; Products asks for p1.',
		],
		['its offer', { offers: ['o1', 'o2'] }, { offerHash: 'o2' }, undefined],
		[
			'an offer that is not stated',
			{ offers: ['o1', 'o2'] },
			{ productHash: 'o1' },
			'The offer of the transaction is not stated; Offers asks for o1, o2.',
		],
		[
			'another offer',
			{ offers: ['o1'], products: ['p1'] },
			{ offerHash: 'o3', productHash: 'p1' },
			'The offer of the transaction is o3; Offers asks for o1.',
		],
		['exactly the amount', { filters: { minimumAmount: 1990 } }, { amount: 1990 }, undefined],
		['more than the amount', { filters: { minimumAmount: 1990 } }, { amount: 1991 }, undefined],
		[
			'a cent less than the amount',
			{ filters: { minimumAmount: 199_000 } },
			{ amount: 198_999 },
			'The amount of the transaction is R$ 1.989,99; Filters > Minimum Amount in Reais asks for R$ 1.990,00 or more.',
		],
		[
			'an amount that is not stated',
			{ filters: { minimumAmount: 1990 } },
			{},
			'The amount of the transaction is not stated; Filters > Minimum Amount in Reais asks for R$ 19,90 or more.',
		],
		[
			'an amount that is not stated where nothing is the least',
			{ filters: { minimumAmount: 0 } },
			{},
			'The amount of the transaction is not stated; Filters > Minimum Amount in Reais asks for R$ 0,00 or more.',
		],
		[
			'an amount that cannot be read',
			{ filters: { minimumAmount: 0 } },
			{ amount: 'unreadable' },
			'The amount of the transaction cannot be read; Filters > Minimum Amount in Reais asks for R$ 0,00 or more.',
		],
	])('%s', (_name, wanted, transaction, expected) => {
		const whole = { triggerOn: ['any'], filters: {}, ...wanted };
		expect(whyUnwanted(whole, { hash: 'tr1', ...transaction })).toBe(expected);
	});
});
