import { searchKey } from '../../../nodes/DigitalSales/domain/text';
import { isJsonObject } from '../../../nodes/DigitalSales/shared/json';
import { create } from '../../product/unit/sandbox/support';
import { CHECKS } from './checks';
import { meet, run, startContrary, type Received, type Contrary, type Given } from './support';

/** A planted difference, and what has to be found. */
interface Planted extends Contrary {
	id: string;
	seen: RegExp;
	/** Further rows that the same difference contradicts. */
	also?: string[];
	args?: string[];
	/** The notice that is sent, if one is; `HASH` stands for that of the transaction. */
	notice?: { headers?: Record<string, string>; method?: string; body: object };
	/** Whether it cannot be planted together with others. */
	isAlone?: boolean;
}

type Json = Record<string, unknown>;

/** The difference in each object of a kind. */
const products = (change: (product: Json) => void): Contrary['answer'] => {
	return (given, received) => {
		if (received.path === '/products')
			for (const product of listIn(given.json, 'data')) change(product);
	};
};
const offers = (change: (offer: Json) => void): Contrary['answer'] =>
	products((product) => {
		for (const offer of listIn(product, 'offers')) change(offer);
	});
const reads = (change: (transaction: Json, received: Received) => void): Contrary['answer'] => {
	return (given, received) => {
		const isRead = received.method === 'GET' && received.path.startsWith('/transactions/');
		if (isRead && given.status === 200 && isJsonObject(given.json)) change(given.json, received);
	};
};
const unknownReads = (change: (given: Given) => void): Contrary['answer'] => {
	return (given, received) => {
		const isToken = received.headers.authorization !== undefined;
		if (isToken && received.path.startsWith('/transactions/nosuch')) change(given);
	};
};

