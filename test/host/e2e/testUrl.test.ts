import { setTimeout as pause } from 'node:timers/promises';
import { chargeAt } from '../../support/charge';
import { Guest } from './stage/sharedN8n';
import { chainOf, TRIGGER } from './stage/workflows';

const HEARD_WITHIN_MS = 60_000;

describe('The test URL of the trigger', () => {
	let stage: Guest;

	beforeAll(async () => {
		stage = await Guest.enter({ resendAfterSeconds: [] });
	});
	afterAll(async () => await stage?.close());

	const until = async (happened: () => Promise<boolean>): Promise<void> => {
		const deadline = Date.now() + HEARD_WITHIN_MS;
		while (!(await happened())) {
			if (Date.now() > deadline) throw new Error('It did not happen in time');
			await pause(200);
		}
	};

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
			{ hash, payment_status: 'paid' },
		]);
	});
});
