import { at, call, create, startReceiver, useSandbox, type Receiver, type Reply } from './support';

const held = useSandbox();
const control = async (method: string, path: string, body?: unknown): Promise<Reply> =>
	await call(held.sandbox, method, new URL(path, held.sandbox.pageUrl).href, body);

let receiver: Receiver;
beforeEach(async () => {
	receiver = await startReceiver();
});
afterEach(async () => await receiver.close());

describe('the controls over HTTP', () => {
	test('tell the state and the requests', async () => {
		const hash = await create(held.sandbox, { webhook_url: receiver.url });
		await control('POST', `/sandbox/transactions/${hash}/pay`);
		const { body } = await control('GET', '/sandbox/state');
		expect(body).toMatchObject({
			base_url: held.sandbox.baseUrl,
			counts: { products: 137, transactions: 1, charges: 1, requests: 1, deliveries: 1 },
			transactions: [{ hash, payment_status: 'paid' }],
			deliveries: [{ hash, outcome: 'delivered' }],
			offers: [],
			faults: [],
		});
		const requests = await control('GET', '/sandbox/requests');
		expect(requests.body).toMatchObject([
			{ method: 'POST', path: '/api/public/v1/transactions', status: 201, bearer: true },
		]);
	});

	test('pay, set a status and notify', async () => {
		const hash = await create(held.sandbox, { webhook_url: receiver.url });
		const paid = await control('POST', `/sandbox/transactions/${hash}/pay`);
		expect(paid.body).toMatchObject({ payment_status: 'paid', deliveries: [{ attempt: 1 }] });
		const set = await control('POST', `/sandbox/transactions/${hash}/status`, {
			status: 'refunded',
		});
		expect(set.status).toBe(200);
		const body = { shape: 'summary', url: `${receiver.url}-other` };
		const sent = await control('POST', `/sandbox/transactions/${hash}/notify`, body);
		expect(sent.body).toMatchObject({ shape: 'summary', url: `${receiver.url}-other` });
		expect(receiver.notices.map((notice) => at(notice, 'status'))).toEqual([
			'paid',
			'refunded',
			'refunded',
		]);
	});

	test('say what is wrong with what they are sent', async () => {
		const hash = await create(held.sandbox);
		for (const action of ['pay', 'status', 'notify']) {
			const path = `/sandbox/transactions/nothing/${action}`;
			expect((await control('POST', path, { status: 'x' })).status).toBe(404);
		}
		expect((await control('POST', `/sandbox/transactions/${hash}/status`, {})).status).toBe(400);
		expect((await control('POST', '/sandbox/test-notice', {})).status).toBe(400);
		expect((await control('GET', '/sandbox/nothing')).status).toBe(404);
		expect(held.sandbox.requests).toHaveLength(1);
	});

	test.each([
		['no object', 5],
		['an unknown kind', { kind: 'rain' }],
		['an unknown endpoint', { kind: 'html', endpoint: 'GET /' }],
		['an unknown lie', { kind: 'paginationLies', lie: 'x' }],
		['a field left out', { kind: 'delay' }],
		['times that are none', { kind: 'html', times: 'ever' }],
		['one of a list', [{ kind: 'html' }, { kind: 'rain' }]],
	])('refuse a fault: %s', async (_what, fault) => {
		const reply = await control('POST', '/sandbox/faults', fault);
		expect(reply.status).toBe(400);
		expect((await call(held.sandbox, 'GET', '/products')).status).toBe(200);
	});

	test('switch faults on and off', async () => {
		const fault = { kind: 'status', status: 503, times: 'always' };
		const added = await control('POST', '/sandbox/faults', [fault, { kind: 'delay', ms: 1 }]);
		expect(added.body).toMatchObject({ faults: [{ fault, left: 'always' }, { left: 1 }] });
		expect((await call(held.sandbox, 'GET', '/products')).status).toBe(503);
		await control('DELETE', '/sandbox/faults');
		expect((await call(held.sandbox, 'GET', '/products')).status).toBe(200);
	});

	test('try a receiver with a sample, which is no charge and can be read back', async () => {
		const sent = await control('POST', '/sandbox/test-notice', { url: receiver.url });
		expect(sent.body).toMatchObject({ outcome: 'delivered', payment_status: 'paid' });
		const hash = String(at(receiver.notices[0], 'transaction', 'id'));
		expect((await call(held.sandbox, 'GET', `/transactions/${hash}`)).status).toBe(200);
		expect(held.sandbox.charges()).toBe(0);
	});

	test('try a receiver with the newest transaction', async () => {
		await create(held.sandbox);
		const newest = await create(held.sandbox);
		await control('POST', '/sandbox/test-notice', { url: receiver.url, shape: 'transaction' });
		expect(receiver.notices[0]).toMatchObject({ hash: newest });
	});

	test('reset everything', async () => {
		await create(held.sandbox);
		const { hash } = held.sandbox.products[0] ?? {};
		await call(held.sandbox, 'POST', `/products/${hash}/offers`, { price: 1 });
		for (let i = 0; i < 21; i += 1) await call(held.sandbox, 'GET', '/products');
		held.sandbox.addFault({ kind: 'html', times: 'always' });
		await control('POST', '/sandbox/reset');
		expect(held.sandbox.requests).toEqual([]);
		expect([held.sandbox.transactions, held.sandbox.offers]).toEqual([[], []]);
		const reply = await call(held.sandbox, 'GET', '/products');
		expect(reply.headers.get('x-ratelimit-remaining')).toBe('19');
		const offers = at(reply.body, 'data', 0, 'offers') as unknown[];
		expect(offers).toHaveLength(1);
	});
});

describe('the log', () => {
	test('keeps no token but the sandbox its own', async () => {
		await call(held.sandbox, 'GET', '/products?api_token=somebodys', undefined, {
			authorization: 'Bearer somebodys',
		});
		await call(held.sandbox, 'POST', '/transactions', { api_token: 'somebodys' });
		await create(held.sandbox);
		expect(JSON.stringify(held.sandbox.requests)).not.toContain('somebodys');
		const [first, , last] = held.sandbox.requests;
		expect(first).toMatchObject({
			bearer: false,
			headers: { authorization: '[redacted]' },
			query: { api_token: '[redacted]' },
		});
		expect(last).toMatchObject({ bearer: true, body: { api_token: held.sandbox.bodyApiToken } });
	});
});
