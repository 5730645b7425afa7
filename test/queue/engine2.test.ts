import { z } from 'zod';
import { chargeAt } from '../helpers/charge';
import {
	addressOf,
	BY_HAND,
	cartOf,
	chainOf,
	createPix,
	END,
	LIST,
	type NodeSketch,
	trigger,
} from '../helpers/e2e/workflows';
import { startN8n, type N8n } from '../helpers/n8n/n8n';
import { postJson } from '../helpers/http';
import { CleanUp, freePort, LOOPBACK } from '../helpers/n8n/processes';
import type { Execution } from '../helpers/n8n/execution';
import type { SavedWorkflow } from '../helpers/n8n/rest';
import { DATABASE, DATABASE_USER, startPostgres } from '../helpers/queue/cluster';

const START_MS = 15 * 60_000;
const REFUSED = /does not work in n8n's experimental Engine 2.0/;

describe("n8n's experimental Engine 2.0", () => {
	const cleanUp = new CleanUp();
	let n8n: N8n;

	beforeAll(async () => {
		const postgres = await startPostgres(await cleanUp.folder('engine-v2'));
		cleanUp.add(postgres.stop);
		n8n = await startN8n('engine-v2', {
			env: {
				N8N_ENABLED_MODULES: 'engine-v2',
				N8N_ENGINE_DATABASE_URL: `postgres://${DATABASE_USER}@${LOOPBACK}:${postgres.port}/${DATABASE}`,
				N8N_ENGINE_HOST: LOOPBACK,
				N8N_ENGINE_PORT: String(await freePort()),
				N8N_ENGINE_CONTROL_PLANE_PORT: String(await freePort()),
			},
		});
		cleanUp.add(async () => await n8n.close());
	}, START_MS);
	afterAll(async () => await cleanUp.run());

	const save = async (nodes: NodeSketch[], engineType = 'v2'): Promise<SavedWorkflow> =>
		await n8n.rest.createWorkflow({
			...chainOf('engine', n8n.credential, nodes),
			settings: { executionOrder: 'v1', engineType },
		});
	const run = async (node: NodeSketch): Promise<Execution> => {
		const { id } = await save([BY_HAND, node]);
		return await n8n.rest.run(id, BY_HAND.name);
	};
	const sale = [trigger('engine-v2-sale'), END];

	test('Product > Get Many lists products', async () => {
		const execution = await run(LIST);

		expect(execution.items('List')).toHaveLength(n8n.sandbox.products.length);
	});

	test('a charge is refused, and under On Error: Continue its item is the refusal, not the input', async () => {
		const charge = createPix({ webhooksGoTo: 'none', cart: cartOf(n8n.sandbox) });
		const execution = await run({ ...charge, onError: 'continueRegularOutput' });

		const [item] = execution.items('Charge');
		expect(JSON.stringify(item?.json)).toMatch(REFUSED);
		expect(n8n.sandbox.charges()).toBe(0);
	});

	test('a workflow with a trigger cannot be published', async () => {
		await expect(n8n.rest.publish(await save(sale))).rejects.toThrow(REFUSED);
	});

	test('a trigger that was published before its workflow changed to this engine answers webhooks 503', async () => {
		const saved = await save(sale, 'v1');
		await n8n.rest.publish(saved);
		const settings = { executionOrder: 'v1', engineType: 'v2' };
		await n8n.rest.call(z.unknown(), 'PATCH', `/workflows/${saved.id}`, {
			settings,
			versionId: saved.versionId,
		});
		const hash = await chargeAt(n8n.sandbox);
		await n8n.sandbox.setStatus(hash, 'paid');

		const url = addressOf(n8n, 'engine-v2-sale');
		const { status } = await postJson(url, { hash, payment_status: 'paid' });

		expect(status).toBe(503);
	});
});
