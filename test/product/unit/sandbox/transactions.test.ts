import { startSandbox } from '../../../sandbox';
import { at, call, create, order, useSandbox, type Reply } from './support';

const COMMON_FIELDS = [
	'affiliate',
	'amount',
	'amount_liquid',
	'billet',
	'created_at',
	'customer',
	'event',
	'hash',
	'installments',
	'items',
	'offer',
	'payment_method',
	'payment_status',
	'pix',
	'postback_url',
	'producer',
	'product',
	'transaction',
	'updated_at',
	'utm_campaign',
	'utm_content',
	'utm_medium',
	'utm_source',
	'utm_term',
];

describe('POST /transactions', () => {
	const held = useSandbox();
	const post = async (changes?: Record<string, unknown>): Promise<Reply> =>
		await call(held.sandbox, 'POST', '/transactions', order(held.sandbox, changes));

	test('answers 201 with the POST shape', async () => {
		const tracking = { src: 'afiliado', utm_source: 'email', utm_term: 'null' };
		const webhook = 'https://n8n.example.test/hook';
		const { status, body } = await post({ tracking, webhook_url: webhook });
		expect(status).toBe(201);
		expect(Object.keys(body as object).sort()).toEqual([...COMMON_FIELDS, 'tracking_code'].sort());
		const first = held.sandbox.products[0];
		expect(body).toMatchObject({
			event: 'transaction',
			hash: expect.stringMatching(/^[a-z][a-z0-9]{9}$/) as unknown,
			payment_method: 'pix',
			payment_status: 'waiting_payment',
			installments: 1,
			billet: null,
			affiliate: null,
			amount: 1990,
			transaction: expect.any(String) as unknown,
			utm_source: 'email',
			utm_term: 'null',
			utm_medium: null,
			customer: { name: 'João da Conceição', document: '52998224725' },
			offer: { hash: first?.offers[0]?.hash, price: first?.offers[0]?.price },
			product: { hash: first?.hash, status: 'active' },
			items: [{ hash: first?.offers[0]?.hash, product_id: 1001, operation_type: 1 }],
			postback_url: webhook,
			tracking_code: 'afiliado',
		});
		expect(Object.keys(at(body, 'producer') as object)).toEqual(['name']);
		expect(at(body, 'created_at')).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
		expect(held.sandbox.charges()).toBe(1);
	});

	test('takes the API token in the body, too, and no other', async () => {
		expect((await post({ api_token: held.sandbox.apiToken })).status).toBe(201);
		expect((await post({ api_token: 'nonsense' })).status).toBe(401);
		expect((await post({ api_token: undefined })).body).toEqual({
			success: false,
			message: 'Unauthenticated.',
			errors: ['The api_token field is required.'],
		});
		expect(held.sandbox.charges()).toBe(1);
	});

	test('takes a CNPJ with letters', async () => {
		const customer = { name: 'Loja', email: 'a@b.test', document: '12ABC34501DE35' };
		expect((await post({ customer })).status).toBe(201);
	});

	test.each([
		['an amount as a text', { amount: '1990' }, 'amount'],
		['an amount with a fraction', { amount: 19.9 }, 'amount'],
		['another method', { payment_method: 'credit_card' }, 'payment_method'],
		['no cart', { cart: undefined }, 'cart'],
		['an empty cart', { cart: [] }, 'cart'],
		['an unknown offer', { cart: [{ offer_hash: 'nothing' }] }, 'cart.0.offer_hash'],
		['a price as a text', { cart: [{ offer_hash: 'x', price: '1' }] }, 'cart.0.price'],
		['a cart of texts', { cart: ['x'] }, 'cart.0'],
		['installments as a text', { installments: '1' }, 'installments'],
		['no customer', { customer: undefined }, 'customer'],
		[
			'a document with punctuation',
			{ customer: { document: '529.982.247-25' } },
			'customer.document',
		],
		[
			'a phone number with signs',
			{ customer: { phone_number: '+55 11 9' } },
			'customer.phone_number',
		],
		['an address that is no URL', { webhook_url: 'n8n.example' }, 'webhook_url'],
		['an address of another scheme', { webhook_url: 'ftp://example.test/' }, 'webhook_url'],
		['tracking that is no object', { tracking: 'src=1' }, 'tracking'],
	])('refuses %s', async (_what, changes, field) => {
		held.sandbox.addFault({ kind: 'errorsByField' });
		const keyed = await post(changes);
		expect(keyed.status).toBe(422);
		expect(at(keyed.body, 'errors')).toHaveProperty([field]);
		const listed = await post(changes);
		expect(listed.body).toMatchObject({ success: false, message: expect.any(String) as unknown });
		expect(Array.isArray(at(listed.body, 'errors'))).toBe(true);
		expect(held.sandbox.charges()).toBe(0);
	});

	test('takes a broken body for an empty one, without a token', async () => {
		const response = await fetch(`${held.sandbox.baseUrl}/transactions`, {
			method: 'POST',
			headers: {
				authorization: `Bearer ${held.sandbox.apiToken}`,
				'content-type': 'application/json',
			},
			body: '{"amount":',
		});
		expect(response.status).toBe(401);
	});

	test('a refused charge is still a success, without a code', async () => {
		held.sandbox.addFault({ kind: 'refused' });
		const { status, body } = await post();
		expect(status).toBe(201);
		expect(body).toMatchObject({ payment_status: 'refused', pix: null });
		expect(held.sandbox.charges()).toBe(1);
	});
});

