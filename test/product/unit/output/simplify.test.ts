import type { IDataObject } from 'n8n-workflow';
import { simplifyProduct } from '../../../../nodes/DigitalSales/output/product';
import { readTransaction } from '../../../../nodes/DigitalSales/api/schemas/transaction';
import type { AmountUnit } from '../../../../nodes/DigitalSales/domain/money';
import { simplifyTransaction } from '../../../../nodes/DigitalSales/output/transaction';

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

	test('shows the cheapest offer and counts them all', () => {
		expect(simplifyProduct(product())).toEqual({
			product_hash: 'p1',
			title: 'Curso',
			status: 'active',
			category_id: 7,
			sale_page: 'https://example.com/p1',
			offer_hash: 'cheap',
			offer_title: 'Oferta cheap',
			price_reais: 1,
			checkout_url: 'https://pay.example.com/cheap',
			offers: 3,
		});
	});

	test('shows the very offer of a split row, with its interval', () => {
		const { offers: _offers, ...row } = product({ offer: offer('dear', '500') });

		expect(simplifyProduct(row, 'cents', true)).toEqual({
			product_hash: 'p1',
			title: 'Curso',
			status: 'active',
			category_id: 7,
			sale_page: 'https://example.com/p1',
			offer_hash: 'dear',
			offer_title: 'Oferta dear',
			price: 500,
			checkout_url: 'https://pay.example.com/dear',
			interval: 'monthly',
		});
	});

	test.each<[string, IDataObject]>([
		['cents', { price: null }],
		['reais', { price_reais: null }],
	])('has null for everything that the service does not say, in %s', (unit, price) => {
		expect(simplifyProduct({}, unit === 'reais' ? 'reais' : 'cents')).toEqual({
			product_hash: null,
			title: null,
			status: null,
			category_id: null,
			sale_page: null,
			offer_hash: null,
			offer_title: null,
			...price,
			checkout_url: null,
			offers: 0,
		});
	});

	test('has null for hashes of which no text can be made', () => {
		const hash = { toString: 1 } as unknown as string;

		expect(simplifyProduct({ hash, offers: [{ hash }] } as IDataObject)).toMatchObject({
			product_hash: null,
			offer_hash: null,
		});
	});

	test('has null for the offer of a row that has none', () => {
		expect(simplifyProduct({ hash: 'p1', offer: null }, 'reais', true)).toMatchObject({
			product_hash: 'p1',
			offer_hash: null,
			price_reais: null,
			interval: null,
		});
	});

	test.each<[string, unknown[], string | null]>([
		['a price behind one without', [offer('none', null), offer('priced', 100)], 'priced'],
		['a price before one without', [offer('priced', 100), offer('none', null)], 'priced'],
		['the first of equal prices', [offer('first', 100), offer('second', 100)], 'first'],
		['the first where no price is known', [offer('first', null), offer('second', null)], 'first'],
		['a price that is free', [offer('dear', 1), offer('free', 0)], 'free'],
		['a price that is a text', [offer('dear', '900'), offer('cheap', '1000')], 'dear'],
		['nothing of offers that are none', ['text'], null],
	])('takes %s', (_name, offers, expected) => {
		expect(simplifyProduct(product({ offers: offers as IDataObject[] })).offer_hash).toBe(expected);
	});

	test.each([
		[1, 'active'],
		[2, 'inactive'],
		[3, 'in review'],
		[4, 'blocked'],
		['Active', 'active'],
		['in_review', 'in review'],
		['2', 'inactive'],
		[5, 5],
		[0, 0],
		['new', null],
		[null, null],
	])('says of status %p: %p', (status, expected) => {
		expect(simplifyProduct(product({ status })).status).toBe(expected);
	});
});

/** As it is read from an answer of the service. */
function simplified(body: IDataObject, unit?: AmountUnit): IDataObject {
	const transaction = readTransaction(body);
	if (!transaction) throw new Error('It is no transaction');
	return simplifyTransaction(transaction, unit);
}

describe('A transaction as flat fields', () => {
	test('has ten of them', () => {
		expect(
			simplified({
				hash: 'tr1',
				payment_status: 'paid',
				payment_method: 'pix',
				amount: 1990,
				customer: { name: 'Maria', email: 'maria@example.com', phone_number: 11912345678 },
				product: { title: 'Curso' },
				offer: { title: 'Oferta' },
				created_at: '2026-01-02 03:04:05',
				pix: { pix_qr_code: '000201' },
			}),
		).toEqual({
			hash: 'tr1',
			payment_status: 'paid',
			payment_method: 'pix',
			amount_reais: 19.9,
			customer_name: 'Maria',
			customer_email: 'maria@example.com',
			customer_phone: '11912345678',
			product_title: 'Curso',
			created_at: '2026-01-02 03:04:05',
			pix_qr_code: '000201',
		});
	});

	test.each<[IDataObject, string, IDataObject]>([
		[{ hash: 12 }, '12', { amount_reais: null }],
		[{ hash: ' tr1 ', pix: null, customer: null }, 'tr1', { amount_reais: null }],
		[
			{ hash: 'tr1', amount: 1e20, customer: { phone_number: true } },
			'tr1',
			{ amount_reais: null },
		],
		[
			{ hash: 'tr1', amount: 'much', customer: 'Maria', pix: 'none' },
			'tr1',
			{ amount_reais: null },
		],
	])('has null for what %j does not say', (json, hash, amount) => {
		expect(simplified(json)).toEqual({
			hash,
			payment_status: null,
			payment_method: null,
			...amount,
			customer_name: null,
			customer_email: null,
			customer_phone: null,
			product_title: null,
			created_at: null,
			pix_qr_code: null,
		});
	});

	test('has a number for a date as text', () => {
		expect(simplified({ hash: 'tr1', created_at: 1767326645 }).created_at).toBe('1767326645');
	});

	test('has the amount in cents on request, and the title of the offer for want of a product', () => {
		expect(
			simplified({ hash: 'tr1', amount: '1990', offer: { title: 'Oferta' } }, 'cents'),
		).toMatchObject({ amount: 1990, product_title: 'Oferta' });
	});
});
