import {
	BY_HAND,
	cartOf,
	chainOf,
	createPix,
	type NodeSketch,
	waitForPayment,
} from '../helpers/e2e/workflows';
import { expectTriggerNotifiedIfPublished } from '../helpers/e2e/notified';
import { until } from '../helpers/until';
import type { Execution } from '../helpers/n8n/execution';
import { type Check, publishJourney, runJourney } from '../helpers/n8n/journey';
import { useCluster } from '../helpers/queue/cluster';

const env = { OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'true' };
const stage = useCluster({ name: 'queue-journey', env });

test('workers run the whole journey from the catalog to the sale, and a webhook process takes its webhook', async () => {
	const { cluster } = stage;
	const { rest } = cluster;
	const journey = await publishJourney(cluster);
	const checks: Check[] = [];
	await runJourney(cluster, journey, (check) => checks.push(check));

	expect(checks.filter(({ passed }) => !passed)).toEqual([]);
	expect(journey.notificationUrl).toContain(cluster.webhooks[0]?.url);
	const executions = await rest.executions(journey.workflow.id);
	const workers = await Promise.all(executions.map(async ({ id }) => await cluster.workerOf(id)));
	expect(workers.slice(0, 2)).toEqual([1, 2].map(() => expect.stringMatching(/^worker-/)));
});

describe('manual runs that n8n gives to the workers', () => {
	beforeEach(() => stage.cluster.sandbox.reset());

	const save = async (name: string, ...nodes: NodeSketch[]): Promise<string> => {
		const { credential, rest } = stage.cluster;
		const workflow = chainOf(name, credential, [BY_HAND, ...nodes]);
		return (await rest.createWorkflow(workflow)).id;
	};
	const run = async (workflowId: string): Promise<Execution> => {
		const { cluster } = stage;
		const execution = await cluster.rest.run(workflowId, BY_HAND.name);
		expect(await cluster.workerOf(execution.summary.id)).toMatch(/^worker-/);
		return execution;
	};

	test('charge a customer once', async () => {
		const { sandbox } = stage.cluster;
		const cart = cartOf(sandbox);
		const charge = createPix({ webhooksGoTo: 'none', cart, orderReference: 'by hand' });
		const workflowId = await save('charge', charge);

		const first = await run(workflowId);
		const repeats = [await run(workflowId), await run(workflowId)];

		const made = first.items('Charge')[0]?.json.hash;
		expect(first.error).toBeUndefined();
		for (const repeat of repeats) {
			expect(repeat.items('Charge')[0]?.json.hash).toBe(made);
		}
		expect(sandbox.charges()).toBe(1);
	});

	test('have the trigger of the workflow notified if it is published', async () => {
		await expectTriggerNotifiedIfPublished(stage.cluster);
	});

	test('wait for a payment, and continue when its webhook comes', async () => {
		const { cluster, downstream } = stage;
		const customerDocument = '111.444.777-35';
		const charge = createPix({ cart: cartOf(cluster.sandbox), customerDocument });
		const workflowId = await save('wait', charge, waitForPayment(), downstream.node);

		const executionId = await cluster.rest.start(workflowId, BY_HAND.name);
		await until('it waits', async () => {
			const [newest] = await cluster.rest.executions(workflowId);
			return newest?.status === 'waiting';
		});
		const hash = cluster.sandbox.transactions[0]?.hash ?? '';
		const [notice] = await cluster.sandbox.pay(hash);
		const { json } = await downstream.reportOn(hash);

		expect(notice?.status).toBe(200);
		expect(json).toMatchObject({ payment_status: 'paid' });
		expect(await cluster.workerOf(executionId)).toMatch(/^worker-/);
	});
});