function listIn(value: unknown, name: string): Json[] {
	const list = isJsonObject(value) ? value[name] : undefined;
	return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

const addTags = products((product) =>
	Object.assign(product, { tags: [], product_type: 'physical' }),
);
const addBirthday = reads(({ customer }) => {
	if (isJsonObject(customer)) customer.birthday = '2000-01-01';
});

const PLANTED: Planted[] = [
	...(['search', 'perPage', 'page', 'status', 'categories'] as const).map(
		(meaning): Planted => ({
			id: 'query-names',
			options: { queryNames: { [meaning]: `x_${meaning}` } },
			seen: new RegExp(`${meaning === 'perPage' ? 'per_page' : meaning} changes nothing`),
			isAlone: meaning === 'search' || meaning === 'perPage',
		}),
	),
	{
		id: 'query-names',
		seen: /categories changes the answer, but not to the products asked for/,
		isAlone: true,
		ask: ({ query }) => {
			if (query.categories !== undefined) query.categories = query.categories.split(',')[0] ?? '';
		},
	},
	{
		id: 'query-names',
		seen: /status is answered with 422/,
		isAlone: true,
		answer: (given, { query }) => {
			if (query.status !== undefined) given.status = 422;
		},
	},
	{
		id: 'page-size',
		seen: /a size of 250 is answered with 500/,
		isAlone: true,
		answer: (given, { query }) => {
			if (query.per_page === '250') given.status = 500;
		},
	},
	{
		id: 'page-size',
		seen: /the service states 250 a page and 137 in all, and sent 100/,
		answer: ({ json }, { query }) => {
			const meta = isJsonObject(json) ? json.meta : undefined;
			if (query.per_page === '250' && isJsonObject(meta)) meta.per_page = 250;
		},
	},
	...[true, false].map(
		(errorsByField): Planted => ({
			id: 'required-fields',
			options: { errorsByField, demands: { transaction: ['tracking.src'] } },
			args: ['--charge'],
			seen: /POST \/transactions requires tracking\.src/,
			isAlone: true,
		}),
	),
	{
		id: 'required-fields',
		also: ['further-fields'],
		options: { errorsByField: true, demands: { offer: ['checkout_theme'] } },
		args: ['--offer', 'PRODUCT'],
		seen: /POST \/products\/\{hash\}\/offers requires checkout_theme/,
	},
	{
		id: 'further-fields',
		options: { notificationField: 'callback_url' },
		args: ['--charge', '--notify', 'https://hooks.example.com/a'],
		seen: /the address sent as webhook_url is not the postback_url/,
		isAlone: true,
	},
	{
		id: 'success',
		seen: /GET \/products is answered with 200 and no list/,
		isAlone: true,
		answer: (given, received) => {
			if (received.path === '/products') given.json = { items: listIn(given.json, 'data') };
		},
	},
	{
		id: 'success',
		seen: /a transaction is answered with 200 and cannot be read/,
		isAlone: true,
		answer: (given, { path }) => {
			if (path.startsWith('/transactions/') && given.status === 200) given.json = { r: given.json };
		},
	},
	{
		id: 'success',
		seen: /product\.cover is missing; product\.guaranted_days is a whole number/,
		answer: products((product) => {
			product.guaranted_days = Number(product.guaranted_days);
			delete product.cover;
		}),
	},
	{
		id: 'failure',
		also: ['unknown-hash'],
		seen: /a read of an unknown hash is answered with 200 and nothing says that it failed/,
		isAlone: true,
		answer: unknownReads((given) => {
			given.status = 200;
			given.json = { data: null };
		}),
	},
	{
		id: 'failure',
		seen: /a request without a token is answered with 400, not 401 or 403/,
		answer: (given, { headers }) => {
			if (headers.authorization === undefined) given.status = 400;
		},
	},
	{
		id: 'failure',
		seen: /a read of an unknown hash is answered with 404 and no words that can be read/,
		isAlone: true,
		answer: unknownReads((given) => (given.json = { fault: { reason: 'x' } })),
	},
	{
		id: 'other-limits',
		seen: /GET \/transactions\/\{hash\} states 30 requests/,
		answer: ({ headers }, { path }) => {
			if (path.startsWith('/transactions/')) headers['x-ratelimit-limit'] = '30';
		},
	},
	{
		id: 'unknown-hash',
		seen: /it is answered with 422, so the trigger answers such a notice with 503/,
		answer: unknownReads((given) => (given.status = 422)),
	},
	{
		id: 'hash-case',
		seen: /case is ignored, and the answer repeats the spelling that was asked for/,
		ask: (received) => (received.path = received.path.toLowerCase()),
		answer: reads((transaction, { path }) => (transaction.hash = path.split('/').pop())),
	},
	{
		id: 'hash',
		seen: /a hash is refused by the filters of the trigger/,
		answer: products((product) => (product.hash = `${String(product.hash)} x`)),
		also: ['page-address'],
		isAlone: true,
	},
	{
		id: 'hash',
		seen: /a hash is a whole number/,
		answer: offers((offer) => (offer.hash = 4711)),
		also: ['page-address', 'success'],
	},
	{
		id: 'dates',
		seen: /a date looks like dddd-dd-ddTdd:dd:ddZ/,
		answer: offers((offer) => (offer.created_at = '2026-01-02T03:04:05Z')),
	},
	{
		id: 'further-values',
		seen: /product\.product_type has a value .*; product\.tags; .*transaction\.customer\.birthday/,
		answer: (given, received) => {
			addTags?.(given, received);
			addBirthday?.(given, received);
		},
	},
	{
		id: 'account-limit',
		options: { requestsPerMinute: 60 },
		seen: /GET \/products states 60 requests/,
	},
	{
		id: 'account-limit',
		options: { rateLimitHeaders: false },
		also: ['other-limits'],
		seen: /the limit is stated in ratelimit-limit, which the package does not read/,
		isAlone: true,
		answer: ({ headers }) => (headers['ratelimit-limit'] = '20'),
	},
	{
		id: 'account-limit',
		seen: /a 429 of GET \/products says nothing of the limit/,
		isAlone: true,
		answer: (given, { query }) => {
			if (query.status === undefined) return;
			given.status = 429;
			given.headers = {};
		},
	},
	{
		id: 'operation-type',
		seen: /an item has 2/,
		answer: reads((transaction) => {
			for (const item of listIn(transaction, 'items')) item.operation_type = 2;
		}),
	},
	{
		id: 'installments',
		seen: /a PIX transaction has 0/,
		isAlone: true,
		answer: reads((transaction) => (transaction.installments = 0)),
	},
	{
		id: 'tokens',
		seen: /a body with the second token is refused \(401\)/,
		args: ['--charge'],
		answer: (given, { method, path }) => {
			if (method !== 'POST' || path !== '/transactions') return;
			given.status = 401;
			given.json = { success: false, message: 'Invalid api_token.' };
		},
	},
	{
		id: 'boleto',
		seen: /a method is called "bank_slip"/,
		isAlone: true,
		answer: reads((transaction) => (transaction.payment_method = 'bank_slip')),
	},
	{
		id: 'statuses',
		seen: /"in_dispute" is in no group/,
		answer: reads((transaction) => (transaction.payment_status = 'in_dispute')),
	},
	{
		id: 'notice',
		seen: /no known shape/,
		args: ['--listen', '0'],
		notice: { body: { order: { reference: 'HASH' }, situation: 'paid' } },
		isAlone: true,
	},
	{
		id: 'notice',
		seen: /it comes by PUT/,
		args: ['--listen', '0'],
		notice: { method: 'PUT', body: { hash: 'HASH', payment_status: 'paid' } },
	},
	{
		id: 'notice',
		seen: /a known shape, but no status/,
		args: ['--listen', '0'],
		notice: { body: { hash: 'HASH', state: 'paid' } },
		isAlone: true,
	},
	{
		id: 'notice',
		seen: /a known shape, but its transaction is answered with 404/,
		args: ['--listen', '0'],
		notice: { body: { hash: 'HASHx', status: 'paid' } },
		isAlone: true,
	},
	{
		id: 'signing',
		seen: /it has the header x-signature/,
		args: ['--listen', '0'],
		notice: {
			headers: { 'x-signature': 'sha256=abc' },
			body: { hash: 'HASH', payment_status: 'paid' },
		},
	},
	{
		id: 'page-address',
		seen: /0 of \d+ checkout pages end with the hash/,
		answer: offers((offer) => (offer.url = `https://pay.test/checkout?o=${String(offer.hash)}`)),
	},
	{
		id: 'accents',
		seen: /a word with accents is found only with its accents/,
		answer: ({ json }, { query }) => {
			const { search } = query;
			const isPlain = search !== undefined && search === searchKey(search);
			if (isPlain && isJsonObject(json)) json.data = [];
		},
	},
	{
		id: 'largest-amount',
		also: ['success'],
		seen: /an amount has a fraction/,
		answer: offers((offer) => (offer.price = 19.9)),
	},
];

/** No request that may be sent tells anything of these. */
const NEVER_TOLD = [
	'429-after-work',
	'idempotency',
	'discount-methods',
	're-sending',
	'status-transitions',
	'events',
	'lag',
	'main-offer',
	'unit-price',
	'customer-forms',
];

async function meetPlanted(planted: Planted[]) {
	const service = await startContrary(planted);
	try {
		const { sandbox, baseUrl } = service;
		const hash = await create(sandbox, { tracking: { src: 'test' } });
		const args = [...new Set(planted.flatMap((plant) => (plant.args ?? []).join(' ')))]
			.join(' ')
			.replace('PRODUCT', sandbox.products[0]?.hash ?? '');
		const notice = planted.reduce<Planted['notice']>(
			(all, plant) => (plant.notice ? { ...all, ...plant.notice } : all),
			undefined,
		);
		return await run(baseUrl, ['--hash', hash, ...args.split(' ').filter((word) => word !== '')], {
			onListening: (port) => {
				void fetch(`http://127.0.0.1:${port}/`, {
					method: notice?.method ?? 'POST',
					headers: { 'content-type': 'application/json', ...notice?.headers },
					body: JSON.stringify(notice?.body).replace('HASH', hash),
				});
			},
		});
	} finally {
		await service.close();
	}
}

test.each(PLANTED)('$id: $seen', async (planted) => {
	const { exit, contradicted } = await meetPlanted([planted]);

	expect(Object.keys(contradicted).sort()).toEqual([planted.id, ...(planted.also ?? [])].sort());
	expect(contradicted[planted.id]).toMatch(planted.seen);
	expect(contradicted[planted.id]).toMatch(/\n {2}Change it in: (form|code|credential)/);
	expect(exit).toBe(7);
});

test('each row that a request can tell of is contradicted at least once', () => {
	const ids = new Set([...PLANTED.map(({ id }) => id), ...NEVER_TOLD]);
	expect([...ids].sort()).toEqual(CHECKS.map(({ id }) => id).sort());
});

test('all at once are found as well', async () => {
	const planted = PLANTED.filter(({ isAlone }) => !isAlone);

	const { contradicted, untold } = await meetPlanted(planted);

	const ids = planted.flatMap(({ id, also = [] }) => [id, ...also]);
	expect(Object.keys(contradicted).sort()).toEqual([...new Set(ids)].sort());
	for (const { id, seen } of planted) expect(contradicted[id]).toMatch(seen);
	expect(Object.keys(untold)).toEqual(expect.arrayContaining(NEVER_TOLD));
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
