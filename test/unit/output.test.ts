import type { IDataObject } from 'n8n-workflow';
import { simplifyProduct } from '../../nodes/DigitalSales/output/product';
import {
	parseTransaction,
	type Transaction,
} from '../../nodes/DigitalSales/api/schemas/transaction';
import {
	TRANSACTION_FIELDS,
	transactionOutput,
	type TransactionField,
} from '../../nodes/DigitalSales/output/transaction';

describe('A product as flat fields', () => {
	const offer = (hash: string, price: number | string | null): IDataObject => ({
		hash,
		title: `Oferta ${hash}`,
		price,
		url: `https://pay.example.com/${hash}`,
		interval: 'monthly',
	});
	const product = (more: IDataObject = {}): IDataObject => ({
		hash: 'p1',
		title: 'Curso',
		status: 1,
		id_category: 7,
		sale_page: 'https://example.com/p1',
		offers: [offer('dear', 500), offer('cheap', 100), offer('middle', 300)],
		...more,
	});

	const flat = {
		product_hash: 'p1',
		title: 'Curso',
		status: 'active',
		category_id: 7,
		sale_page: 'https://example.com/p1',
	};

	test('shows the cheapest offer and counts them all', () => {
		expect(simplifyProduct(product())).toEqual({
			...flat,
			offer_hash: 'cheap',
			offer_title: 'Oferta cheap',
			price_reais: 1,
			checkout_url: 'https://pay.example.com/cheap',
			offers: 3,
		});
	});

	test('shows the offer of a split row, with its interval', () => {
		const { offers: _offers, ...row } = product({ offer: offer('dear', '500') });

		expect(simplifyProduct(row, true)).toEqual({
			...flat,
			offer_hash: 'dear',
			offer_title: 'Oferta dear',
			price_reais: 5,
			checkout_url: 'https://pay.example.com/dear',
			interval: 'monthly',
		});
	});

	test('has null for missing and malformed values', () => {
		const odd = { toString: 1 } as unknown as string;

		expect(simplifyProduct({ hash: odd })).toEqual({
			product_hash: null,
			title: null,
			status: null,
			category_id: null,
			sale_page: null,
			offer_hash: null,
			offer_title: null,
			price_reais: null,
			checkout_url: null,
			offers: 0,
		});
		expect(simplifyProduct({ offer: { hash: odd } }, true)).toMatchObject({ offer_hash: null });
		expect(simplifyProduct({ offer: null }, true)).toMatchObject({
			offer_hash: null,
			price_reais: null,
			interval: null,
		});
	});

	test.each<[string, unknown[], string | null]>([
		['the offer with a price', [offer('none', null), offer('priced', 100)], 'priced'],
		['the first offer of equal prices', [offer('first', 100), offer('second', 100)], 'first'],
		['the first offer without prices', [offer('first', null), offer('second', null)], 'first'],
		['an offer that is free', [offer('dear', 1), offer('free', 0)], 'free'],
		['an offer whose price is a text', [offer('dear', '900'), offer('cheap', '1000')], 'dear'],
		['nothing from values that are not offers', ['text'], null],
	])('shows %s', (_name, offers, expected) => {
		expect(simplifyProduct(product({ offers: offers as IDataObject[] })).offer_hash).toBe(expected);
	});

	test.each([
		[2, 'inactive'],
		[4, 'blocked'],
		['Active', 'active'],
		['in_review', 'in review'],
		['2', 'inactive'],
		[0, 0],
		['new', null],
	])('shows the status %p as %p', (status, expected) => {
		expect(simplifyProduct(product({ status })).status).toBe(expected);
	});
});

/** As it is read from an answer of the platform. */
function read(body: IDataObject): Transaction {
	const transaction = parseTransaction(body);
	if (!transaction) throw new Error('It is no transaction');
	return transaction;
}

function simplified(body: IDataObject, fields?: TransactionField[]): IDataObject {
	return transactionOutput(read(body), { simplify: true, fields });
}