describe('GET /transactions/{hash}', () => {
	const held = useSandbox();

	test('answers the GET shape', async () => {
		const hash = await create(held.sandbox);
		const { status, body } = await call(held.sandbox, 'GET', `/transactions/${hash}`);
		expect(status).toBe(200);
		expect(Object.keys(body as object).sort()).toEqual(
			[...COMMON_FIELDS, 'balance', 'split_recipients'].sort(),
		);
		expect(body).toMatchObject({
			hash,
			amount: 1990,
			amount_liquid: 1791,
			balance: { amount: 1791, status: 'available' },
			split_recipients: [
				{ recipient_type: 'producer', amount: '1791' },
				{ recipient_type: 'platform', amount: '199' },
			],
		});
		expect(Object.keys(at(body, 'producer') as object)).toEqual(['hash', 'name', 'email']);
	});

	test('answers a JSON 404 for a hash it does not know, and 401 without a token', async () => {
		const unknown = await call(held.sandbox, 'GET', '/transactions/nothing');
		expect(unknown.status).toBe(404);
		expect(unknown.body).toEqual({ success: false, message: 'Transaction not found.' });
		expect((await fetch(`${held.sandbox.baseUrl}/transactions/nothing`)).status).toBe(401);
	});
});

describe('deployments', () => {
	test.each([
		[
			'dataUri',
			{ qr_code_base64: expect.stringMatching(/^data:image\/png;base64,iVBOR/) as unknown },
		],
		['pix_base64', { pix_base64: expect.stringMatching(/^iVBOR/) as unknown }],
		['absent', { qr_code_base64: null }],
	] as const)('can hand out the picture as %s', async (qrImage, expected) => {
		const sandbox = await startSandbox({ qrImage });
		const { body } = await call(sandbox, 'POST', '/transactions', order(sandbox));
		expect(at(body, 'pix')).toMatchObject(expected);
		await sandbox.close();
	});

	test('can wrap transactions, name the notification address otherwise and demand fields', async () => {
		const sandbox = await startSandbox({
			wrapTransactions: true,
			notificationField: 'postback_url',
			demands: { transaction: ['customer.city'] },
		});
		const customer = { name: 'A', email: 'a@b.test', document: '52998224725', city: 'Recife' };
		const send = async (changes: Record<string, unknown>): Promise<Reply> =>
			await call(sandbox, 'POST', '/transactions', order(sandbox, changes));
		expect((await send({})).status).toBe(422);
		const { body } = await send({ customer, postback_url: 'https://a.test/x', webhook_url: 5 });
		expect(body).toMatchObject({ success: true, data: { postback_url: 'https://a.test/x' } });
		const read = await call(sandbox, 'GET', `/transactions/${String(at(body, 'data', 'hash'))}`);
		expect(read.body).toMatchObject({ success: true, data: { amount: 1990 } });
		await sandbox.close();
	});
});

test('unknown routes are JSON inside the base path and web pages outside', async () => {
	const sandbox = await startSandbox();
	const inside = await call(sandbox, 'GET', '/transactions');
	expect(inside.status).toBe(404);
	expect(inside.headers.get('content-type')).toMatch(/json/);
	const { origin } = new URL(sandbox.baseUrl);
	const outside = await call(sandbox, 'GET', `${origin}/api/products`);
	expect(outside.status).toBe(200);
	expect(outside.headers.get('content-type')).toMatch(/text\/html/);
	const wrong = await call(sandbox, 'GET', `${origin}/wrong/v1/products`);
	expect(wrong.status).toBe(404);
	expect(wrong.headers.get('content-type')).toMatch(/text\/html/);
	await sandbox.close();
});
