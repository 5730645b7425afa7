import {
	cartOf,
	createPix,
	type Downstream,
	type NodeSketch,
	publish,
	type Running,
	trigger,
	waitForPayment,
	webStart,
} from '../e2e/workflows';
import type { ExecutionSummary } from '../n8n/execution';
import type { WaitKind } from './plan';

/** Of the trigger. */
export const SALES = 'drill-sales';
export const FAILED = ['error', 'crashed'];

/** Runs after our node, so that some crashes come when our node has already finished. */
const BUSY: NodeSketch = {
	name: 'Busy',
	type: 'n8n-nodes-base.wait',
	typeVersion: 1.1,
	parameters: { resume: 'timeInterval', amount: 0.3, unit: 'seconds' },
};

/** The time limits are in minutes. */
const WAITS: Record<WaitKind, { webhooksGoTo: 'automatic' | 'none'; limit: number }> = {
	notified: { webhooksGoTo: 'automatic', limit: 24 * 60 },
	unnotified: { webhooksGoTo: 'none', limit: 24 * 60 },
	limited: { webhooksGoTo: 'automatic', limit: 2 },
};

type Name = 'plain' | 'referenced' | 'sales' | WaitKind;

/** The published workflows. */
export class Workflows {
	private constructor(private readonly byName: ReadonlyMap<Name, string>) {}

	static async publish(n8n: Running, downstream: Downstream): Promise<Workflows> {
		const ids = new Map<Name, string>();
		const add = async (name: Name, ...nodes: NodeSketch[]): Promise<void> => {
			const saved = await publish(n8n, name, [...nodes, BUSY, downstream.node]);
			ids.set(name, saved.id);
		};
		const charge = (webhooksGoTo: string, orderReference = ''): NodeSketch =>
			createPix({
				webhooksGoTo,
				orderReference,
				cart: cartOf(n8n.sandbox),
				customerName: '={{ $json.body.name }}',
				customerDocument: '={{ $json.body.customer }}',
			});
		const reference = '={{ $json.body.reference }}';
		await add('plain', webStart('plain'), charge('none'));
		await add('referenced', webStart('referenced'), charge('none', reference));
		for (const name of ['notified', 'unnotified', 'limited'] as const) {
			const { webhooksGoTo, limit } = WAITS[name];
			const wait = waitForPayment({ timeLimit: limit, timeLimitUnit: 'minutes' });
			await add(name, webStart(name), charge(webhooksGoTo, reference), wait);
		}
		await add('sales', trigger(SALES, { triggerOn: ['paid'] }));
		return new Workflows(ids);
	}

	get ids(): string[] {
		return [...this.byName.values()];
	}

	isSale({ workflowId }: ExecutionSummary): boolean {
		return this.byName.get('sales') === workflowId;
	}

	isWait({ workflowId }: ExecutionSummary): boolean {
		return Object.keys(WAITS).some((name) => this.byName.get(name as WaitKind) === workflowId);
	}
}