describe('A transaction as flat fields', () => {
	const sale = {
		hash: 'tr1',
		payment_status: 'waiting_payment',
		payment_method: 'pix',
		installments: '1',
		amount: 1990,
		amount_liquid: '1791',
		customer: {
			name: 'Maria',
			email: 'maria@example.com',
			phone_number: 11912345678,
			document: '52998224725',
		},
		product: { hash: 'p1', title: 'Curso' },
		offer: { hash: 'o1', title: 'Oferta' },
		items: [{ hash: 'i1', title: 'Curso' }, { hash: 'i2' }, 'text', {}],
		created_at: '2026-01-02 03:04:05',
		updated_at: '2026-01-02 03:05:06',
		pix: { pix_qr_code: '000201' },
		tracking: { src: 'instagram' },
		utm_source: 'google',
		utm_medium: 'cpc',
		utm_campaign: 'black-friday',
		utm_content: 'a',
		utm_term: null,
	};
	const ten = {
		hash: 'tr1',
		payment_status: 'waiting_payment',
		pix_qr_code: '000201',
		amount_reais: 19.9,
		customer_name: 'Maria',
		customer_email: 'maria@example.com',
		customer_phone: '11912345678',
		product_hash: 'p1',
		product_title: 'Curso',
		updated_at: '2026-01-02 03:05:06',
	};

	test('has ten fields by default, with the code to pay as the third column', () => {
		expect(Object.entries(simplified(sale))).toEqual(Object.entries(ten));
		expect(Object.keys(ten)).toHaveLength(10);
	});

	test.each<[string, IDataObject, string | undefined]>([
		['that is paid', { payment_status: 'paid' }, undefined],
		['that a bank wants back', { payment_status: 'med_analysis' }, undefined],
		['that is under review', { payment_status: 'antifraud' }, '000201'],
		['whose status is not stated', { payment_status: null }, '000201'],
	])('has the PIX code only while it can be paid: a transaction %s', (_name, more, code) => {
		expect(simplified({ ...sale, ...more }).pix_qr_code).toBe(code);
	});

	test('has the chosen fields in a fixed order, and always hash and status', () => {
		const fields: TransactionField[] = ['utm_source', 'item_titles', 'amount', 'offer_hash'];
		const row = simplified(sale, fields);

		expect(row).toEqual({
			hash: 'tr1',
			payment_status: 'waiting_payment',
			amount: 1990,
			offer_hash: 'o1',
			item_titles: 'Curso, i2',
			utm_source: 'google',
		});
		expect(Object.keys(row)).toEqual(Object.keys(simplified(sale, [...fields].reverse())));
		expect(simplified(sale, [])).toEqual({ hash: 'tr1', payment_status: 'waiting_payment' });
	});

	test('offers all other fields to choose', () => {
		const fields = TRANSACTION_FIELDS.filter((name) => !(name in ten));

		expect(simplified(sale, fields)).toEqual({
			hash: 'tr1',
			payment_status: 'waiting_payment',
			amount: 1990,
			amount_liquid_reais: 17.91,
			amount_liquid: 1791,
			customer_document: '52998224725',
			offer_hash: 'o1',
			offer_title: 'Oferta',
			item_titles: 'Curso, i2',
			payment_method: 'pix',
			installments: 1,
			created_at: '2026-01-02 03:04:05',
			pix_qr_code_image: null,
			src: 'instagram',
			utm_source: 'google',
			utm_medium: 'cpc',
			utm_campaign: 'black-friday',
			utm_content: 'a',
			utm_term: null,
		});
	});

	test.each<[IDataObject, string]>([
		[{ hash: 12, pix: null, customer: null }, '12'],
		[{ hash: ' tr1 ', amount: 1e20, customer: { phone_number: true } }, 'tr1'],
		[{ hash: 'tr1', amount: 'much', customer: 'Maria', pix: 'none', items: 'none' }, 'tr1'],
	])('has null for data that %j does not contain', (json, hash) => {
		const { pix_qr_code: _code, ...always } = ten;
		const nothing = Object.fromEntries(Object.keys(always).map((name) => [name, null]));

		expect(simplified(json)).toEqual({ ...nothing, hash });
	});

	test('has a numeric date as text, and the title of the offer if there is no product', () => {
		const body = { hash: 'tr1', updated_at: 1767326645, offer: { title: 'Oferta' } };

		expect(simplified(body)).toMatchObject({ updated_at: '1767326645', product_title: 'Oferta' });
	});
});
