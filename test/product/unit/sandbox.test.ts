import http from 'node:http';
import type { AddressInfo } from 'node:net';
import get from 'lodash/get';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox';
import { chargeAt } from '../../support/charge';
import { type HttpAnswer, sendRequest } from '../../support/http';
import { useTimeLapse } from '../../support/timeLapse';

// What the API document shows, and what other tests build on; all else of the sandbox they show themselves.
useTimeLapse();

const words = (text: string): string[] => text.split(' ');

const COMMON_FIELDS = words(
	'affiliate amount amount_liquid billet created_at customer event hash installments items offer payment_method payment_status pix postback_url producer product transaction updated_at utm_campaign utm_content utm_medium utm_source utm_term',
);
const OFFER_FIELDS = words('hash title price url status interval created_at updated_at');
const PRODUCT_FIELDS = words(
	'hash title description cover id_category product_type guaranted_days sale_page offers status support_name support_email support_whatsapp',
);

describe('GET /products', () => {
	const held = useSandbox();
	const list = async (): Promise<HttpAnswer> => await call(held.sandbox, 'GET', '/products');

	test('answers a page in the documented shape, 30 products by default', async () => {
		const { status, json } = await list();
		expect(status).toBe(200);
		const path = `${held.sandbox.baseUrl}/products`;
		const page = (number: number): string => `${path}?page=${number}`;
		expect(get(json, 'links')).toEqual({
			first: page(1),
			last: page(5),
			prev: null,
			next: page(2),
		});
		expect(get(json, 'meta')).toEqual({
			current_page: 1,
			from: 1,
			last_page: 5,
			links: [
				{ url: null, label: 'pagination.previous', active: false },
				...[1, 2, 3, 4, 5].map((number) => ({
					url: page(number),
					label: String(number),
					active: number === 1,
				})),
				{ url: page(2), label: 'pagination.next', active: false },
			],
			path,
			per_page: 30,
			to: 30,
			total: 137,
		});
		expect(fieldsOf(get(json, 'data.0'))).toEqual(PRODUCT_FIELDS);
		expect(fieldsOf(get(json, 'data.0.offers.0'))).toEqual(OFFER_FIELDS);
	});

	test('refuses the 21st in a minute and says how long to wait', async () => {
		const replies: HttpAnswer[] = [];
		while (replies.length < 21) replies.push(await list());
		expect(replies.map(({ status }) => status)).toEqual([...Array<number>(20).fill(200), 429]);
		const refused = replies[20];
		expect(refused?.json).toEqual({ message: 'Too Many Attempts.' });
		const wait = Number(refused?.headers['retry-after']);
		expect(wait).toBeGreaterThan(55);
		expect(wait).toBeLessThanOrEqual(60);
		expect(replies[0]?.headers['retry-after']).toBeUndefined();
	});
});

