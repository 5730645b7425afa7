import { setTimeout as pause } from 'node:timers/promises';
import { chargeAt } from '../helpers/charge';
import { postJson } from '../helpers/http';
import { until } from '../helpers/until';
import { type N8n, startN8n, WITHOUT_EDITOR } from '../helpers/n8n/n8n';
import type { SavedWorkflow } from '../helpers/n8n/rest';
import { addressOf, chainOf, Downstream, trigger } from '../helpers/e2e/workflows';

const START_MS = 15 * 60_000;
const ON_PAID = { triggerOn: ['paid'] };
const ERRORS = { name: 'On error', type: 'n8n-nodes-base.errorTrigger' };
/** n8n looks for due executions once a minute, and its timer is a little early. */
const BY_TIMER_MS = 150_000;

/** The webhook says that a sale is paid, and reads show it later. The executions of all tests wait side by side. */
describe('Digital Sales Trigger waits in n8n until reads show what a webhook says', () => {
	let n8n: N8n;
	let downstream: Downstream;
	const workflows = new Map<string, SavedWorkflow>();

	/** Publishes a workflow with these settings. */
	const publish = async (name: string, settings: Record<string, unknown> = {}): Promise<void> => {
		const chain = chainOf(name, n8n.credential, [trigger(name, ON_PAID), downstream.node]);
		Object.assign(chain.settings ?? {}, settings);
		const saved = await n8n.rest.createWorkflow(chain);
		await n8n.rest.publish(saved);
		workflows.set(name, saved);
	};
	const send = async (name: string, hash: string): Promise<number> =>
		(await postJson(addressOf(n8n, name), { hash, status: 'paid' })).status;
	const statuses = async (name: string): Promise<string[]> =>
		(await n8n.rest.executions(workflows.get(name)?.id ?? '')).map(({ status }) => status);
	/** Returns a charge whose execution waits. */
	const park = async (name: string): Promise<string> => {
		const hash = await chargeAt(n8n.sandbox);
		expect(await send(name, hash)).toBe(200);
		await until(`${name} waits`, async () => (await statuses(name)).includes('waiting'));
		return hash;
	};

	beforeAll(async () => {
		n8n = await startN8n('e2e-claims', { env: WITHOUT_EDITOR });
		downstream = await Downstream.open();
		await publish('timer');
		await publish('unpublished');
		await publish('unsaved', { saveDataSuccessExecution: 'none' });
		const errors = chainOf('errors', n8n.credential, [ERRORS, downstream.node]);
		const onError = await n8n.rest.createWorkflow(errors);
		await n8n.rest.publish(onError);
		await publish('refused', { errorWorkflow: onError.id });
	}, START_MS);
	afterAll(async () => {
		await n8n?.close();
		await downstream?.close();
	});

	test(
		'after n8n’s timer, also if the workflow was unpublished, or keeps no successes',
		async () => {
			const hashes = new Map<string, string>();
			for (const name of ['timer', 'unpublished', 'unsaved']) hashes.set(name, await park(name));
			const unpublished = workflows.get('unpublished');
			if (unpublished) await n8n.rest.unpublish(unpublished);
			for (const hash of hashes.values()) await n8n.sandbox.setStatus(hash, 'paid');

			for (const hash of hashes.values()) {
				const { json } = await downstream.reportOn(hash, BY_TIMER_MS);
				expect(json).toMatchObject({ payment_status: 'paid' });
			}
			expect(downstream.reports).toHaveLength(3);
			await until('it ends', async () => (await statuses('timer')).includes('success'));
			expect(await statuses('timer')).toEqual(['success']);
			expect(await statuses('unsaved')).toEqual([]);
			expect(await send('timer', hashes.get('timer') ?? '')).toBe(200);
			expect(await statuses('timer')).toEqual(['success']);
		},
		BY_TIMER_MS + 60_000,
	);

	test('a token that the platform refuses starts one execution that fails, and n8n’s Error Workflow', async () => {
		downstream.clear();
		const hash = await chargeAt(n8n.sandbox);
		const endpoint = 'GET /transactions/{hash}';
		n8n.sandbox.addFault({ kind: 'status', status: 401, endpoint, times: 'always' });

		expect([await send('refused', hash), await send('refused', hash)]).toEqual([503, 503]);
		expect(await downstream.reaches(1)).toBe(1);
		const [report] = downstream.reports;
		expect(JSON.stringify(report)).toContain('The platform does not accept the API token');
		expect(await statuses('refused')).toEqual(['error']);
		n8n.sandbox.clearFaults();
		await n8n.sandbox.setStatus(hash, 'paid');
		const [failed] = await n8n.rest.executions(workflows.get('refused')?.id ?? '');
		await n8n.rest.retry(failed?.id ?? '', true);
		await downstream.reportOn(hash);
	});

	// Last, because it takes n8n down.
	test(
		'also if n8n is killed, and starts again after the look was due',
		async () => {
			const hashes = [await park('timer'), await park('timer')];
			const [first = '', second = ''] = hashes;
			await n8n.main.kill();
			await n8n.sandbox.setStatus(first, 'paid');
			await pause(20_000);
			await n8n.startAgain();
			await downstream.reportOn(first, BY_TIMER_MS);
			await n8n.sandbox.setStatus(second, 'paid');
			await downstream.reportOn(second, BY_TIMER_MS + 60_000);
			expect(
				downstream.reports.filter((one) =>
					hashes.some((hash) => JSON.stringify(one).includes(hash)),
				),
			).toHaveLength(2);
		},
		2 * BY_TIMER_MS + 120_000,
	);
});
