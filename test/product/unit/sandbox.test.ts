import http from 'node:http';
import { startSandbox, type Fault, type Sandbox, type SandboxOptions } from '../../sandbox';
import { chargeAt } from '../../support/charge';
import { type HttpAnswer, sendRequest } from '../../support/http';
import { useTimeLapse } from '../../support/timeLapse';

// What the API document shows, and what other tests build on; all else of the sandbox they show themselves.
useTimeLapse();

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

const OFFER_FIELDS = [
	'hash',
	'title',
	'price',
	'url',
	'status',
	'interval',
	'created_at',
	'updated_at',
];
const PRODUCT_FIELDS = [
	'hash',
	'title',
	'description',
	'cover',
	'id_category',
	'product_type',
	'guaranted_days',
	'sale_page',
	'offers',
	'status',
	'support_name',
	'support_email',
	'support_whatsapp',
];

async function flood(options: SandboxOptions, requests: number): Promise<Reply[]> {
	const sandbox = await startSandbox(options);
	const replies: Reply[] = [];
	for (let i = 0; i < requests; i += 1) replies.push(await call(sandbox, 'GET', '/products'));
	await sandbox.close();
	return replies;
}

describe('GET /products', () => {
	const held = useSandbox({ requestsPerMinute: null });
	const list = async (query: string): ReturnType<typeof call> =>
		await call(held.sandbox, 'GET', `/products${query}`);

	test('answers a page in the documented shape, 30 products by default', async () => {
		const { status, body } = await list('');
		expect(status).toBe(200);
		const path = `${held.sandbox.baseUrl}/products`;
		const page = (number: number): string => `${path}?page=${number}`;
		expect(at(body, 'links')).toEqual({
			first: page(1),
			last: page(5),
			prev: null,
			next: page(2),
		});
		expect(at(body, 'meta')).toEqual({
			current_page: 1,
			from: 1,
			last_page: 5,
			links: [
				{ url: null, label: 'pagination.previous', active: false },
				{ url: page(1), label: '1', active: true },
				{ url: page(2), label: '2', active: false },
				{ url: page(3), label: '3', active: false },
				{ url: page(4), label: '4', active: false },
				{ url: page(5), label: '5', active: false },
				{ url: page(2), label: 'pagination.next', active: false },
			],
			path,
			per_page: 30,
			to: 30,
			total: 137,
		});
		expect(Object.keys(at(body, 'data', 0) as object)).toEqual(PRODUCT_FIELDS);
		expect(Object.keys(at(body, 'data', 0, 'offers', 0) as object)).toEqual(OFFER_FIELDS);
	});

	test('counts down in the headers and refuses the 21st', async () => {
		const replies = await flood({}, 21);
		const left = replies.map(({ headers }) => headers['x-ratelimit-remaining']);
		expect(replies.map(({ status }) => status)).toEqual([...Array<number>(20).fill(200), 429]);
		expect(left[0]).toBe('19');
		expect(left[19]).toBe('0');
		const refused = replies[20];
		expect(refused?.body).toEqual({ message: 'Too Many Attempts.' });
		expect(refused?.headers['x-ratelimit-limit']).toBe('20');
		const wait = Number(refused?.headers['retry-after']);
		expect(wait).toBeGreaterThan(55);
		expect(wait).toBeLessThanOrEqual(60);
		const reset = Number(refused?.headers['x-ratelimit-reset']);
		expect(Math.abs(reset - (Date.now() / 1000 + wait))).toBeLessThan(3);
		expect(replies[0]?.headers['retry-after']).toBeUndefined();
	});
});

