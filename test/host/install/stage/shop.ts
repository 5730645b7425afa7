import { setTimeout as pause } from 'node:timers/promises';
import { sendRequest } from '../../../support/http';
import { chargeAt } from '../../../support/charge';
import {
	ACTION,
	cartOf,
	chainOf,
	createPix,
	Downstream,
	type Report,
	TRIGGER,
	waitForPayment,
	webStart,
} from '../../e2e/stage/workflows';
import type { Execution } from '../../n8n/execution';
import type { SavedWorkflow } from '../../n8n/rest';
import type { N8n } from '../../n8n/n8n';

const POLL_MS = 100;
const WITHIN_MS = 30_000;
const BY_HAND = 'By hand';

/** What came back from a POST. */
type Answer = Awaited<ReturnType<typeof sendRequest>>;

/**
 * A published workflow with all that has to outlive a change of the package: it charges orders by
 * their reference and waits for the payment, and a trigger hears of sales.
 */
export class Shop {
	private constructor(
		private readonly n8n: N8n,
		private readonly downstream: Downstream,
		private readonly workflowId: string,
	) {}

	static async open(n8n: N8n): Promise<Shop> {
		const credential = await n8n.createCredential();
		const downstream = await Downstream.open();
		const orders = chainOf('orders', credential, [
			webStart('order'),
			createPix({ cart: cartOf(n8n.sandbox), orderReference: '={{ $json.body.order }}' }),
			waitForPayment(),
			downstream.node,
		]);
		const sales = chainOf('sales', credential, [
			{
				name: 'Trigger',
				type: TRIGGER,
				webhookId: 'sales',
			},
			{ ...downstream.node, name: 'Report the sale' },
		]);
		const address = chainOf('address', credential, [
			{ name: BY_HAND, type: 'n8n-nodes-base.manualTrigger' },
			{
				name: 'Address',
				type: ACTION,
				parameters: { resource: 'notification', operation: 'getAddress' },
			},
		]);
		const parts = [orders, sales, address];
		const saved = await n8n.rest.createWorkflow({
			name: 'Shop',
			nodes: parts.flatMap(({ nodes }) => nodes),
			connections: Object.assign({}, ...parts.map(({ connections }) => connections)),
		});
		await n8n.rest.publish(saved);
		return new Shop(n8n, downstream, saved.id);
	}

	/** The workflow as it is saved at this moment. */
	async workflow(): Promise<SavedWorkflow> {
		return await this.n8n.rest.workflow(this.workflowId);
	}

	/** The URL of the trigger, as Notification > Get Address shows it. */
	async address(): Promise<string> {
		const execution = await this.n8n.rest.run(this.workflowId, BY_HAND);
		return String(execution.items('Address')[0]?.json.url);
	}

	/** Sends an order, and returns n8n's answer. */
	async send(order: string): Promise<Answer> {
		return await this.post(`${this.n8n.url}/webhook/order`, { order });
	}

	/** Sends an order, and returns its execution when that has ended or waits for the payment. */
	async order(order: string): Promise<Execution> {
		const { rest } = this.n8n;
		const known = new Set((await rest.executions(this.workflowId)).map(({ id }) => id));
		await this.send(order);
		const deadline = Date.now() + WITHIN_MS;
		for (;;) {
			const [newest] = await rest.executions(this.workflowId);
			if (newest !== undefined && !known.has(newest.id)) {
				if (newest.status === 'waiting') return await rest.execution(newest.id);
				if (newest.status === 'error') return await rest.ended(newest.id);
			}
			if (Date.now() > deadline) throw new Error(`Order ${order} neither waits nor has failed.`);
			await pause(POLL_MS);
		}
	}

	/** Pays a transaction at the service, and returns what its execution reports then. */
	async pay(hash: string): Promise<Report> {
		await this.n8n.sandbox.pay(hash);
		return (await this.downstream.reportOn(hash, WITHIN_MS)).json;
	}

	/** Sells something elsewhere, and tells `url` about it; gives the hash and n8n's answer. */
	async sell(url: string): Promise<{ hash: string; answer: Answer }> {
		const hash = await chargeAt(this.n8n.sandbox);
		await this.n8n.sandbox.setStatus(hash, 'paid');
		return { hash, answer: await this.post(url, { hash }) };
	}

	/** Waits for the sale that the trigger reports. */
	async sale(hash: string): Promise<Report> {
		return (await this.downstream.reportOn(hash, WITHIN_MS)).json;
	}

	async close(): Promise<void> {
		await this.downstream.close();
	}

	private async post(url: string, body: object): Promise<Answer> {
		const headers = { 'content-type': 'application/json' };
		return await sendRequest(url, { headers, body: JSON.stringify(body) });
	}
}

/** The hash of the charge of an execution. */
export function hashOf(execution: Execution): string {
	return String(execution.items('Charge')[0]?.json.hash);
}
