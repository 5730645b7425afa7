import { getEventListeners, once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRedactor } from '../../../nodes/DigitalSales/api/redact';
import {
	MOST_BODY_BYTES,
	readBody,
	parseResponse,
	readRetryAfter,
} from '../../../nodes/DigitalSales/api/response';
import { bodyStream } from '../../../nodes/DigitalSales/n8n/httpHelper';
import { parseResource } from '../../../nodes/DigitalSales/api/schemas/answer';
import { parseProductPage } from '../../../nodes/DigitalSales/api/schemas/product';
import { clock } from '../../../nodes/DigitalSales/shared/clock';

const redact = createRedactor(['test-token']);
const read = (status: number, text: string | undefined, headers = {}) =>
	parseResponse({ status, headers, text }, redact);
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

describe('An answer', () => {
	afterEach(() => jest.restoreAllMocks());

	test.each<[string, string, unknown]>([
		['with blanks around it', ' \r\n{"hash":"ab"}\n', { hash: 'ab' }],
		['after a byte order mark', '\ufeff{"hash":"ab"}', { hash: 'ab' }],
		['with a byte order mark inside', '{"title":"a\ufeffb"}', { title: 'a\ufeffb' }],
		['with a token in it', '{"title":"test-token"}', { title: '[token removed]' }],
		['with 63 lists in each other', `{"hash":"ab","x":${nested(63)}}`, { hash: 'ab' }],
	])('%s is read', (_name, text, body) => {
		expect(read(200, text)).toMatchObject({ kind: 'success', body });
	});

	test.each<[string, string | undefined, string]>([
		['nothing', '', 'success'],
		['a byte order mark alone', '\ufeff', 'success'],
		['too much', undefined, 'success'],
		['a text', 'OK', 'success'],
		['JSON that was cut short', '{"hash":"ab', 'success'],
		['a text that speaks of a page', 'no <html here', 'success'],
		['lists in lists that never end', '['.repeat(100_000), 'success'],
		['100,000 lists in each other', nested(100_000), 'success'],
		['a hash and 64 lists in each other', `{"hash":"ab","x":${nested(64)}}`, 'success'],
		['a page', '<!DOCTYPE html><title>x</title>', 'webPage'],
		['a page with blanks before it', '\n  <html lang="pt">', 'webPage'],
		['a page without its frame', '<body>x</body>', 'webPage'],
	])('of %s has no value', (_name, text, kind) => {
		expect(read(200, text)).toMatchObject({ kind, body: undefined });
	});

	test('with success: false counts as rejected, unless it contains a hash', () => {
		expect(read(200, '{"success":false}').kind).toBe('rejected');
		expect(read(409, '{"success":false}').kind).toBe('rejected');
		expect(read(200, '{"success":false,"hash":"ab12"}').kind).toBe('success');
		expect(read(200, '{"success":"false","data":{"hash":"ab12"}}').kind).toBe('success');
		expect(read(409, '{"success":false,"hash":"ab12"}').kind).toBe('unclear');
	});

	test.each<[number, string, boolean]>([
		[404, '<html>', true],
		[500, '<html>', true],
		// The page of a proxy, which does not mean a wrong address.
		[503, '<html>', false],
		[302, '<html>', false],
		[404, 'Not found', false],
		[404, '', false],
	])('with status %i and body %j is a web page: %j', (status, text, isWebPage) => {
		expect(read(status, text).isWebPage).toBe(isWebPage);
	});

	test.each([
		['https://u:p@b.example.com:8443/v1?token=1#t', 'https://b.example.com:8443/v1'],
		['https://b.example.com/test-token/v1', 'https://b.example.com/[token removed]/v1'],
		['/v2/x?token=1', '/v2/x'],
		['/v2/test-token#?token=1', '/v2/[token removed]'],
		['../v2\n?token=1\n#x', '../v2\n'],
		['https://Test-Token.example.com/v1', 'https://[token removed].example.com/v1'],
		[['/a', '/b'], undefined],
		[undefined, undefined],
	])('that redirects to %j shows no more of it than %j', (location, expected) => {
		expect(read(302, '', { location }).redirectedTo).toBe(expected);
	});

	test.each([
		[201, undefined],
		[300, '/transactions/ab'],
		[399, '/transactions/ab'],
		[400, undefined],
	])('under %i with a Location names the address %j', (status, address) => {
		expect(read(status, '{}', { location: '/transactions/ab?x=1' }).redirectedTo).toBe(address);
	});

	const NOW = Date.UTC(2026, 0, 1);

	test.each([
		['7', 7_000],
		[7, 7_000],
		[' 7 ', 7_000],
		['0', undefined],
		['86400', 300_000],
		['7;', undefined],
		['soon', undefined],
		[new Date(NOW + 30_000).toUTCString(), 30_000],
		[new Date(NOW - 30_000).toUTCString(), undefined],
		[undefined, undefined],
	])('with Retry-After %j asks for a wait of %p ms', (value, expected) => {
		jest.spyOn(clock, 'now').mockReturnValue(NOW);

		expect(readRetryAfter({ 'retry-after': value })).toBe(expected);
	});
});

