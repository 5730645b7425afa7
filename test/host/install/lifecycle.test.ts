import { ACTION, TRIGGER } from '../e2e/stage/workflows';
import type { Execution } from '../n8n/execution';
import { EmptyN8n, OLDER_TEXT, OLDER_VERSION } from './stage/emptyN8n';
import { hashOf, Shop } from './stage/shop';

const INSTALL_AND_START_MS = 15 * 60_000;
/** Each step builds on those before it, as the days of an installation do. */
describe("installed by n8n's own installer", () => {
	let empty: EmptyN8n;
	let shop: Shop;
	let url: string;
	let parked: Execution;
	let nodes: unknown;
	let latest: string;

	beforeAll(async () => {
		empty = await EmptyN8n.open('install');
		await empty.publishOlder();
		await empty.publishPresent();
	}, INSTALL_AND_START_MS);
	afterAll(async () => {
		await shop?.close();
		await empty?.close();
	});

	const charges = (): number => empty.n8n.sandbox.charges();
	const texts = async (): Promise<string[]> =>
		(await empty.nodeTypes()).map(({ description }) => description);
	/** What was sent for the charges of orders, apart from the execution that each belongs to. */
	const bodies = (): unknown[] =>
		empty.n8n.sandbox.requests
			.filter(({ method, body }) => method === 'POST' && JSON.stringify(body).includes('waiting'))
			.map(({ body }) => ({ ...Object(body), webhook_url: '' }));

	test('the version asked for is there and works, without a restart', async () => {
		const { installedVersion } = await empty.packages.install(OLDER_VERSION);
		expect(installedVersion).toBe(OLDER_VERSION);
		const types = await empty.nodeTypes();
		expect(types.map(({ name }) => name)).toEqual(
			expect.arrayContaining([ACTION, TRIGGER, `${ACTION}Tool`]),
		);
		expect(await texts()).toContain(OLDER_TEXT);
		shop = await Shop.open(empty.n8n);
		url = await shop.address();
		expect(url).toMatch(/\/webhook\/sales\/digital-sales$/);
		parked = await shop.order('A');
		expect(parked.summary.status).toBe('waiting');
		expect(charges()).toBe(1);
		({ nodes } = await shop.workflow());
	});

	describe('updated under a published workflow', () => {
		beforeAll(async () => {
			const [installed] = await empty.packages.list();
			latest = installed?.updateAvailable ?? '';
			expect((await empty.packages.update(latest)).installedVersion).toBe(latest);
		});

		test('the newer code is there without a restart, and the saved workflow is untouched', async () => {
			expect(await texts()).not.toContain(OLDER_TEXT);
			expect((await shop.workflow()).nodes).toEqual(nodes);
		});

		test('an order charged before is not charged again', async () => {
			const again = await shop.order('A');
			expect(again.complaint).toContain('may already have been charged for order "A"');
			expect(charges()).toBe(1);
		});

		test('an execution that waited goes on when its payment comes', async () => {
			expect(await shop.pay(hashOf(parked))).toMatchObject({
				paid: true,
				hash: hashOf(parked),
				timedOut: false,
			});
		});

		test('the trigger keeps its URL, and starts the workflow', async () => {
			expect(await shop.address()).toBe(url);
			const { hash, answer } = await shop.sell(url);
			expect(answer.status).toBe(200);
			expect(await shop.sale(hash)).toMatchObject({ payment_status: 'paid' });
		});

		test('the saved parameters ask the service for the same as before', async () => {
			parked = await shop.order('B');
			const [first, second, ...more] = bodies();
			expect(second).toEqual(first);
			expect(second).toMatchObject({ amount: 1990, payment_method: 'pix' });
			expect(more).toEqual([]);
		});
	});

	describe('installed again after n8n has run without it', () => {
		beforeAll(async () => {
			await empty.packages.uninstall();
			await empty.n8n.restart();
			expect(await empty.nodeTypes()).toEqual([]);
			expect((await empty.packages.install(latest)).installedVersion).toBe(latest);
		});

		test('the execution that waited all the time goes on', async () => {
			expect(await shop.pay(hashOf(parked))).toMatchObject({ paid: true, timedOut: false });
		});

		test('the trigger has the same URL, and starts the workflow', async () => {
			expect(await shop.address()).toBe(url);
			const { hash, answer } = await shop.sell(url);
			expect(answer.status).toBe(200);
			expect(await shop.sale(hash)).toMatchObject({ hash });
		});
	});
});
