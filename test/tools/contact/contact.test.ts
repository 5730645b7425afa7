import { chargeAt } from '../../support/charge';
import { CHECKS } from './checks';
import { methods, run, startContrary, useSandbox, virtualClock } from './support';
import { whereToChange } from './report';

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
		const hash = await chargeAt(sandbox);
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
			'accents',
		]);
		expect(new Set(methods(sandbox.requests))).toEqual(new Set(['GET']));
		const pages = sandbox.requests.filter((request) => request.path.endsWith('/products'));
		expect(pages.length).toBeLessThanOrEqual(10);
	});

	test.each([1, 2, 3, 10, 29, 30, 31, 60])(
		'is contradicted in nothing with a catalog of %i',
		async (products) => {
			const service = await startContrary([{ options: { products } }]);
			try {
				const { exit, contradicted } = await run(service.baseUrl);
				expect(contradicted).toEqual({});
				expect(exit).toBe(0);
			} finally {
				await service.close();
			}
		},
	);

	test('gets one POST with --charge, of the lowest price that was read', async () => {
		const { sandbox } = held.service;
		// Beyond the first 30, which come without a page size.
		Object.assign(sandbox.products[90] ?? {}, { status: 1 });
		Object.assign(sandbox.products[90]?.offers[0] ?? {}, { price: LOWEST, interval: null });

		const { exit, text, confirmed, untold } = await run(sandbox.baseUrl, ['--charge']);

		expect(exit).toBe(0);
		expect(methods(sandbox.requests).filter((method) => method === 'POST')).toHaveLength(1);
		expect(sandbox.transactions.map(({ amount }) => amount)).toEqual([LOWEST]);
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

/** In cents. */
const LOWEST = 7;
test('a charge that was sent is told even if the command fails afterwards', async () => {
	const service = await startContrary([]);
	const said: string[] = [];
	try {
		const { sandbox, baseUrl } = service;
		const clock = {
			...virtualClock(),
			now: () => {
				if (sandbox.transactions.length > 0) throw new Error('a fault of the command');
				return 0;
			},
		};
		await expect(run(baseUrl, ['--charge'], { clock, said })).rejects.toThrow('a fault');
		expect(sandbox.transactions).toHaveLength(1);
		expect(said).toEqual(['Sending POST /transactions once.']);
	} finally {
		await service.close();
	}
});