describe('The body of an answer', () => {
	let answer: (response: ServerResponse) => void;
	let connections = 0;
	const server = createServer((_request, response) => {
		answer(response);
	}).on('connection', () => connections++);
	const agent = new Agent({ keepAlive: true });
	const never = new AbortController().signal;

	beforeAll(async () => await once(server.listen(0), 'listening'));
	beforeEach(() => (connections = 0));
	afterEach(() => agent.destroy());
	afterAll(() => {
		server.close();
		server.closeAllConnections();
	});

	const begin = async (by: typeof answer): Promise<IncomingMessage> => {
		answer = by;
		const { port } = server.address() as AddressInfo;
		const [body] = (await once(get({ port, agent }), 'response')) as [IncomingMessage];
		return body;
	};

	test('is read whole, even if a letter arrives in two chunks', async () => {
		const bytes = Buffer.from('{"title":"Promoção"}');
		const cut = bytes.indexOf(0xc3) + 1;
		const body = await begin((response) => {
			response.write(bytes.subarray(0, cut));
			setTimeout(() => response.end(bytes.subarray(cut)), 20);
		});
		let chunks = 0;
		body.on('data', () => chunks++);

		await expect(readBody(body, never)).resolves.toBe('{"title":"Promoção"}');
		expect(chunks).toBeGreaterThan(1);
	});

	test('may be as large as the limit', async () => {
		const body = await begin((response) => response.end(Buffer.alloc(MOST_BODY_BYTES, 'x')));

		await expect(readBody(body, never)).resolves.toHaveLength(MOST_BODY_BYTES);
	});

	test('is refused if it is one byte larger', async () => {
		const body = await begin((response) => response.end(Buffer.alloc(MOST_BODY_BYTES + 1)));

		await expect(readBody(body, never)).resolves.toBeUndefined();
	});

	test('leaves the connection to the next request, and no listener at the signal', async () => {
		const late = new AbortController();
		for (const text of ['first', 'second']) {
			const body = await begin((response) => response.end(text));
			await expect(readBody(body, late.signal)).resolves.toBe(text);
			await new Promise((resolve) => setImmediate(resolve));
		}

		expect(connections).toBe(1);
		expect(getEventListeners(late.signal, 'abort')).toEqual([]);
	});

	test('must be a stream', () => {
		for (const other of [undefined, null, 'text', {}, { on: 1 }, { destroy: 1 }]) {
			expect(bodyStream.safeParse(other).success).toBe(false);
		}
	});
});

describe('One resource of the platform', () => {
	const resource = { hash: 'ab12', extra: { deep: [1] } };

	test.each<[string, unknown, unknown]>([
		['bare', resource, resource],
		['with a number for its hash', { hash: 12 }, { hash: 12 }],
		['wrapped', { success: true, data: resource }, resource],
		['wrapped as the first of a list', { data: [resource, { hash: 'cd34' }] }, resource],
		[
			'with data of its own',
			{ ...resource, data: { hash: 'x' } },
			expect.objectContaining(resource),
		],
		['without a hash', { title: 'A' }, undefined],
		['with a blank hash', { hash: ' ' }, undefined],
		['with an object for its hash', { hash: {} }, undefined],
		['wrapped without a hash', { data: { title: 'A' } }, undefined],
		['wrapped in an empty list', { data: [] }, undefined],
		['wrapped in a text', { data: 'ab12' }, undefined],
		['that is a list', [resource], undefined],
		['that is null', null, undefined],
	])('%s', (_name, body, expected) => {
		expect(parseResource(body)).toEqual(expected);
	});
});

describe('A page of products', () => {
	const data = [{ hash: 'p1', unknown: 1 }];
	const links = { next: 'x?page=2' };

	test.each<[string, unknown, unknown]>([
		[
			'as documented',
			{ data, meta: { last_page: 3, per_page: 30, total: 70 }, links },
			{ data, lastPage: 3, total: 70, hasNext: true },
		],
		[
			'with texts for numbers',
			{ data, meta: { last_page: '3', total: ' 70 ' }, links: { next: null } },
			{ data, lastPage: 3, total: 70, hasNext: false },
		],
		['without meta and links', { data }, { data }],
		['with null for meta and links', { data, meta: null, links: null }, { data }],
		['with meta and links of another kind', { data, meta: 3, links: { next: 3 } }, { data }],
		['with figures that cannot be', { data, meta: { last_page: -1, total: 'many' } }, { data }],
		['with an empty link', { data, links: { next: '' } }, { data, hasNext: false }],
		['wrapped', { data: { data, meta: { total: 1 } } }, { data, total: 1 }],
		['that is a bare list', data, { data }],
		['that is empty', { data: [] }, { data: [] }],
		['whose products are texts', { data: ['p1'] }, undefined],
		['whose products are lists', { data: [[]] }, undefined],
		['whose products are null', { data: [null] }, undefined],
		['that is a bare list of texts', ['p1'], undefined],
		['of another shape', { hello: 1 }, undefined],
		['that is null', null, undefined],
	])('%s', (_name, body, expected) => {
		expect(parseProductPage(body)).toEqual(expected);
	});

	test('has the products themselves, not copies', () => {
		expect(parseProductPage({ data })?.data[0]).toBe(data[0]);
	});
});