describe('transactions', () => {
	const held = useSandbox();
	const post = async (changes: object): Promise<HttpAnswer> =>
		await call(held.sandbox, 'POST', '/transactions', orderOf(held.sandbox, changes));

	test('answers 201 with the POST shape', async () => {
		const tracking = { src: 'afiliado', utm_source: 'email', utm_term: 'null' };
		const webhook = 'https://n8n.example.test/hook';
		const { status, json } = await post({ tracking, webhook_url: webhook });
		expect(status).toBe(201);
		expect(fieldsOf(json).sort()).toEqual([...COMMON_FIELDS, 'tracking_code'].sort());
		const first = held.sandbox.products[0];
		expect(json).toMatchObject({
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
		expect(fieldsOf(get(json, 'producer'))).toEqual(['name']);
		expect(get(json, 'created_at')).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
		expect(held.sandbox.charges()).toBe(1);
	});

	test.each<[string, object, string]>([
		['an amount as a text', { amount: '1990' }, 'amount'],
		['an unknown offer', { cart: [{ offer_hash: 'nothing' }] }, 'cart.0.offer_hash'],
		['no customer', { customer: undefined }, 'customer'],
		['punctuation', { customer: { document: '529.982.247-25' } }, 'customer.document'],
	])('refuses %s', async (_what, changes, field) => {
		const { status, json } = await post(changes);
		expect(status).toBe(422);
		expect(json).toMatchObject({ success: false, message: expect.any(String) as unknown });
		expect(get(json, 'errors')).toContainEqual(expect.stringContaining(` ${field} `));
		expect(held.sandbox.charges()).toBe(0);
	});

	test('answers the GET shape', async () => {
		const hash = await chargeAt(held.sandbox);
		const { status, json } = await call(held.sandbox, 'GET', `/transactions/${hash}`);
		expect(status).toBe(200);
		const fields = [...COMMON_FIELDS, 'balance', 'split_recipients'];
		expect(fieldsOf(json).sort()).toEqual(fields.sort());
		expect(json).toMatchObject({
			hash,
			amount: 1990,
			amount_liquid: 1791,
			balance: { amount: 1791, status: 'available' },
			split_recipients: [
				{ recipient_type: 'producer', amount: '1791' },
				{ recipient_type: 'platform', amount: '199' },
			],
		});
		expect(fieldsOf(get(json, 'producer'))).toEqual(['hash', 'name', 'email']);
	});

	test('answers a JSON 404 for a hash it does not know, and 401 without a token', async () => {
		const unknown = await call(held.sandbox, 'GET', '/transactions/nothing');
		expect(unknown.status).toBe(404);
		expect(unknown.json).toEqual({ success: false, message: 'Transaction not found.' });
		expect((await fetch(`${held.sandbox.baseUrl}/transactions/nothing`)).status).toBe(401);
	});
});

describe('a notification', () => {
	const held = useSandbox({ resendAfterSeconds: [5, 10, 20], qrImage: 'absent' });
	const notices: unknown[] = [];
	/** What the notices are answered with, in their order; then 200. */
	let answers: number[] = [];
	const receiver = http.createServer((request, response) => {
		let text = '';
		request.on('data', (chunk: Buffer) => (text += chunk.toString()));
		request.on('end', () => {
			notices.push(JSON.parse(text));
			response.writeHead(answers.shift() ?? 200).end();
		});
	});
	beforeAll(async () => {
		await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
	});
	beforeEach(() => {
		notices.length = 0;
		answers = [];
	});
	afterAll(async () => await new Promise((resolve) => receiver.close(resolve)));
	const charged = async (): Promise<string> => {
		const { port } = receiver.address() as AddressInfo;
		return await chargeAt(held.sandbox, `http://127.0.0.1:${port}/hook`);
	};

	test('is posted on payment, as an envelope', async () => {
		const hash = await charged();
		expect(notices).toEqual([]);
		expect(await held.sandbox.pay(hash)).toMatchObject([
			{ hash, payment_status: 'paid', shape: 'envelope', attempt: 1, outcome: 'delivered' },
		]);
		const [notice] = notices;
		expect(fieldsOf(notice)).toEqual(
			words('token event status method customer transaction offer items tracking'),
		);
		expect(notice).toMatchObject({
			event: 'transaction',
			status: 'paid',
			method: 'pix',
			transaction: { id: hash, status: 'waiting_payment', amount: '1990' },
		});
		const read = await call(held.sandbox, 'GET', `/transactions/${hash}`);
		expect(get(read.json, 'payment_status')).toBe('paid');
	});

	test('is sent again until it is answered 2xx, the same each time', async () => {
		answers = [503, 503, 204];
		const [first] = await held.sandbox.pay(await charged());
		expect(first).toMatchObject({ outcome: 'refused', status: 503 });
		await new Promise((resolve) => setTimeout(resolve, 60_000));
		expect(notices).toEqual(Array(3).fill(notices[0]));
		expect(held.sandbox.deliveries.map(({ attempt, status }) => [attempt, status])).toEqual([
			[1, 503],
			[2, 503],
			[3, 204],
		]);
	});
});

test('the page shows what a person needs, pays, and sends a test notice', async () => {
	const sandbox = await startSandbox();
	const hash = await chargeAt(sandbox);
	const page = async (): Promise<string> =>
		(await sendRequest(sandbox.pageUrl, { method: 'GET' })).text;
	const press = async (path: string, body: string): Promise<string | undefined> =>
		(await sendRequest(`${sandbox.pageUrl}sandbox/${path}`, { body })).headers.location;

	for (const shown of [sandbox.baseUrl, sandbox.apiToken, sandbox.bodyApiToken, hash]) {
		expect(await page()).toContain(shown);
	}
	const picture = await sendRequest(`${sandbox.pageUrl}sandbox/qr/${hash}.png`, { method: 'GET' });
	expect(picture.headers['content-type']).toBe('image/png');
	await press(`status/${hash}`, 'pay=paid&status=expired');
	expect(sandbox.transactions[0]?.payment_status).toBe('paid');
	await press(`status/${hash}`, 'status=refunded');
	expect(await page()).toContain(`data-testid="badge-${hash}">refunded<`);
	const url = encodeURIComponent(`${sandbox.baseUrl}/nowhere`);
	expect(await press('test-notice', `url=${url}&shape=summary`)).toContain('answer=Answered+404');
	await sandbox.close();
});

/** A sandbox for the tests of one describe block, reset before each of them. */
function useSandbox(options: SandboxOptions = {}): { sandbox: Sandbox } {
	const held = {} as { sandbox: Sandbox };
	beforeAll(async () => {
		held.sandbox = await startSandbox(options);
	});
	beforeEach(() => held.sandbox.reset());
	afterAll(async () => await held.sandbox.close());
	return held;
}

async function call(sandbox: Sandbox, method: string, path: string, body?: object) {
	return await sendRequest(sandbox.baseUrl + path, {
		method,
		headers: {
			authorization: `Bearer ${sandbox.apiToken}`,
			'content-type': 'application/json',
		},
		...(body && { body: JSON.stringify(body) }),
	});
}

function fieldsOf(body: unknown): string[] {
	return Object.keys(body as object);
}

/** A body that POST /transactions accepts; amounts in cents. */
function orderOf(sandbox: Sandbox, changes: object): object {
	return {
		api_token: sandbox.bodyApiToken,
		amount: 1990,
		payment_method: 'pix',
		cart: [
			{
				offer_hash: sandbox.products[0]?.offers[0]?.hash,
				price: 1990,
				quantity: 1,
				operation_type: 1,
				title: 'Curso',
				cover: 'https://cdn.sandbox.test/a.jpg',
			},
		],
		installments: 1,
		customer: {
			name: 'João da Conceição',
			email: 'joao@cliente.test',
			phone_number: '11987654321',
			document: '52998224725',
		},
		...changes,
	};
}
