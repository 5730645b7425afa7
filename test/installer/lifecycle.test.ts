import { chargeAt } from '../helpers/charge';
import { postJson } from '../helpers/http';
import { until } from '../helpers/until';
import {
	ACTION,
	addressOf,
	cartOf,
	createPix,
	Downstream,
	publish,
	TRIGGER,
	trigger,
	waitForPayment,
	webStart,
} from '../helpers/e2e/workflows';
import type { Execution } from '../helpers/n8n/execution';
import type { SavedWorkflow } from '../helpers/n8n/rest';
import { type EmptyN8n, startEmptyN8n } from '../helpers/n8n/n8n';

const INSTALL_AND_START_MS = 15 * 60_000;
const [OLDER, NEWER] = ['0.0.8', '0.0.9'] as const;

/** Each step needs the earlier steps. */
describe("installed by n8n's own installer", () => {
	let empty: EmptyN8n;
	let downstream: Downstream;
	/** What a change of the package must not end. */
	let shop: SavedWorkflow;

	beforeAll(async () => {
		empty = await startEmptyN8n('install');
		await empty.registry.publish(OLDER, NEWER);
		downstream = await Downstream.open();
	}, INSTALL_AND_START_MS);
	afterAll(async () => {
		await downstream?.close();
		await empty?.close();
	});

	const texts = async (): Promise<string[]> =>
		(await empty.nodes.nodeTypes()).map(({ description }) => description);
	/** Sends an order, and returns its execution when that has failed or waits for the payment. */
	const order = async (name: string): Promise<Execution> => {
		const { rest, url: host } = empty.n8n;
		const send = async () => await postJson(`${host}/webhook/order`, { order: name });
		const id = await rest.startedBy(shop.id, send);
		return await until(`order ${name} waits or has failed`, async () => {
			const all = await rest.executions(shop.id);
			const status = all.find((one) => one.id === id)?.status ?? '';
			return ['waiting', 'error'].includes(status) && (await rest.execution(id));
		});
	};

	test('the requested version works without a restart', async () => {
		await empty.nodes.install(OLDER);
		const names = (await empty.nodes.nodeTypes()).map(({ name }) => name);
		expect(names).toEqual(expect.arrayContaining([ACTION, TRIGGER, `${ACTION}Tool`]));
		expect(await texts()).toContain(`Of ${OLDER}`);

		await empty.n8n.createCredential();
		const cart = cartOf(empty.n8n.sandbox);
		shop = await publish(
			empty.n8n,
			'Shop',
			[
				webStart('order'),
				createPix({ cart, orderReference: '={{ $json.body.order }}' }),
				waitForPayment(),
				downstream.node,
			],
			[trigger('sales'), { ...downstream.node, name: 'Report the sale' }],
		);
	});

	describe.each([
		[
			'updated under a published workflow',
			async () => {
				const { nodes } = await empty.n8n.rest.workflow(shop.id);
				await empty.nodes.update();
				// Without a restart.
				expect(await texts()).toContain(`Of ${NEWER}`);
				expect(await texts()).not.toContain(`Of ${OLDER}`);
				expect((await empty.n8n.rest.workflow(shop.id)).nodes).toEqual(nodes);
			},
		],
		[
			'installed again after n8n has run without it',
			async () => {
				await empty.nodes.uninstall();
				await empty.n8n.restart();
				expect(await empty.nodes.nodeTypes()).toEqual([]);
				await empty.nodes.install(NEWER);
			},
		],
	])('%s', (name, change) => {
		let parked: Execution;

		beforeAll(async () => {
			parked = await order(name);
			expect(parked.summary.status).toBe('waiting');
			await change();
		});

		test('an order charged before is not charged again', async () => {
			const before = empty.n8n.sandbox.charges();
			const again = await order(name);
			expect(again.items('Charge')[0]?.json).toMatchObject({
				hash: parked.items('Charge')[0]?.json.hash,
				already_charged: true,
			});
			expect(empty.n8n.sandbox.charges()).toBe(before);
		});

		test('an execution that was waiting before continues when its payment comes', async () => {
			const hash = String(parked.items('Charge')[0]?.json.hash);
			await empty.n8n.sandbox.pay(hash);
			const { json } = await downstream.reportOn(hash);
			expect(json).toMatchObject({ paid: true, hash });
		});

		test('a sale reaches the trigger at the same URL', async () => {
			const url = addressOf(empty.n8n, 'sales');
			const hash = await chargeAt(empty.n8n.sandbox);
			await empty.n8n.sandbox.setStatus(hash, 'paid');
			expect((await postJson(url, { hash })).status).toBe(200);
			const { json } = await downstream.reportOn(hash);
			expect(json).toMatchObject({ hash, payment_status: 'paid' });
		});
	});
});
