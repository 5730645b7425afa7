import { startSandbox } from '../../../sandbox';
import { at, call, hashes, useSandbox } from './support';

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

	test('gives the rest on the last page and nothing beyond it', async () => {
		const last = await list('?page=5');
		expect(hashes(last.body)).toHaveLength(17);
		expect(at(last.body, 'meta')).toMatchObject({ from: 121, to: 137 });
		expect(at(last.body, 'links', 'next')).toBeNull();
		const beyond = await list('?page=6');
		expect(hashes(beyond.body)).toEqual([]);
		expect(at(beyond.body, 'meta')).toMatchObject({ from: null, to: null, total: 137 });
	});

	test('grants no page larger than its largest, and takes nonsense for the default', async () => {
		expect(at((await list('?per_page=500')).body, 'meta', 'per_page')).toBe(100);
		expect(at((await list('?per_page=7')).body, 'meta', 'per_page')).toBe(7);
		expect(at((await list('?per_page=abc&page=-1')).body, 'meta')).toMatchObject({
			per_page: 30,
			current_page: 1,
		});
	});

	test('all pages together are the catalog, each product once', async () => {
		const pages = await Promise.all([1, 2].map((page) => list(`?per_page=100&page=${page}`)));
		const seen = pages.flatMap(({ body }) => hashes(body));
		expect(seen).toEqual(held.sandbox.products.map((product) => product.hash));
		expect(new Set(seen).size).toBe(137);
	});

	test('searches a part of the name, whatever case and accents, and of the hash', async () => {
		const { body } = await list('?search=VIOLAO&per_page=100');
		const titles = (at(body, 'data') as Array<{ title: string }>).map(({ title }) => title);
		expect(titles.length).toBeGreaterThan(0);
		expect(titles.every((title) => title.includes('Violão'))).toBe(true);
		const hash = held.sandbox.products[40]?.hash ?? '';
		expect(hashes((await list(`?search=${hash}`)).body)).toEqual([hash]);
	});

	test('filters by status and by several categories, together', async () => {
		const { body } = await list('?status=1&categories=2,5&per_page=100');
		const expected = held.sandbox.products.filter(
			({ status, id_category: category }) => status === 1 && [2, 5].includes(category),
		);
		expect(expected.length).toBeGreaterThan(0);
		expect(hashes(body)).toEqual(expected.map(({ hash }) => hash));
	});

	test('ignores a filter name it does not know', async () => {
		expect(at((await list('?category=2&q=violao')).body, 'meta', 'total')).toBe(137);
	});

	test('refuses a wrong and a missing token', async () => {
		const wrong = await call(held.sandbox, 'GET', '/products', undefined, {
			authorization: 'Bearer nonsense',
		});
		expect(wrong.status).toBe(401);
		expect(wrong.body).toEqual({ success: false, message: 'Unauthenticated.' });
		expect((await fetch(`${held.sandbox.baseUrl}/products`)).status).toBe(401);
	});
});

describe('the catalog', () => {
	const held = useSandbox();

	test('has every status, recurring and single offers, and every nullable field both ways', () => {
		const { products } = held.sandbox;
		const offers = products.flatMap((product) => product.offers);
		expect(new Set(products.map(({ status }) => status))).toEqual(new Set([1, 2, 3, 4]));
		expect(new Set(products.map(({ title }) => title)).size).toBe(137);
		for (const product of products) {
			expect(product.hash).toMatch(/^[a-z0-9]{5,10}$/);
			expect(product.offers.length).toBeGreaterThanOrEqual(1);
			expect(product.offers.length).toBeLessThanOrEqual(3);
			expect(product.guaranted_days).toMatch(/^\d+$/);
		}
		const nullable = [
			products.map((product) => product.support_whatsapp),
			offers.map((offer) => offer.title),
			offers.map((offer) => offer.interval),
		];
		for (const values of nullable) {
			expect(values.some((value) => value === null)).toBe(true);
			expect(values.some((value) => value !== null)).toBe(true);
		}
		expect(offers.every(({ url }) => new URL(url).hostname.endsWith('.test'))).toBe(true);
	});

	test('is the same in every sandbox, and a larger one begins with it', async () => {
		const larger = await startSandbox({ products: 200 });
		expect(larger.products.slice(0, 137)).toEqual(held.sandbox.products);
		await larger.close();
	});
});

describe('a deployment with names of its own', () => {
	const held = useSandbox({
		queryNames: { perPage: 'perPage', search: 'q', page: 'p' },
		basePath: '/public/v1',
	});

	test('answers to them and ignores the usual ones', async () => {
		expect(held.sandbox.baseUrl).toMatch(/\d\/public\/v1$/);
		const { body } = await call(held.sandbox, 'GET', '/products?perPage=5&per_page=9&p=2');
		expect(at(body, 'meta')).toMatchObject({ per_page: 5, current_page: 2 });
		expect(at(body, 'links', 'next')).toBe(`${held.sandbox.baseUrl}/products?p=3`);
	});
});

test('a catalog of many pages leaves numbers out of its links', async () => {
	const sandbox = await startSandbox({ products: 2000 });
	const { body } = await call(sandbox, 'GET', '/products?page=30&per_page=30');
	const labels = (at(body, 'meta', 'links') as Array<{ label: string }>).map(({ label }) => label);
	expect(labels).toEqual([
		'pagination.previous',
		...['1', '2', '...', '27', '28', '29', '30', '31', '32', '33', '...', '66', '67'],
		'pagination.next',
	]);
	await sandbox.close();
});
