import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Execution } from '../helpers/n8n/execution';
import { startN8n, type N8n, WITHOUT_EDITOR } from '../helpers/n8n/n8n';
import { cpf } from '../helpers/charge';
import { postJson } from '../helpers/http';
import { until } from '../helpers/until';
import { cartOf, createPix, publish, split, webStart } from '../helpers/e2e/workflows';

const START_MS = 15 * 60_000;

/** Follows the errors as a person reads them. */
describe('The advice of an error, followed in a real n8n', () => {
	let n8n: N8n;
	const ids = new Map<string, string>();

	beforeAll(async () => {
		n8n = await startN8n('e2e-advice', { env: WITHOUT_EDITOR });
		const charge = {
			...createPix({
				...{ cart: cartOf(n8n.sandbox), webhooksGoTo: 'none', qrCodeImage: false },
				customerDocument: '={{ $json.document }}',
			}),
		};
		const sub = await publish(n8n, 'sub', [
			{
				name: 'Called',
				type: 'n8n-nodes-base.executeWorkflowTrigger',
				typeVersion: 1.1,
				parameters: { inputSource: 'passthrough' },
			},
			charge,
		]);
		const call = (mode: string) => ({
			name: 'Call',
			type: 'n8n-nodes-base.executeWorkflow',
			typeVersion: 1.2,
			parameters: { workflowId: { __rl: true, mode: 'id', value: sub.id }, mode, options: {} },
		});
		const items = split('Split', 'items');
		const workflows = {
			once: [items, call('once')],
			each: [items, call('each')],
			list: [items, charge],
			continued: [items, { ...charge, onError: 'continueRegularOutput' as const }],
		};
		for (const [name, nodes] of Object.entries(workflows)) {
			ids.set(name, (await publish(n8n, name, [webStart(name), ...nodes])).id);
		}
		ids.set('sub', sub.id);
	}, START_MS);
	beforeEach(() => n8n.sandbox.reset());
	afterAll(async () => await n8n?.close());

	const begin = async (name: string, items: object[]): Promise<string> =>
		await n8n.rest.startedBy(
			ids.get(name) ?? '',
			async () => void (await postJson(`${n8n.url}/webhook/${name}`, { items })),
		);
	const ask = async (name: string, items: object[]): Promise<Execution> =>
		await n8n.rest.ended(await begin(name, items));
	const customers = (count: number, first: number): Array<{ document: string }> =>
		Array.from({ length: count }, (_, nth) => ({ document: cpf(first + nth) }));
	const charged = (): string[] =>
		n8n.sandbox.transactions.map(({ customer }) => String(customer?.document)).sort();
	const documents = (items: Array<{ document: string }>): string[] =>
		items.map(({ document }) => document.replace(/\D/g, '')).sort();
	const refuse = (after: number): void =>
		n8n.sandbox.addFault({ endpoint: 'POST /transactions', kind: 'status', status: 422, after });

	test.each([
		['once', 3],
		['each', 6],
	])('a sub-workflow (%s), called again with the rest, charges each once', async (mode, count) => {
		const items = customers(count, 600_000_000 + count * 100);
		refuse(count - 1);

		const failed = await ask(mode, items);

		expect(failed.complaint).toContain(
			'creates again everything that had no Order Reference when it was created',
		);
		expect(failed.complaint).toContain(
			'First remove from its input the items that this and other calls created',
		);
		expect(failed.complaint).not.toContain('use Retry');
		await ask(mode, items.slice(count - 1));
		expect(charged()).toEqual(documents(items));
	});

	test('a Retry of the calling workflow charges the created items again, as the warning says', async () => {
		const items = customers(3, 610_000_000);
		refuse(2);
		const failed = await ask('once', items);

		await n8n.rest.ended(await n8n.rest.retry(failed.summary.id, true));

		expect(n8n.sandbox.charges()).toBe(5);
	});

	test('the Retry of a failed list with the saved workflow charges each item once', async () => {
		const items = customers(3, 620_000_000);
		refuse(2);
		const failed = await ask('list', items);
		expect(failed.complaint).toContain('use Retry with currently saved workflow under Executions');

		await n8n.rest.ended(await n8n.rest.retry(failed.summary.id, true));

		expect(charged()).toEqual(documents(items));
	});

	test('running only the failed item again charges each item once', async () => {
		const items = customers(3, 630_000_000);
		refuse(1);
		const { summary, ...run } = await ask('continued', items);
		const failed = (await n8n.rest.execution(summary.id)).items('Charge');
		const wrong = failed.findIndex(({ json }) => 'error' in json);
		expect(JSON.stringify(run)).toContain('run this item again, without the others');

		await ask('continued', items.slice(wrong, wrong + 1));

		expect(charged()).toEqual(documents(items));
	});

	test.each(['Stop', 'the time-out of the workflow'])(
		'the charges made before %s are in the log of n8n',
		async (how) => {
			const items = customers(20, 640_000_000 + how.length * 100);
			if (how !== 'Stop') {
				const { id, versionId: _old, ...workflow } = await n8n.rest.workflow(ids.get('list') ?? '');
				const settings = { executionOrder: 'v1', executionTimeout: 8 };
				const saved = await n8n.rest.createWorkflow({
					...workflow,
					name: 'short',
					settings,
					connections: z
						.object({ connections: z.record(z.unknown()) })
						.parse(await n8n.rest.call(z.unknown(), 'GET', `/workflows/${id}`)).connections,
					nodes: workflow.nodes.map((node) =>
						node.name === 'Start' ? { ...node, ...webStart('short') } : node,
					),
				});
				await n8n.rest.publish(saved);
				ids.set('short', saved.id);
			}
			const slow = { endpoint: 'POST /transactions', kind: 'delay', ms: 60_000 } as const;
			n8n.sandbox.addFault({ ...slow, after: 8, times: 'always' });
			const id = await begin(how === 'Stop' ? 'list' : 'short', items);
			const posts = (): number =>
				n8n.sandbox.requests.filter(({ method }) => method === 'POST').length;
			await until('eight charges, and four in flight', () => posts() === 12);
			expect(n8n.sandbox.charges()).toBe(8);
			if (how === 'Stop') await n8n.rest.call(z.unknown(), 'POST', `/executions/${id}/stop`);
			const line = await until('the log', async () => {
				const log = await readFile(n8n.main.log, 'utf8');
				return log.split('\n').find((one) => one.includes(`Execution ${id} was canceled`));
			});

			const made = n8n.sandbox.transactions.slice(0, 8).map(({ hash }) => hash);
			expect(made.filter((hash) => !line.includes(hash))).toEqual([]);
			expect(line).toContain('so they may exist: item 8; item 9; item 10; item 11.');
			const { summary } = await n8n.rest.ended(id);
			expect(summary.status).toBe('canceled');
		},
	);
});
