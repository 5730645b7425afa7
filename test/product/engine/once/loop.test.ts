import type { IConnections, INodeType } from 'n8n-workflow';
import { z } from 'zod';
import { jsonObject } from '../../../../nodes/DigitalSales/shared/json';
import { ACTION_TYPE, NodeProcess, runWorkflow, START_TYPE } from '../harness';
import { useShop } from '../support/charging';
import { errorIn } from '../support/account';

/** What n8n stores of the node with the execution. */
const memorySchema = z.object({ digitalSales: z.object({ attempts: jsonObject }) });

describe('What an execution has charged before', () => {
	const shop = useShop();

	test('is not read again by each run of a loop', async () => {
		const RUNS = 5;
		const watched = watcher(RUNS);
		const to = (node: string): IConnections[string] => ({
			main: [[{ node, type: 'main', index: 0 }]],
		});

		const run = await runWorkflow({
			credentials: shop.account.credentials,
			mode: 'trigger',
			nodes: [
				{ name: 'Start', type: START_TYPE },
				{ name: 'PIX', type: ACTION_TYPE, parameters: shop.parameters() },
				{ name: 'Watch', type: 'test.watch' },
			],
			nodeTypes: { 'test.watch': watched.node },
			connections: { Start: to('PIX'), PIX: to('Watch'), Watch: to('PIX') },
		});

		expect([run.status, shop.charges]).toEqual(['success', RUNS]);
		expect(watched.attempts()).toBe(RUNS);
		expect(watched.looks()).toBe(0);
	});

	test('is known in a Retry, except for what is damaged', async () => {
		shop.fault('refuse', 2);
		const first = await shop.run(shop.parameters(), { items: [{}, {}, {}] });
		const contexts = first.run?.data.executionData?.contextData ?? {};
		const { attempts } = memorySchema.parse(contexts['node:Digital Sales']).digitalSales;
		const [ofItem1 = ''] = Object.keys(attempts);
		attempts[ofItem1] = { state: 'made' };

		const { json } = await shop.retry(shop.parameters(), first, {
			process: NodeProcess.fresh(),
			continueOnFail: true,
		});

		expect(errorIn(json[0]).message).toContain('may already have been charged');
		expect(json.slice(1).map(({ hash }) => hash)).toEqual(shop.hashes.slice(1));
		expect(shop.charges).toBe(3);
	});
});

/** A node that ends a loop after some runs, and counts who looks at what PIX had stored before it. */
function watcher(mostRuns: number): {
	node: INodeType;
	attempts: () => number;
	looks: () => number;
} {
	const seen = new Set<string>();
	let looks = 0;
	let runs = 0;
	const node: INodeType = {
		description: {
			displayName: 'Watch',
			name: 'watch',
			group: ['transform'],
			version: 1,
			description: '',
			defaults: { name: 'Watch' },
			inputs: ['main'],
			outputs: ['main'],
			properties: [],
		},
		async execute() {
			const { context } = this.getWorkflowDataProxy(0).$node.PIX;
			const { attempts } = memorySchema.parse({ digitalSales: context.digitalSales }).digitalSales;
			for (const spot of Object.keys(attempts).filter((key) => !seen.has(key))) {
				const attempt = attempts[spot];
				seen.add(spot);
				Object.defineProperty(attempts, spot, {
					enumerable: true,
					configurable: true,
					get: () => {
						looks++;
						return attempt;
					},
				});
			}
			return [++runs < mostRuns ? this.getInputData() : []];
		},
	};
	return { node, attempts: () => seen.size, looks: () => looks };
}