describe('transactions', () => {
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

	test('answers the GET shape', async () => {
		const hash = await chargeAt(held.sandbox);
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

describe('a notification', () => {
	const held = useSandbox({ resendAfterSeconds: [5, 10, 20], clockScale: 1000, qrImage: 'absent' });
	let receiver: Receiver;
	beforeEach(async () => {
		receiver = await startReceiver();
	});
	afterEach(async () => await receiver.close());
	const notifying = async (sandbox: Sandbox): Promise<string> =>
		await chargeAt(sandbox, receiver.url);

	test('is posted on payment, as an envelope', async () => {
		const hash = await notifying(held.sandbox);
		expect(receiver.notices).toEqual([]);
		const reports = await held.sandbox.pay(hash);
		expect(reports).toMatchObject([
			{
				hash,
				payment_status: 'paid',
				shape: 'envelope',
				attempt: 1,
				outcome: 'delivered',
				status: 200,
			},
		]);
		const [notice] = receiver.notices;
		expect(Object.keys(notice as object)).toEqual([
			'token',
			'event',
			'status',
			'method',
			'customer',
			'transaction',
			'offer',
			'items',
			'tracking',
		]);
		expect(notice).toMatchObject({
			event: 'transaction',
			status: 'paid',
			method: 'pix',
			transaction: { id: hash, status: 'waiting_payment', amount: '1990' },
		});
		const read = await call(held.sandbox, 'GET', `/transactions/${hash}`);
		expect(at(read.body, 'payment_status')).toBe('paid');
	});

	test('can be the transaction itself with a numeric id, or a summary', async () => {
		const hash = await notifying(held.sandbox);
		await held.sandbox.notify(hash, { shape: 'transaction' });
		await held.sandbox.notify(hash, { shape: 'summary' });
		const [flat, brief] = receiver.notices;
		const read = await call(held.sandbox, 'GET', `/transactions/${hash}`);
		expect(flat).toEqual({ ...(read.body as object), id: expect.any(Number) as unknown });
		expect(brief).toEqual({
			transaction_hash: hash,
			status: 'waiting_payment',
			amount: 1990,
			payment_method: 'pix',
			paid_at: null,
		});
	});

	test('is sent again until it is answered 2xx, the same each time', async () => {
		receiver.answer = (nth, response) => response.writeHead(nth < 3 ? 503 : 204).end();
		const [first] = await held.sandbox.pay(await notifying(held.sandbox));
		expect(first).toMatchObject({ outcome: 'refused', status: 503 });
		await until(() => receiver.notices.length === 3 && held.sandbox.deliveries.length === 3);
		expect(receiver.notices[2]).toEqual(receiver.notices[0]);
		expect(held.sandbox.deliveries.map(({ attempt, status }) => [attempt, status])).toEqual([
			[1, 503],
			[2, 503],
			[3, 204],
		]);
	});
});

describe('whether a charge exists after a fault', () => {
	const held = useSandbox({ requestsPerMinute: null, qrImage: 'absent' });
	const cases: Array<[string, Fault, number]> = [
		['status', { kind: 'status', status: 504 }, 0],
		['status, processed', { kind: 'status', status: 504, processed: true }, 1],
		['resetBeforeProcessing', { kind: 'resetBeforeProcessing' }, 0],
		['resetAfterProcessing', { kind: 'resetAfterProcessing' }, 1],
		['truncatedBody', { kind: 'truncatedBody' }, 1],
		['slowBody', { kind: 'slowBody', ms: 20 }, 1],
		['html', { kind: 'html', status: 502 }, 0],
		['html, processed', { kind: 'html', processed: true }, 1],
		['successFalse', { kind: 'successFalse' }, 0],
		['notJson', { kind: 'notJson' }, 1],
		['emptyBody', { kind: 'emptyBody' }, 1],
		['redirect', { kind: 'redirect', to: 'http://127.0.0.1:1/' }, 0],
		['retryAfter', { kind: 'retryAfter' }, 0],
		['echoRequest', { kind: 'echoRequest' }, 0],
	];
	test.each(cases)('%s', async (_name, fault, charges) => {
		held.sandbox.addFault(fault);
		await chargeAt(held.sandbox).catch(() => undefined);
		expect(held.sandbox.charges()).toBe(charges);
		expect(held.sandbox.requests).toHaveLength(1);
	});
});

type Reply = Omit<HttpAnswer, 'json'> & { body: unknown };

/** A sandbox for the tests of one describe block, reset before each of them. */
function useSandbox(options: SandboxOptions = {}): { readonly sandbox: Sandbox } {
	const held: { sandbox?: Sandbox } = {};
	beforeAll(async () => {
		held.sandbox = await startSandbox(options);
	});
	beforeEach(() => held.sandbox?.reset());
	afterAll(async () => await held.sandbox?.close());
	return {
		get sandbox(): Sandbox {
			if (!held.sandbox) throw new Error('The sandbox has not been started');
			return held.sandbox;
		},
	};
}

async function call(
	sandbox: Sandbox,
	method: string,
	path: string,
	body?: unknown,
): Promise<Reply> {
	const { json, ...answer } = await sendRequest(sandbox.baseUrl + path, {
		method,
		headers: {
			authorization: `Bearer ${sandbox.apiToken}`,
			'content-type': 'application/json',
		},
		...(body === undefined ? {} : { body: JSON.stringify(body) }),
	});
	return { ...answer, body: json };
}

/** A value deep in a parsed body, e.g. `at(body, 'data', 0, 'hash')`. */
function at(body: unknown, ...path: Array<string | number>): unknown {
	let value: unknown = body;
	for (const step of path) value = (value as Record<string | number, unknown> | undefined)?.[step];
	return value;
}

/** A body that POST /transactions accepts; amounts in cents. */
function order(sandbox: Sandbox, changes: Record<string, unknown> = {}): object {
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

interface Receiver {
	url: string;
	/** Bodies of the notices, in the order of their arrival. */
	notices: unknown[];
	/** What to do with the nth notice; default is to answer 200. */
	answer: (nth: number, response: http.ServerResponse, body: unknown) => void;
	close(): Promise<void>;
}

/** Somebody who is notified. */
async function startReceiver(): Promise<Receiver> {
	const receiver: Receiver = {
		url: '',
		notices: [],
		answer: (_nth, response) => response.end('{}'),
		close: async () => await new Promise((resolve) => server.close(() => resolve())),
	};
	const server = http.createServer((request, response) => {
		let text = '';
		request.on('data', (chunk: Buffer) => (text += chunk.toString()));
		request.on('end', () => {
			const body: unknown = JSON.parse(text);
			receiver.notices.push(body);
			receiver.answer(receiver.notices.length, response, body);
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
	const address = server.address();
	if (address === null || typeof address === 'string') throw new Error('No port');
	receiver.url = `http://127.0.0.1:${address.port}/hook`;
	return receiver;
}

/** Waits until a condition holds, for at most two seconds. */
async function until(condition: () => boolean): Promise<void> {
	const end = Date.now() + 2000;
	while (!condition()) {
		if (Date.now() > end) throw new Error('Waited in vain');
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
}
