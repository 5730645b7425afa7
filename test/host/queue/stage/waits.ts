import { setTimeout as pause } from 'node:timers/promises';
import {
	cartOf,
	chainOf,
	createPix,
	type Downstream,
	waitForPayment,
	webStart,
} from '../../e2e/stage/workflows';
import { sendRequest } from '../../../support/http';
import type { StoredTransaction } from '../../../sandbox/types';
import { cpf } from '../../../support/charge';
import type { Cluster } from './cluster';

const POLL_MS = 20;
const WITHIN_MS = 30_000;
const FIRST_CUSTOMER = 200_300_400;

/** How a workflow waits: whom its charge tells, and the parameters of its Wait for Payment. */
export interface Way {
	notify: 'none' | 'automatic';
	wait: Record<string, unknown>;
}

/** An execution that is parked, and the charge that it waits for. */
export interface Parked {
	charge: StoredTransaction;
	executionId: string;
}

/** Published workflows that charge, wait and report, by the name of their way of waiting. */
export class Waits {
	private customers = 0;

	private constructor(
		private readonly cluster: Cluster,
		private readonly workflowIds: Map<string, string>,
	) {}

	static async publish(
		cluster: Cluster,
		downstream: Downstream,
		ways: Record<string, Way>,
	): Promise<Waits> {
		const ids = new Map<string, string>();
		for (const [name, { notify, wait }] of Object.entries(ways)) {
			const charge = createPix({
				notify,
				customerName: '={{ $json.body.customer }}',
				// A customer who is charged the same by two workers at once is refused.
				customerDocument: '={{ $json.body.document }}',
				cart: cartOf(cluster.sandbox),
			});
			const workflow = chainOf(name, cluster.credential, [
				webStart(name),
				charge,
				waitForPayment(wait),
				downstream.node,
			]);
			const saved = await cluster.rest.createWorkflow(workflow);
			await cluster.rest.publish(saved);
			ids.set(name, saved.id);
		}
		return new Waits(cluster, ids);
	}

	/** Starts an execution, and returns its charge as soon as the execution reads it. */
	async begin(way: string): Promise<StoredTransaction> {
		const { sandbox, url } = this.cluster;
		this.customers += 1;
		const customer = `Customer ${this.customers}`;
		const document = cpf(FIRST_CUSTOMER + this.customers);
		await sendRequest(`${url}/webhook/${way}`, {
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ customer, document }),
		});
		return await until(() => {
			const made = sandbox.transactions.find((one) => one.customer.name === customer);
			return made && this.readsOf(made.hash) > 0 ? made : undefined;
		});
	}

	/** Starts an execution, and gives its charge and its id when it is parked. */
	async park(way: string): Promise<Parked> {
		const charge = await this.begin(way);
		const { rest } = this.cluster;
		return await until(async () => {
			const executions = await rest.executions(this.workflowIds.get(way) ?? '');
			for (const { id } of executions.filter(({ status }) => status === 'waiting')) {
				const [item] = (await rest.execution(id)).items('Charge');
				if (item?.json.hash === charge.hash) return { charge, executionId: id };
			}
			return undefined;
		});
	}

	/** How often a transaction has been read. */
	readsOf(hash: string): number {
		return this.cluster.sandbox.requests.filter(
			({ method, path }) => method === 'GET' && path.endsWith(`/${hash}`),
		).length;
	}
}

/** Looks again and again until there is something. */
export async function until<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
	const deadline = Date.now() + WITHIN_MS;
	for (;;) {
		const found = await look();
		if (found !== undefined) return found;
		if (Date.now() > deadline) throw new Error('It did not happen in time.');
		await pause(POLL_MS);
	}
}
