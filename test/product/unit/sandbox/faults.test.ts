import http from 'node:http';
import { startSandbox, type Fault } from '../../../sandbox';
import { useTimeLapse } from '../../../support/timeLapse';
import { at, call, order, until, useSandbox, type Reply } from './support';

useTimeLapse();
const held = useSandbox({ requestsPerMinute: null, qrImage: 'absent' });
const post = async (): Promise<Reply> =>
	await call(held.sandbox, 'POST', '/transactions', order(held.sandbox));
const list = async (query = ''): Promise<Reply> =>
	await call(held.sandbox, 'GET', `/products${query}`);

describe('faults strike', () => {
	test('once unless told otherwise, in the order added', async () => {
		held.sandbox.addFault({ kind: 'status', status: 503 });
		held.sandbox.addFault({ kind: 'status', status: 500, times: 2 });
		const statuses = [await list(), await list(), await list(), await list()];
		expect(statuses.map(({ status }) => status)).toEqual([503, 500, 500, 200]);
	});

	test('always, until they are cleared', async () => {
		held.sandbox.addFault({ kind: 'status', status: 503, times: 'always' });
		held.sandbox.addFault({ kind: 'delay', ms: 1, times: Infinity });
		for (let i = 0; i < 3; i += 1) expect((await list()).status).toBe(503);
		expect(held.sandbox.requests[2]?.faults).toEqual(['status', 'delay']);
		held.sandbox.clearFaults();
		expect((await list()).status).toBe(200);
	});

	test('only their endpoint, after the requests they let through', async () => {
		held.sandbox.addFault({
			endpoint: 'POST /transactions',
			kind: 'status',
			status: 500,
			after: 1,
		});
		expect((await list()).status).toBe(200);
		expect((await post()).status).toBe(201);
		expect((await list()).status).toBe(200);
		expect((await post()).status).toBe(500);
	});

	test('only the query they name', async () => {
		held.sandbox.addFault({ kind: 'status', status: 500, query: { page: '2' } });
		expect((await list('?page=1')).status).toBe(200);
		expect((await list('?page=2')).status).toBe(500);
	});
});

describe('whether the charge exists', () => {
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
		await post().catch(() => undefined);
		expect(held.sandbox.charges()).toBe(charges);
		expect(held.sandbox.requests).toHaveLength(1);
	});
});

