import { createServer, type RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { isJsonObject } from '../../../nodes/DigitalSales/shared/json';
import { create } from '../../product/unit/sandbox/support';
import { run, startContrary, virtualClock, type Contrary, type Run } from './support';

/** Meets a service of which only its listener is known. */
async function meetServer(listener: RequestListener, args: string[] = []): Promise<Run> {
	const server = createServer(listener);
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const address = server.address();
	const port = typeof address === 'object' ? address?.port : undefined;
	try {
		return await run(`http://127.0.0.1:${port}/api`, args);
	} finally {
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
	}
}

/** Meets a contrary service that has one transaction. */
async function meet(
	contraries: Contrary[],
	args: (hash: string) => string[] = (hash) => ['--hash', hash],
	send?: (port: number, hash: string) => void,
): Promise<Run & { hash: string; posts: number }> {
	const service = await startContrary(contraries);
	try {
		const hash = await create(service.sandbox);
		service.sandbox.requests.length = 0;
		const result = await run(service.baseUrl, args(hash), {
			onListening: (port) => send?.(port, hash),
		});
		const posts = service.sandbox.requests.filter(({ method }) => method === 'POST').length;
		return { ...result, hash, posts };
	} finally {
		await service.close();
	}
}

const listening = (): string[] => ['--listen', '0'];

describe('the shape of a webhook holds nothing personal', () => {
	test('if JSON comes under the content type of a form, as PHP sends it by default', async () => {
		const { text } = await meet([], listening, (port) => {
			void fetch(`http://127.0.0.1:${port}/`, {
				method: 'POST',
				headers: { 'content-type': 'application/x-www-form-urlencoded' },
				body: JSON.stringify({
					transaction_hash: 'k3yh4shabc',
					status: 'paid',
					customer: { name: 'Joana Prado' },
				}),
			});
		});
		expect(text).toContain('## Shape of the webhook');
		expect(text).not.toContain('Joana');
		expect(text).not.toContain('k3yh4shabc');
	});

	test('if an object is keyed by hashes or names', async () => {
		const { text } = await meet([], listening, (port) => {
			void fetch(`http://127.0.0.1:${port}/`, {
				method: 'POST',
				headers: { 'content-type': 'application/json' },
				body: JSON.stringify({
					transactions: { k3yh4shabc: { status: 'paid' } },
					buyers: { 'Joana Prado': 1 },
				}),
			});
		});
		expect(text).not.toContain('k3yh4shabc');
		expect(text).not.toContain('Joana');
	});
});

describe('a webhook that the trigger reads is not called unknown', () => {
	const notice = (hash: string): string => JSON.stringify({ hash, payment_status: 'paid' });

	test('compressed (n8n unpacks it)', async () => {
		const { contradicted } = await meet([], listening, (port, hash) => {
			void fetch(`http://127.0.0.1:${port}/`, {
				method: 'POST',
				headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
				body: new Uint8Array(gzipSync(notice(hash))),
			});
		});
		expect(contradicted).toEqual({});
	});

	test('with a byte order mark', async () => {
		const { contradicted } = await meet([], listening, (port, hash) => {
			void fetch(`http://127.0.0.1:${port}/`, {
				method: 'POST',
				headers: { 'content-type': 'application/json' },
				body: `\uFEFF${notice(hash)}`,
			});
		});
		expect(contradicted).toEqual({});
	});

	test('as a form with parts (n8n hands it over under data)', async () => {
		const { contradicted } = await meet([], listening, (port, hash) => {
			const body = new FormData();
			body.set('hash', hash);
			body.set('payment_status', 'paid');
			void fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body });
		});
		expect(contradicted).toEqual({});
	});
});

