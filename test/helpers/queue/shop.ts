import { postJson } from '../http';
import { cpf } from '../charge';
import { until } from '../until';
import { cartOf, createPix, type Downstream, publish, split, webStart } from '../e2e/workflows';
import type { ExecutionSummary } from '../n8n/execution';
import type { Cluster } from './cluster';

/** n8n takes up to two minutes to notice that a worker is gone. */
const PATIENTLY = { withinMs: 240_000 };
const EACH_ORDER = split('Each order', 'body.orders');
const FIRST_CUSTOMER = 100_200_300;

/** The result of an execution that charges one or more orders. */
export interface Sale {
	executionId: string;
	/** The execution's status in n8n. */
	status: string;
	worker: string | undefined;
	orders: string[];
	/** The transactions, new and existing, with which the execution continued. */
	hashes: string[];
	error: string | undefined;
}

/** A published workflow that charges the orders it receives, each for a different customer. */
export class Shop {
	private readonly seen = new Set<string>();
	private readonly customers = new Map<string, number>();

	private constructor(
		private readonly cluster: Cluster,
		readonly name: string,
		readonly workflowId: string,
	) {}

	/** Orders have an Order Reference if `referenced`. */
	static async open(
		cluster: Cluster,
		downstream: Downstream,
		name: string,
		{ referenced = true }: { referenced?: boolean } = {},
	): Promise<Shop> {
		const charge = createPix({
			webhooksGoTo: 'none',
			cart: cartOf(cluster.sandbox),
			customerName: '={{ $json.order }}',
			customerDocument: '={{ $json.document }}',
			...(referenced && { orderReference: '={{ $json.order }}' }),
		});
		const chain = [webStart(name), EACH_ORDER, charge, downstream.node];
		const saved = await publish(cluster, name, chain);
		return new Shop(cluster, name, saved.id);
	}

	/** Starts an execution for each list of orders, all at once. */
	async send(...lists: string[][]): Promise<void> {
		await Promise.all(
			lists.map(async (list) => {
				const orders = list.map((order) => ({ order, document: this.documentOf(order) }));
				const { status } = await postJson(`${this.cluster.url}/webhook/${this.name}`, { orders });
				if (status !== 200) throw new Error(`Not started: ${status}`);
			}),
		);
	}

	/** Like `send`, but waits until the executions have ended. */
	async ask(...lists: string[][]): Promise<Sale[]> {
		await this.send(...lists);
		return await this.ended(lists.length);
	}

	/** Executions that are running, or that have ended and were not returned yet. */
	private async unseen(): Promise<ExecutionSummary[]> {
		const executions = await this.cluster.rest.executions(this.workflowId);
		return executions.filter(({ id }) => !this.seen.has(id));
	}

	/** Retries all executions at once, and does not wait for answers, because n8n leaves some out. */
	sendRetries(executionIds: string[]): void {
		const { rest } = this.cluster;
		for (const id of executionIds) void rest.retry(id, false).catch(() => undefined);
	}

	/** How often each of the orders was charged. */
	chargesOf(orders: string[]): number[] {
		const names = this.cluster.sandbox.transactions.map(({ customer }) => customer.name);
		return orders.map((order) => names.filter((name) => name === order).length);
	}

	/** The orders of transactions. */
	ordersOf(hashes: string[]): unknown[] {
		const { transactions } = this.cluster.sandbox;
		return hashes.map((hash) => transactions.find((one) => one.hash === hash)?.customer.name);
	}

	/** The results of this number of executions, once they have ended. */
	async ended(count: number): Promise<Sale[]> {
		const over = await until(
			`${count} executions end`,
			async () => {
				const ended = (await this.unseen()).filter(({ stoppedAt }) => stoppedAt !== null);
				return ended.length >= count && ended.map(({ id }) => id).reverse();
			},
			PATIENTLY,
		);
		for (const id of over) this.seen.add(id);
		return await Promise.all(over.map(async (id) => await this.sale(id)));
	}

	private async sale(executionId: string): Promise<Sale> {
		const execution = await this.cluster.rest.ended(executionId);
		return {
			executionId,
			status: execution.summary.status,
			worker: await this.cluster.workerOf(executionId),
			orders: execution.items(EACH_ORDER.name).map(({ json }) => String(json.order)),
			hashes: execution.items('Charge').map(({ json }) => String(json.hash)),
			error: execution.error,
		};
	}

	private documentOf(order: string): string {
		const nth = this.customers.get(order) ?? this.customers.size;
		this.customers.set(order, nth);
		return cpf(FIRST_CUSTOMER + nth);
	}
}

/** The error of a charge that may have been made before. */
const IN_DOUBT = /may already have been charged/;

function isRefused({ error = '' }: Sale): boolean {
	return IN_DOUBT.test(error);
}

/** Whether an execution ended neither with its transactions nor in doubt. */
export function isOther(sale: Sale): boolean {
	return sale.error !== undefined && !isRefused(sale);
}

/** Whether executions that started together ran on several workers. */
export function isOnSeveral(sales: Sale[]): boolean {
	return new Set(sales.map(({ worker }) => worker)).size > 1;
}

let orders = 0;

/** New orders. */
export function ordersOf(count: number): string[] {
	return Array.from({ length: count }, () => `order-${(orders += 1)}`);
}