describe('what they answer', () => {
	const answer = async (fault: Fault): Promise<Reply> => {
		held.sandbox.addFault(fault);
		return await post();
	};

	test('status: any code with body and headers', async () => {
		const headers = { 'X-Request-Id': 'abc' };
		const reply = await answer({ kind: 'status', status: 418, body: { a: 1 }, headers });
		expect([reply.status, reply.body]).toEqual([418, { a: 1 }]);
		expect(reply.headers.get('x-request-id')).toBe('abc');
		const text = await answer({ kind: 'status', status: 502, body: 'upstream' });
		expect(text.text).toBe('upstream');
		expect(text.headers.get('content-type')).toMatch(/text\/plain/);
	});

	test('reset: the connection breaks without an answer', async () => {
		held.sandbox.addFault({ kind: 'resetBeforeProcessing' });
		const error: unknown = await list().catch((thrown: unknown) => thrown);
		expect(at(error, 'cause', 'code')).toMatch(/ECONNRESET|UND_ERR_SOCKET/);
		expect(held.sandbox.requests[0]?.status).toBeNull();
	});

	test('truncatedBody: the body breaks off, or is announced too short', async () => {
		held.sandbox.addFault({ kind: 'truncatedBody' });
		await expect(post()).rejects.toThrow();
		const short = await answer({ kind: 'truncatedBody', mode: 'short', keep: 0.9 });
		expect(short.status).toBe(201);
		expect(short.text).toMatch(/^\{"event"/);
		expect(short.body).toBeUndefined();
	});

	test('slowBody: the whole answer, in its time', async () => {
		const started = performance.now();
		const slow = await answer({ kind: 'slowBody', ms: 300 });
		expect(performance.now() - started).toBeGreaterThan(250);
		expect(slow.body).toMatchObject({ event: expect.any(String) });
	});

	test('endlessBody: more and more, until the client hangs up', async () => {
		held.sandbox.addFault({ kind: 'endlessBody' });
		const headers = { authorization: `Bearer ${held.sandbox.apiToken}` };
		const bytes = await new Promise<number>((resolve, reject) => {
			// A connection of its own, since it is broken off.
			http
				.get(`${held.sandbox.baseUrl}/products`, { headers, agent: false }, (response) => {
					let size = 0;
					response.on('data', (piece: Buffer) => {
						size += piece.length;
						if (size < 20_000_000) return;
						response.destroy();
						resolve(size);
					});
				})
				.on('error', reject);
		});
		expect(bytes).toBeGreaterThan(20_000_000);
	});

	test('html, notJson and emptyBody: no JSON under a 2xx', async () => {
		const html = await answer({ kind: 'html' });
		expect(html.headers.get('content-type')).toMatch(/text\/html/);
		expect(html.text).toMatch(/^<!DOCTYPE html>/);
		const garbage = await answer({ kind: 'notJson' });
		expect([garbage.status, garbage.body]).toEqual([200, undefined]);
		expect(garbage.headers.get('content-type')).toBe('application/json');
		expect((await answer({ kind: 'emptyBody', status: 204 })).text).toBe('');
		expect((await answer({ kind: 'emptyBody' })).status).toBe(200);
	});

	test('echoRequest: gives away what was sent, tokens included', async () => {
		const reply = await answer({ kind: 'echoRequest' });
		expect(reply.status).toBe(500);
		expect(reply.text).toContain(held.sandbox.apiToken);
		expect(reply.text).toContain(held.sandbox.bodyApiToken);
		const page = await answer({ kind: 'echoRequest', format: 'html', status: 200 });
		expect(page.text).toContain(held.sandbox.bodyApiToken);
	});

	test('successFalse: both error shapes under a 2xx', async () => {
		expect((await answer({ kind: 'successFalse', message: 'No' })).body).toEqual({
			success: false,
			message: 'No',
		});
		const listed = await answer({ kind: 'successFalse', message: 'No', errors: ['a'] });
		expect(listed.body).toEqual({ success: false, message: 'No', errors: ['a'] });
	});

	test('redirect: to where it is told', async () => {
		const to = 'http://127.0.0.1:1/elsewhere';
		const reply = await answer({ kind: 'redirect', to, status: 307 });
		expect([reply.status, reply.headers.get('location')]).toEqual([307, to]);
	});

	test('retryAfter: as seconds, as a date, absent, huge or nonsense', async () => {
		const header = async (fault: Partial<Fault>): Promise<string | null> => {
			const reply = await answer({ kind: 'retryAfter', ...fault } as Fault);
			expect(reply.status).toBe(429);
			return reply.headers.get('retry-after');
		};
		expect(await header({})).toBe('1');
		expect(await header({ seconds: 7 })).toBe('7');
		expect(await header({ format: 'absent' })).toBeNull();
		expect(await header({ format: 'huge' })).toBe('31536000');
		expect(await header({ format: 'garbage' })).toBe('soon');
		const date = await header({ format: 'http-date', seconds: 10 });
		const wait = Date.parse(date ?? '') - Date.now();
		expect(wait).toBeGreaterThan(8000);
		expect(wait).toBeLessThanOrEqual(11_000);
	});

	test('errorsByField with errors: refuses a request that is right', async () => {
		const errors = { 'cart.0.price': ['The cart.0.price field is required.'] };
		const reply = await answer({ kind: 'errorsByField', errors });
		expect([reply.status, at(reply.body, 'errors')]).toEqual([422, errors]);
		expect(held.sandbox.charges()).toBe(0);
	});
});

describe('what they change', () => {
	test('wrapData and patchBody: the real answer, wrapped or with other fields', async () => {
		held.sandbox.addFault({ kind: 'wrapData' });
		expect((await post()).body).toMatchObject({ success: true, data: { amount: 1990 } });
		held.sandbox.addFault({ kind: 'patchBody', set: { hash: 'other' }, remove: ['pix'] });
		const { body } = await post();
		expect(body).toMatchObject({ hash: 'other', amount: 1990 });
		expect(body).not.toHaveProperty('pix');
	});

	test('delay: before the work, delayAfterProcessing: after it', async () => {
		held.sandbox.addFault({ kind: 'delay', ms: 200 });
		const slow = post();
		await until(() => held.sandbox.requests.length === 1);
		expect(held.sandbox.charges()).toBe(0);
		expect((await slow).status).toBe(201);
		held.sandbox.addFault({ kind: 'delayAfterProcessing', ms: 200 });
		const late = post();
		await until(() => held.sandbox.charges() === 2);
		expect(held.sandbox.requests[1]?.status).toBeNull();
		expect((await late).status).toBe(201);
	});

	test('rateLimitHeaders: drops or replaces them, on real refusals, too', async () => {
		const sandbox = await startSandbox({ requestsPerMinute: 1 });
		await call(sandbox, 'GET', '/products');
		sandbox.addFault({ kind: 'rateLimitHeaders' });
		const bare = await call(sandbox, 'GET', '/products');
		expect(bare.status).toBe(429);
		expect([...bare.headers.keys()].join()).not.toMatch(/ratelimit|retry-after/);
		const set = { 'Retry-After': 'Wed, 21 Oct 2065 07:28:00 GMT' };
		sandbox.addFault({ kind: 'rateLimitHeaders', set, remove: ['X-RateLimit-Reset'] });
		const replaced = await call(sandbox, 'GET', '/products');
		expect(replaced.headers.get('retry-after')).toBe(set['Retry-After']);
		expect(replaced.headers.get('x-ratelimit-reset')).toBeNull();
		expect(replaced.headers.get('x-ratelimit-limit')).toBe('1');
		await sandbox.close();
	});
});

test('closing ends requests that wait in a fault, and kept connections', async () => {
	const sandbox = await startSandbox();
	const agent = new http.Agent({ keepAlive: true });
	await new Promise((resolve) => {
		http.get(sandbox.pageUrl, { agent }, (response) => response.resume().on('end', resolve));
	});
	sandbox.addFault({ kind: 'delay', ms: 60_000, times: 'always' });
	const waiting = Array.from({ length: 30 }, () =>
		call(sandbox, 'GET', '/products').catch(() => 'cut'),
	);
	await until(() => sandbox.requests.length === 30);
	const begin = Date.now();
	await sandbox.close();
	expect(await Promise.all(waiting)).toEqual(Array<string>(30).fill('cut'));
	expect(Date.now() - begin).toBeLessThan(1000);
	agent.destroy();
});