describe('a webhook that carries a proof of its sender is not called unsigned', () => {
	test.each([
		['a header with a token', { 'x-webhook-token': 'abc' }, '/', {}],
		['authorization', { authorization: 'Basic abc' }, '/', {}],
		['a signature in the query', {}, '/?signature=0a1b2c', {}],
		['a signature in the body', {}, '/', { signature: '0a1b2c' }],
		['a token in the body', {}, '/', { token: '0a1b2c' }],
	])('%s', async (_what, headers, path, more) => {
		const { confirmed } = await meet([], listening, (port, hash) => {
			void fetch(`http://127.0.0.1:${port}${path}`, {
				method: 'POST',
				headers: { 'content-type': 'application/json', ...headers },
				body: JSON.stringify({ hash, payment_status: 'paid', ...more }),
			});
		});
		expect(confirmed.notice).toBeDefined();
		expect(confirmed.signing).toBeUndefined();
	});
});

test('what a stranger sends to the tunnel is not taken for the webhook', async () => {
	const { contradicted, confirmed } = await meet([], listening, (port, hash) => {
		void (async () => {
			const url = `http://127.0.0.1:${port}/`;
			await fetch(url, { method: 'POST', body: '<?php phpinfo();' });
			await fetch(url, {
				method: 'POST',
				headers: { 'content-type': 'application/json' },
				body: JSON.stringify({ hash, payment_status: 'paid' }),
			});
		})();
	});
	expect(contradicted).toEqual({});
	expect(confirmed.notice).toBeDefined();
});

describe('a difference is not explained away', () => {
	const refuse = (json: object): Contrary => ({
		answer: (given, { method }) => {
			if (method === 'POST') Object.assign(given, { status: 422, json });
		},
	});

	test('a demand in Portuguese', async () => {
		const { contradicted, untold } = await meet(
			[refuse({ success: false, message: 'O campo tracking.src é obrigatório.' })],
			() => ['--charge'],
		);
		expect(untold['required-fields']).toBeUndefined();
		expect(contradicted['required-fields']).toContain('tracking.src');
	});

	test('a refusal of the token in the body, by 422', async () => {
		const errors = { api_token: ['The selected api_token is invalid.'] };
		const { contradicted, untold } = await meet(
			[refuse({ success: false, message: 'Invalid.', errors })],
			() => ['--charge'],
		);
		expect(untold.tokens).toBeUndefined();
		expect(contradicted.tokens).toBeDefined();
	});

	test('a limit of reads under another name', async () => {
		const { contradicted } = await meet([
			{
				answer: ({ headers }, { path }) => {
					if (path.startsWith('/transactions')) headers['ratelimit-limit'] = '30';
				},
			},
		]);
		expect(contradicted['other-limits']).toBeDefined();
	});

	test('a 429 of reads', async () => {
		let isFirst = true;
		const { contradicted, untold } = await meet([
			{
				answer: (given, { path }) => {
					if (!path.startsWith('/transactions') || !isFirst) return;
					isFirst = false;
					given.status = 429;
					given.headers = { 'retry-after': '7' };
				},
			},
		]);
		expect(untold['other-limits']).toBeUndefined();
		expect(contradicted['other-limits']).toBeDefined();
	});

	test('a limit in an hour instead of a minute', async () => {
		const { confirmed } = await meet([
			{
				options: { requestsPerMinute: null },
				answer: ({ headers }, { path }) => {
					if (path !== '/products') return;
					headers['x-ratelimit-limit'] = '20';
					headers['x-ratelimit-reset'] = '3600';
				},
			},
		]);
		expect(confirmed['account-limit']).toBeUndefined();
	});
});

test('half of a limit is kept that is stated under a name which the package does not read', async () => {
	const clock = virtualClock();
	const at: number[] = [];
	const service = await startContrary([
		{
			options: { requestsPerMinute: null, rateLimitHeaders: false },
			answer: ({ headers }, { path }) => {
				if (path !== '/products') return;
				at.push(clock.now());
				headers['ratelimit-limit'] = '8';
			},
		},
	]);
	try {
		const { contradicted } = await run(service.baseUrl, [], { clock });
		expect(contradicted['account-limit']).toContain('ratelimit-limit');
		const inFirstMinute = at.filter((moment) => moment < (at[0] ?? 0) + 60_000);
		expect(inFirstMinute.length).toBeLessThanOrEqual(4);
	} finally {
		await service.close();
	}
});

