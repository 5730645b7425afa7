import {
	bodySchema,
	fingerprintCharge,
} from '../../../nodes/DigitalSales/actions/transaction/chargeBody';

const fingerprint = (body: object): string => fingerprintCharge(bodySchema.parse(body));

const line = (item: object) => ({ cart: [{ price: 1990, quantity: 1, ...item }] });
const offer = (more: object = {}) => line({ offer_hash: 'a', ...more });
const typed = (operation_type: string) => offer({ operation_type });
const blank = (title: string) => line({ offer_hash: '', title });
const by = (customer: object) => ({ amount: 1, customer });
const stored = (body: object, form: string): object =>
	JSON.parse(JSON.stringify(body).normalize(form)) as object;
const NAME = by({ name: 'José Açaí' });
const TITLES = { cart: ['Aç', 'Az'].map((title) => ({ title, price: 1 })) };

describe('The fingerprint of a charge', () => {
	test.each<[string, object, object]>([
		['a number and its digits', offer(), offer({ price: '1990' })],
		[
			'one e-mail, with any phone and name',
			by({ email: 'm@example.com', phone_number: '11912345678', name: 'Maria' }),
			by({ email: 'm@example.com', phone_number: '11987654321', name: 'M. Silva' }),
		],
		[
			'one phone without an e-mail, with any name',
			by({ phone_number: '11912345678', name: 'Maria' }),
			by({ phone_number: '11912345678', name: 'M. Silva' }),
		],
		['any other Custom Field of a cart line', offer({ size: 'M' }), offer({ size: 'G' })],
		['a document as a number', by({ document: '52998224725' }), by({ document: 52998224725 })],
		['a name, however its accents are stored', stored(NAME, 'NFD'), stored(NAME, 'NFC')],
		['titles, however their accents are stored', stored(TITLES, 'NFD'), stored(TITLES, 'NFC')],
	])('is the same for %s', (_what, one, other) => {
		expect(fingerprint(one)).toBe(fingerprint(other));
	});

	test.each<[string, object, object]>([
		['another offer beside the cart', offer(), { ...offer(), offer_hash: 'b' }],
		[
			'customers of one name with different e-mails',
			by({ email: 'a@example.com', name: 'Maria' }),
			by({ email: 'b@example.com', name: 'Maria' }),
		],
		[
			'customers of one name with different phones',
			by({ phone_number: '11912345678', name: 'Maria' }),
			by({ phone_number: '11987654321', name: 'Maria' }),
		],
		['texts that end in the same digits', typed('a1'), typed('b1')],
		['texts that begin with the same digits', typed('1a'), typed('1b')],
		['names that differ in accents', NAME, by({ name: 'Jose Acai' })],
		['titles that differ in accents', line({ title: 'Aç' }), line({ title: 'Ac' })],
		['offers whose hashes differ in zeros', line({ offer_hash: '01' }), line({ offer_hash: '1' })],
		['items of another platform', line({ product_hash: 'a' }), line({ product_hash: 'b' })],
		['customers in the fields of another platform', by({ cpf: '1' }), by({ cpf: '2' })],
		['titles of items with a blank offer', blank('A'), blank('B')],
		[
			'customers with a placeholder for a document',
			by({ document: '00000000000', email: 'a@example.com' }),
			by({ document: '00000000000', email: 'b@example.com' }),
		],
	])('differs for %s', (_what, one, other) => {
		expect(fingerprint(one)).not.toBe(fingerprint(other));
	});
});
