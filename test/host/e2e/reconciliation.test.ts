import { setTimeout as pause } from 'node:timers/promises';
import { Example } from '../n8n/examples';
import type { SavedWorkflow } from '../n8n/rest';
import { chargeAt } from '../../support/charge';
import { Stage } from './stage/stage';
import { chainOf, TRIGGER } from './stage/workflows';

const START_MS = 15 * 60_000;
const HEARD_WITHIN_MS = 60_000;
const NEVER_IN_A_TEST = '0 0 1 1 *';

describe('Examples that leave no sale behind', () => {
	let stage: Stage;

	beforeAll(async () => {
		stage = await Stage.open('e2e-reconciliation', { resendAfterSeconds: [] });
	}, START_MS);
	beforeEach(() => stage.sandbox.clearFaults());
	afterAll(async () => await stage?.close());

	/** Imports an example as a person does, with the given parameters changed, and publishes it. */
	const publish = async (
		file: string,
		changes: Record<string, Record<string, unknown>>,
	): Promise<SavedWorkflow> => {
		const example = (await Example.all()).find((one) => one.file === file);
		if (!example) throw new Error(`examples/${file} is missing.`);
		const file_ = example.withCredential(stage.credential);
		const nodes = file_.nodes.map((node) => ({
			...node,
			parameters: { ...(node.parameters as object), ...changes[node.name] },
		}));
		const workflow = await stage.rest.createWorkflow({ ...file_, nodes });
		await stage.rest.publish(workflow);
		return workflow;
	};

	/** What the executions of a workflow that a trigger started put out at a node. */
	const reported = async (workflow: SavedWorkflow, node: string): Promise<unknown[]> => {
		const executions = await stage.rest.executions(workflow.id);
		const started = executions.filter(({ mode }) => mode === 'webhook').reverse();
		const items: unknown[] = [];
		for (const { id } of started) {
			const execution = await stage.rest.ended(id);
			expect(execution.error).toBeUndefined();
			items.push(...execution.items(node).map(({ json }) => json));
		}
		return items;
	};

	const until = async (happened: () => Promise<boolean>): Promise<void> => {
		const deadline = Date.now() + HEARD_WITHIN_MS;
		while (!(await happened())) {
			if (Date.now() > deadline) throw new Error('It did not happen in time');
			await pause(200);
		}
	};

	test('a lost notice is found by the schedule, and every change is reported once', async () => {
		const offer = stage.sandbox.products[0]?.offers[0]?.hash;
		const workflow = await publish('reconcile-lost-notices.json', {
			// Only this test runs it: the schedule itself would report a change first, if its minute came.
			'Every five minutes': {
				rule: { interval: [{ field: 'cronExpression', expression: NEVER_IN_A_TEST }] },
			},
			'Charge by PIX': {
				cart: {
					items: [
						{
							offerHash: { __rl: true, mode: 'hash', value: offer },
							price: '19,90',
							quantity: 1,
							more: { title: 'Curso' },
						},
					],
				},
			},
		});
		const charge = async (): Promise<string> => {
			const run = await stage.rest.run(workflow.id, 'Charge a customer');
			expect(run.error).toBeUndefined();
			expect(run.items('Remember the charge')).toHaveLength(1);
			return stage.sandbox.transactions.at(-1)?.hash ?? '';
		};
		const reconcile = async (): Promise<unknown[]> => {
			const run = await stage.rest.run(workflow.id, 'Every five minutes');
			expect(run.error).toBeUndefined();
			return run.items('What changed').map(({ json }) => json);
		};
		const [told, lost, open] = [await charge(), await charge(), await charge()];

		expect(await reconcile()).toEqual([]);
		expect((await stage.sandbox.pay(told))[0]?.status).toBe(200);
		stage.sandbox.addFault({ kind: 'lostNotice' });
		expect((await stage.sandbox.pay(lost))[0]?.outcome).toBe('lost');
		await until(async () => (await reported(workflow, 'What changed')).length > 0);

		expect(await reconcile()).toMatchObject([
			{ hash: lost, payment_status: 'paid', amount_reais: 19.9 },
		]);
		expect(await reconcile()).toEqual([]);
		// The notice comes after all: nobody is told twice.
		expect((await stage.sandbox.notify(lost)).status).toBe(200);
		await until(
			async () =>
				(await stage.rest.executions(workflow.id)).filter(({ mode }) => mode === 'webhook')
					.length === 2,
		);
		expect(await reported(workflow, 'What changed')).toMatchObject([
			{ hash: told, payment_status: 'paid' },
		]);
		await stage.sandbox.setStatus(open, 'refused');
		await until(async () => (await reported(workflow, 'What changed')).length === 2);
		expect(await reconcile()).toEqual([]);
	}, 180_000);

	test('a test notice arrives as it would in production', async () => {
		const trigger = { name: 'Trigger', type: TRIGGER, webhookId: 'listening' };
		const after = { name: 'After', type: 'n8n-nodes-base.noOp' };
		const workflow = await stage.rest.createWorkflow(
			chainOf('listening', stage.credential, [trigger, after]),
		);
		const url = `${stage.url}/webhook-test/listening/digital-sales`;
		const hash = await chargeAt(stage.sandbox);
		await stage.sandbox.setStatus(hash, 'paid');

		await stage.rest.listen(workflow.id, 'Trigger');
		const report = await stage.sandbox.notify(hash, { shape: 'summary', url });

		expect(report).toMatchObject({ status: 200, answer: '' });
		await until(async () => (await stage.rest.executions(workflow.id)).length > 0);
		const [summary] = await stage.rest.executions(workflow.id);
		const execution = await stage.rest.ended(summary?.id ?? '');
		expect(execution.summary.mode).toBe('manual');
		expect(execution.items('After').map(({ json }) => json)).toMatchObject([
			{ hash, payment_status: 'paid', verified: true },
		]);
	});
});
