import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { create, useSandbox } from '../../product/unit/sandbox/support';
import { NOTICE_SHAPES, type DeliveryReport } from '../../sandbox';
import { isJsonObject } from '../../../nodes/DigitalSales/shared/json';
import { ROOT } from '../../host/n8n/paths';
import { CHECKS } from './checks';
import { run, startContrary, TOKEN, virtualClock } from './support';
import { whereToChange } from './unknowns';

const methods = (requests: ReadonlyArray<{ method: string }>): string[] =>
	requests.map(({ method }) => method);

test('there is a check for each row of docs/unknowns.md, in its order', () => {
	const rows = whereToChange();
	expect(CHECKS.map(({ unknown }) => unknown)).toEqual([...rows.keys()]);
	expect([...rows.values()].filter((where) => where === '')).toEqual([]);
	expect(new Set(CHECKS.map(({ id }) => id)).size).toBe(CHECKS.length);
});

describe('a service as documented', () => {
	const held = { service: useSandbox() };

	test('is contradicted in nothing, and only read', async () => {
		const { sandbox } = held.service;
		const hash = await create(sandbox);
		sandbox.requests.length = 0;

		const { exit, contradicted, confirmed, untold } = await run(sandbox.baseUrl, ['--hash', hash]);

		expect(contradicted).toEqual({});
		expect(exit).toBe(0);
		expect(Object.keys({ ...confirmed, ...untold }).sort()).toEqual(
			CHECKS.map(({ id }) => id).sort(),
		);
		expect(Object.keys(confirmed)).toEqual([
			'query-names',
			'page-size',
			'success',
			'failure',
			'unknown-hash',
			'hash-case',
			'hash',
			'dates',
			'account-limit',
			'operation-type',
			'installments',
			'page-address',
			'accents',
		]);
		expect(new Set(methods(sandbox.requests))).toEqual(new Set(['GET']));
		const pages = sandbox.requests.filter((request) => request.path.endsWith('/products'));
		expect(pages.length).toBeLessThanOrEqual(10);
	});

	test.each([1, 2])('is contradicted in nothing with a catalog of %i', async (products) => {
		const service = await startContrary([{ options: { products } }]);
		try {
			const { exit, contradicted } = await run(service.baseUrl);
			expect(contradicted).toEqual({});
			expect(exit).toBe(0);
		} finally {
			await service.close();
		}
	});

	test('is contradicted in nothing if its catalog is empty', async () => {
		const service = await startContrary([
			{
				answer: (given, { path: route }) => {
					if (route === '/products') given.json = { data: [], links: { next: null }, meta: {} };
				},
			},
		]);
		try {
			const { exit, contradicted, untold } = await run(service.baseUrl);
			expect(contradicted).toEqual({});
			expect(untold).toHaveProperty('query-names');
			expect(exit).toBe(0);
		} finally {
			await service.close();
		}
	});

	test('gets one POST with --charge, of the lowest price on its first page', async () => {
		const { sandbox } = held.service;

		const { exit, text, confirmed, untold } = await run(sandbox.baseUrl, ['--charge']);

		expect(exit).toBe(0);
		expect(methods(sandbox.requests).filter((method) => method === 'POST')).toHaveLength(1);
		const offered = sandbox.products
			.slice(0, 30)
			.filter(({ status }) => status === 1)
			.flatMap(({ offers }) => offers)
			.filter(({ interval }) => interval === null);
		expect(sandbox.transactions.map(({ amount }) => amount)).toEqual([
			Math.min(...offered.map(({ price }) => price)),
		]);
		expect(text).toContain('POST /transactions was sent once and answered with 201.');
		expect(Object.keys(confirmed)).toEqual(
			expect.arrayContaining(['required-fields', 'tokens', 'hash-case']),
		);
		// The charge itself sent these values.
		expect(Object.keys(untold)).toEqual(expect.arrayContaining(['operation-type', 'installments']));
	});

	test('gets one POST with --offer', async () => {
		const { sandbox } = held.service;
		const recurring = sandbox.products.find(({ offers }) => offers[0]?.interval !== null);

		const { exit, text } = await run(sandbox.baseUrl, ['--offer', recurring?.hash ?? '']);

		expect(exit).toBe(0);
		expect(methods(sandbox.requests).filter((method) => method === 'POST')).toHaveLength(1);
		expect(sandbox.offers.map(({ product_hash }) => product_hash)).toEqual([recurring?.hash]);
		expect(text).toContain('POST /products/{hash}/offers was sent once and answered with 201.');
	});

	test('is not charged again when the answer to the charge fails', async () => {
		const { sandbox } = held.service;
		sandbox.addFault({ kind: 'resetAfterProcessing', endpoint: 'POST /transactions' });

		const { text } = await run(sandbox.baseUrl, ['--charge']);

		expect(sandbox.charges()).toBe(1);
		expect(text).toContain("It may have been made: check the service's dashboard.");
	});

	test.each(NOTICE_SHAPES)('has the known shape of a webhook: %s', async (shape) => {
		const { sandbox } = held.service;
		let delivery: Promise<DeliveryReport> | undefined;

		const { exit, text, confirmed, untold } = await run(
			sandbox.baseUrl,
			['--charge', '--listen', '0'],
			{
				onListening: (port) => {
					const [charged] = sandbox.transactions;
					const url = `http://127.0.0.1:${port}/hook`;
					delivery = sandbox.notify(charged?.hash ?? '', { shape, url });
				},
			},
		);

		expect(exit).toBe(0);
		expect(Object.keys(confirmed)).toContain('notice');
		// An envelope has a token, and nobody shows what it is good for.
		expect(Object.keys(shape === 'envelope' ? untold : confirmed)).toContain('signing');
		expect(text).toContain('## Shape of the webhook');
		expect(text).toContain('"a text: waiting_payment"');
		expect(await delivery).toMatchObject({ outcome: 'delivered', status: 200 });
	});

	test('says so if it does not know the hash', async () => {
		const { exit, text } = await run(held.service.sandbox.baseUrl, ['--hash', 'mistyped1']);
		expect(text).toContain('A transaction could not be read: 404.');
		expect(text).not.toContain('mistyped1');
		expect(exit).toBe(0);
	});

	test('says so if the report cannot be written, after it was shown', async () => {
		const { exit, text } = await run(held.service.sandbox.baseUrl, [
			'--report',
			'/no/such/folder/a',
		]);
		expect(text).toMatch(/^# First contact[^]*\nThe report cannot be written/);
		expect(exit).toBe(2);
	});

	test('says so if no webhook comes', async () => {
		const { sandbox } = held.service;
		const { exit, untold } = await run(sandbox.baseUrl, ['--listen', '0'], { listenMs: 20 });
		expect(untold.notice).toContain('no webhook came in time');
		expect(exit).toBe(0);
	});
});

test('what the package handles already is not a contradiction', async () => {
	const service = await startContrary([
		{ options: { wrapTransactions: true, errorsByField: true, maxPageSize: 20, qrImage: 'bare' } },
	]);
	try {
		const { contradicted, confirmed } = await run(service.baseUrl, ['--charge']);
		expect(contradicted).toEqual({});
		expect(confirmed.success).toContain('a transaction comes wrapped with 200');
		expect(confirmed['page-size']).toContain('of 250 asked for, 20 came');
	} finally {
		await service.close();
	}
});

test.each([502, 503, 504])('a %i that comes in between is not a contradiction', async (status) => {
	const service = await startContrary([
		{
			answer: (given, { query, path: route }) => {
				if (query.search !== undefined || route.startsWith('/transactions')) given.status = status;
			},
		},
	]);
	try {
		const { exit, contradicted, untold } = await run(service.baseUrl, ['--hash', 'any1']);
		expect(contradicted).toEqual({});
		expect(untold['unknown-hash']).toContain(`it is answered with ${status}`);
		expect(exit).toBe(0);
	} finally {
		await service.close();
	}
});

describe('half of the rate limit', () => {
	test('is never exceeded', async () => {
		const clock = virtualClock();
		const at: number[] = [];
		const service = await startContrary([
			{
				options: { requestsPerMinute: null },
				answer: ({ headers }, { path: route }) => {
					if (route !== '/products') return;
					at.push(clock.now());
					headers['x-ratelimit-limit'] = '6';
				},
			},
		]);
		try {
			await run(service.baseUrl, [], { clock });
			expect(at.length).toBeGreaterThan(6);
			for (const start of at) {
				const inMinute = at.filter((moment) => moment >= start && moment < start + 60_000);
				expect(inMinute.length).toBeLessThanOrEqual(3);
			}
		} finally {
			await service.close();
		}
	});

	test('waits as long as a 429 asks, and asks again', async () => {
		const clock = virtualClock();
		const service = await startContrary([]);
		service.sandbox.addFault({
			kind: 'retryAfter',
			seconds: 7,
			endpoint: 'GET /products',
			after: 3,
		});
		try {
			const { contradicted, confirmed } = await run(service.baseUrl, [], { clock });
			expect(clock.slept).toContain(7_000);
			expect(contradicted).toEqual({});
			expect(confirmed['account-limit']).toMatch(/a 429 of GET \/products carries .*retry-after/);
		} finally {
			await service.close();
		}
	});

	test('asks an endpoint no more that keeps answering 429', async () => {
		const service = await startContrary([]);
		service.sandbox.addFault({
			kind: 'retryAfter',
			endpoint: 'GET /products',
			after: 2,
			times: 'always',
		});
		try {
			await run(service.baseUrl);
			const pages = service.sandbox.requests.filter((request) =>
				request.path.endsWith('/products'),
			);
			expect(pages.map(({ status }) => status)).toEqual([200, 200, 429, 429]);
		} finally {
			await service.close();
		}
	});
});

describe('one sentence and an exit code of its own', () => {
	const held = useSandbox();

	async function expectRefusal(
		[exit, sentence]: [number, RegExp],
		baseUrl: string,
		args: string[] = ['--charge'],
		environment: Record<string, string | undefined> = {},
	): Promise<void> {
		const refused = await run(baseUrl, args, { environment });
		expect(refused.text).toMatch(sentence);
		expect(refused.text).not.toContain('\n');
		expect(refused.text).not.toMatch(/test-(api|body)-token/);
		expect(refused.exit).toBe(exit);
		expect(methods(held.sandbox.requests)).not.toContain('POST');
	}

	test('without a token', async () => {
		await expectRefusal([2, /^DIGITAL_SALES_TOKEN is empty\.$/], held.sandbox.baseUrl, [], {
			DIGITAL_SALES_TOKEN: ' ',
		});
		expect(held.sandbox.requests).toEqual([]);
	});

	test('without an address, or with the token in its place', async () => {
		await expectRefusal([2, /^DIGITAL_SALES_BASE_URL is empty or not/], '');
		await expectRefusal([2, /^DIGITAL_SALES_BASE_URL is empty or not/], `ftp://${TOKEN}`);
	});

	test.each([
		[['--chrage'], /^An argument is unknown/],
		[['--hash', '..'], /^--hash and --offer need a hash\.$/],
		[['--listen', 'here'], /^--listen needs a port/],
		[['--notify', 'example.com'], /^--notify must start with http/],
	])('with the arguments %j', async (args, sentence) => {
		await expectRefusal([2, sentence], held.sandbox.baseUrl, args);
	});

	test('with a customer that is not complete', async () => {
		await expectRefusal(
			[2, /^DIGITAL_SALES_CUSTOMER is not JSON/],
			held.sandbox.baseUrl,
			['--charge'],
			{
				DIGITAL_SALES_CUSTOMER: '{"name":"Joana Prado"}',
			},
		);
	});

	test('at a port that is in use', async () => {
		const { port } = new URL(held.sandbox.baseUrl);
		await expectRefusal([2, /^Nothing can listen/], held.sandbox.baseUrl, ['--listen', port]);
		expect(held.sandbox.requests).toEqual([]);
	});

	test('with a token that no header can carry', async () => {
		await expectRefusal([2, /^DIGITAL_SALES_TOKEN has characters/], held.sandbox.baseUrl, [], {
			DIGITAL_SALES_TOKEN: `${TOKEN}\n${TOKEN}`,
		});
	});

	test('with a wrong token', async () => {
		await expectRefusal(
			[3, /^The service does not accept DIGITAL_SALES_TOKEN \(401\)/],
			held.sandbox.baseUrl,
			['--charge'],
			{ DIGITAL_SALES_TOKEN: 'test-wrong-token-777' },
		);
	});

	test.each(['/api/public/v2', '/', '/wrong/path', '/api/public/v1/more'])(
		'under the path %s',
		async (wrong) => {
			const { origin } = new URL(held.sandbox.baseUrl);
			await expectRefusal([4, /^There is no API under this address \(\d+/], origin + wrong);
		},
	);

	test('with a redirect', async () => {
		held.sandbox.addFault({ kind: 'redirect', to: `https://example.com/?t=${TOKEN}` });
		await expectRefusal([4, /^There is no API under this address \(302/], held.sandbox.baseUrl);
	});

	test('while the service is down', async () => {
		const server = createServer().listen(0, '127.0.0.1');
		await new Promise((resolve) => server.once('listening', resolve));
		const address = server.address();
		await new Promise((resolve) => server.close(resolve));
		const port = typeof address === 'object' ? address?.port : undefined;
		await expectRefusal(
			[5, /^The service does not answer \(ECONNREFUSED\)/],
			`http://127.0.0.1:${port}/api/public/v1`,
		);
	});

	test.each([500, 503])('while the service answers %i', async (status) => {
		held.sandbox.addFault({ kind: 'status', status });
		await expectRefusal([5, /^The service failed to answer \(50\d\)/], held.sandbox.baseUrl);
	});

	test('after a 429 at once', async () => {
		held.sandbox.addFault({ kind: 'retryAfter', seconds: 42 });
		await expectRefusal(
			[6, /^Rate limit reached \(429\).* in 42 seconds\.$/],
			held.sandbox.baseUrl,
		);
		expect(held.sandbox.requests).toHaveLength(1);
	});

	test('as a program', () => {
		const { status, stdout } = spawnSync(
			path.join(ROOT, 'node_modules', '.bin', 'tsx'),
			[path.join('test', 'tools', 'contact', 'main.ts'), '--charge'],
			{
				cwd: ROOT,
				encoding: 'utf8',
				env: { ...process.env, DIGITAL_SALES_BASE_URL: 'x.test', DIGITAL_SALES_TOKEN: '' },
			},
		);
		expect([status, stdout.trim()]).toEqual([2, 'DIGITAL_SALES_TOKEN is empty.']);
	});
});

test('the report holds nothing personal, and no token', async () => {
	const customer = {
		name: 'Joana Prado',
		email: 'joana.prado@correio.test',
		phone_number: '11987650001',
		document: '52998224725',
	};
	// Without the long number that is removed from any text.
	const [apiToken, bodyApiToken] = ['test-token-of-header', 'test-token-of-body'];
	const planted = {
		'other@person.test': 1,
		[customer.email]: 1,
		[customer.name]: 1,
		'529.982.247-25': 1,
		[apiToken]: 1,
	};
	const service = await startContrary([
		{
			options: { apiToken, bodyApiToken },
			answer: (given, { method, path: route }) => {
				if (route.startsWith('/transactions/') && isJsonObject(given.json)) {
					Object.assign(given.json, planted, { payment_status: customer.name });
				}
				if (method === 'POST') {
					given.status = 422;
					given.json = {
						success: false,
						message: `${customer.name} required ${apiToken}`,
						errors: { [customer.email]: ['is required'], [`x ${bodyApiToken}`]: ['is required'] },
					};
				}
			},
		},
	]);
	const folder = mkdtempSync(path.join(tmpdir(), 'contact-'));
	const file = path.join(folder, 'report.md');
	try {
		const { sandbox } = service;
		const hash = await create(sandbox, { customer });

		const { exit, text } = await run(
			service.baseUrl,
			['--hash', hash, '--charge', '--listen', '0', '--report', file],
			{
				environment: {
					DIGITAL_SALES_TOKEN: apiToken,
					DIGITAL_SALES_SECOND_TOKEN: bodyApiToken,
					DIGITAL_SALES_CUSTOMER: JSON.stringify(customer),
				},
				onListening: (port) => {
					void fetch(`http://127.0.0.1:${port}/`, {
						method: 'POST',
						headers: { 'content-type': `application/json; of=${apiToken}` },
						body: JSON.stringify({ ...planted, hash, status: 'paid', customer, session: apiToken }),
					});
				},
			},
		);

		expect(exit).toBe(7);
		const written = readFileSync(file, 'utf8');
		expect(text.trim().endsWith(written.trim())).toBe(true);
		expect(text).toContain('Shape of the webhook');
		for (const secret of [
			...Object.values(customer),
			...[apiToken, bodyApiToken, hash, '529.982.247-25', 'other@person.test', 'Joana', 'Prado'],
			...sandbox.products.slice(0, 30).flatMap((product) => [product.hash, product.title]),
		]) {
			expect(text).not.toContain(secret);
		}
	} finally {
		rmSync(folder, { recursive: true });
		await service.close();
	}
});