describe('a wrong path has its own exit code', () => {
	test.each([
		['text/plain', 'It works!'],
		['application/json', '{"status":"ok"}'],
		['text/html', '<!-- shop --><html></html>'],
		['text/html', '<head><title>Shop</title></head>'],
		['text/html', ''],
	])('where everything is answered with 200, %s: %s', async (type, body) => {
		const { exit } = await meetServer((_request, response) => {
			response.setHeader('content-type', type);
			response.end(body);
		});
		expect(exit).toBe(4);
	});

	test('and a web page with 403 is no word on the token', async () => {
		const { text } = await meetServer((_request, response) => {
			response.writeHead(403, { 'content-type': 'text/html' });
			response.end('<!DOCTYPE html><title>Just a moment...</title>');
		});
		expect(text).not.toContain('does not accept DIGITAL_SALES_TOKEN');
	});
});

test('a wrong token that is answered with 200 and success: false has its own exit code', async () => {
	const { exit, text } = await meetServer((_request, response) => {
		response.setHeader('content-type', 'application/json');
		response.end('{"success":false,"message":"Invalid token"}');
	});
	expect([exit, text]).toEqual([3, expect.stringContaining('DIGITAL_SALES_TOKEN')]);
});

test('a row is not confirmed without a word on the parameter that could not be tried', async () => {
	const { confirmed, untold } = await meet([
		{
			answer: (given, { query }) => {
				if (query.search !== undefined || query.per_page !== undefined) given.status = 503;
			},
		},
	]);
	expect(`${confirmed['query-names']} ${untold['query-names']}`).toMatch(
		/search is answered with 503/,
	);
});

test('the largest page is not confirmed if per_page is not understood', async () => {
	const { contradicted, confirmed } = await meet([
		{ options: { queryNames: { perPage: 'x_size' } } },
	]);
	expect(contradicted['query-names']).toContain('per_page changes nothing');
	expect(confirmed['page-size']).toBeUndefined();
});

test('a product that is called like a word of the report does not blacken it', async () => {
	const { text } = await meet([
		{
			answer: ({ json }, { path }) => {
				if (path !== '/products' || !isJsonObject(json) || !Array.isArray(json.data)) return;
				for (const [index, title] of ['Status', 'Products', 'Confirmed'].entries()) {
					Object.assign(Object(json.data[index]), { title });
				}
			},
		},
	]);
	expect(text).toContain('GET /products');
	expect(text).toContain('## Confirmed');
});

test('a long picture in an answer does not break off the command after a charge', async () => {
	const { text, posts } = await meet(
		[
			{
				answer: (given, { path }) => {
					const { json } = given;
					if (!path.startsWith('/transactions') || !isJsonObject(json)) return;
					const { pix } = json;
					if (isJsonObject(pix)) pix.qr_code_base64 = 'aB3+'.repeat(SIZE / 4);
				},
			},
		],
		() => ['--charge'],
	);
	expect(posts).toBe(1);
	expect(text).toContain('POST /transactions was sent once');
});
/** Of the text of a picture with about 30 KB. */
const SIZE = 40_000;

test('--charge takes the lowest price of the catalog that it has read', async () => {
	const service = await startContrary([{ options: { products: 137 } }]);
	try {
		const { sandbox } = service;
		await run(service.baseUrl, ['--charge']);
		const prices = sandbox.products
			.slice(0, 100)
			.filter(({ status }) => status === 1)
			.flatMap(({ offers }) => offers)
			.filter(({ interval }) => interval === null)
			.map(({ price }) => price);
		expect(sandbox.transactions.map(({ amount }) => amount)).toEqual([Math.min(...prices)]);
	} finally {
		await service.close();
	}
});

test('a page beyond the last that repeats the last one is no wrong name', async () => {
	const { contradicted } = await meet([
		{
			options: { products: 20 },
			ask: ({ query }) => {
				if (query.page === '2') query.page = '1';
			},
		},
	]);
	expect(contradicted).toEqual({});
});

test.each(Array.from({ length: 40 }, (_value, index) => index + 1))(
	'nothing is invented of a documented catalog of %i',
	async (products) => {
		const { contradicted, exit } = await meet([{ options: { products } }]);
		expect(contradicted).toEqual({});
		expect(exit).toBe(0);
	},
);
