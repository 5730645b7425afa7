import { startSandbox } from '../../../sandbox';
import { at, call, useSandbox, type Reply } from './support';

describe('POST /products/{hash}/offers', () => {
	const held = useSandbox();
	const post = async (body: unknown, index = 0): Promise<Reply> => {
		const hash = held.sandbox.products[index]?.hash ?? '';
		return await call(held.sandbox, 'POST', `/products/${hash}/offers`, body);
	};

	test('answers 201 with the documented object, and the catalog has the offer', async () => {
		const { status, body } = await post({
			title: 'Oferta de verão',
			price: 115,
			payment_methods: [1, 2, 3],
			method_default: 3,
			affiliates_visible: false,
			payment_method_discounts: [{ payment_method: 'pix', discount_percentage: 2.5 }],
		});
		expect(status).toBe(201);
		expect(Object.keys(body as object)).toEqual([
			'hash',
			'title',
			'price',
			'url',
			'status',
			'created_at',
			'updated_at',
		]);
		expect(body).toMatchObject({ title: 'Oferta de verão', price: 115, status: 1 });
		expect(held.sandbox.offers).toHaveLength(1);
		const listed = await call(held.sandbox, 'GET', '/products');
		expect(at(listed.body, 'data', 0, 'offers')).toContainEqual({
			...(body as object),
			interval: null,
		});
	});

	test('repeats an interval that was sent', async () => {
		expect((await post({ price: 990, interval: 'semi-annual' })).body).toMatchObject({
			interval: 'semi-annual',
		});
	});

	test('demands an interval for a subscription product', async () => {
		const index = held.sandbox.products.findIndex(({ offers }) => offers[0]?.interval !== null);
		expect((await post({ price: 990 }, index)).body).toEqual({
			success: false,
			message: 'The interval field is required.',
			errors: ['The interval field is required.'],
		});
		expect((await post({ price: 990, interval: 'monthly' }, index)).status).toBe(201);
	});

	test.each([
		['a price as a text', { price: '990' }],
		['a price with a fraction', { price: 9.9 }],
		['no price', { title: 'x' }],
		['a price of nothing', { price: 0 }],
		['an unknown method', { price: 1, payment_methods: [4] }],
		['a method as a text', { price: 1, payment_methods: ['3'] }],
		['an unknown default method', { price: 1, method_default: 9 }],
		['an unknown interval', { price: 1, interval: 'hourly' }],
		[
			'a discount above all',
			{ price: 1, payment_method_discounts: [{ payment_method: 'pix', discount_percentage: 101 }] },
		],
		['discounts that are no list', { price: 1, payment_method_discounts: { pix: 1 } }],
		['visibility as a text', { price: 1, affiliates_visible: 'true' }],
		['a title that is none', { price: 1, title: 5 }],
		['a body that is no object', [1]],
	])('refuses %s with error shape (a)', async (_what, body) => {
		const reply = await post(body);
		expect(reply.status).toBe(422);
		expect(reply.body).toEqual({
			success: false,
			message: expect.any(String) as unknown,
			errors: expect.arrayContaining([expect.any(String)]) as unknown,
		});
		expect(held.sandbox.offers).toHaveLength(0);
	});

	test('answers error shape (b) for a product it does not know', async () => {
		const reply = await call(held.sandbox, 'POST', '/products/nothing/offers', { price: 1 });
		expect(reply.status).toBe(404);
		expect(reply.body).toEqual({ success: false, message: 'Product not found.' });
	});

	test('keys the errors by field when told to', async () => {
		held.sandbox.addFault({ kind: 'errorsByField' });
		const reply = await post({ price: '1', payment_methods: [3, 7] });
		expect(reply.status).toBe(422);
		expect(at(reply.body, 'errors')).toEqual({
			price: ['The price field must be an integer.'],
			'payment_methods.1': ['The payment_methods.1 field is invalid.'],
		});
	});

	test('takes a body without the JSON header for empty', async () => {
		const { hash = '' } = held.sandbox.products[0] ?? {};
		const path = `/products/${hash}/offers`;
		const headers = { 'content-type': 'text/plain' };
		expect((await call(held.sandbox, 'POST', path, { price: 1 }, headers)).status).toBe(422);
	});
});

test('a deployment can demand further fields', async () => {
	const sandbox = await startSandbox({ demands: { offer: ['expire_in_days'] } });
	const path = `/products/${sandbox.products[0]?.hash}/offers`;
	expect((await call(sandbox, 'POST', path, { price: 1 })).status).toBe(422);
	expect((await call(sandbox, 'POST', path, { price: 1, expire_in_days: 3 })).status).toBe(201);
	await sandbox.close();
});
