import { chargeAt } from '../../../support/charge';
import { type HttpAnswer, postJson } from '../../../support/http';
import { until } from '../../../support/until';
import {
	ADDRESS,
	BY_HAND,
	cartOf,
	createPix,
	Downstream,
	publish,
	type Report,
	trigger,
	waitForPayment,
	webStart,
} from '../../e2e/stage/workflows';
import type { Execution } from '../../n8n/execution';
import type { SavedWorkflow } from '../../n8n/rest';
import type { N8n } from '../../n8n/n8n';

const WITHIN_MS = 30_000;

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
		await n8n.createCredential();
		const downstream = await Downstream.open();
		const saved = await publish(
			n8n,
			'Shop',
			[
				webStart('order'),
				createPix({ cart: cartOf(n8n.sandbox), orderReference: '={{ $json.body.order }}' }),
				waitForPayment(),
				downstream.node,
			],
			[trigger('sales'), { ...downstream.node, name: 'Report the sale' }],
			[BY_HAND, ADDRESS],
		);
		return new Shop(n8n, downstream, saved.id);
	}

	/** The workflow as it is saved at this moment. */
	async workflow(): Promise<SavedWorkflow> {
		return await this.n8n.rest.workflow(this.workflowId);
	}

	/** The URL of the trigger, as Notification > Get Address shows it. */
	async address(): Promise<string> {
		const execution = await this.n8n.rest.run(this.workflowId, BY_HAND.name);
		return String(execution.items('Address')[0]?.json.url);
	}

	/** Sends an order, and returns its execution when that has ended or waits for the payment. */
	async order(order: string): Promise<Execution> {
		const { rest } = this.n8n;
		const known = new Set((await rest.executions(this.workflowId)).map(({ id }) => id));
		await postJson(`${this.n8n.url}/webhook/order`, { order });
		return await until(`order ${order} waits or has failed`, async () => {
			const [newest] = await rest.executions(this.workflowId);
			if (newest === undefined || known.has(newest.id)) return undefined;
			if (newest.status === 'error') return await rest.ended(newest.id);
			return newest.status === 'waiting' && (await rest.execution(newest.id));
		});
	}

	/** Pays a transaction at the service, and returns what its execution reports then. */
	async pay(hash: string): Promise<Report> {
		await this.n8n.sandbox.pay(hash);
		return await this.sale(hash);
	}

	/** Sells something elsewhere, and tells `url` about it; gives the hash and n8n's answer. */
	async sell(url: string): Promise<{ hash: string; answer: HttpAnswer }> {
		const hash = await chargeAt(this.n8n.sandbox);
		await this.n8n.sandbox.setStatus(hash, 'paid');
		return { hash, answer: await postJson(url, { hash }) };
	}

	/** Waits for what is reported of a sale. */
	async sale(hash: string): Promise<Report> {
		return (await this.downstream.reportOn(hash, WITHIN_MS)).json;
	}

	async close(): Promise<void> {
		await this.downstream.close();
	}
}

/** The hash of the charge of an execution. */
export function hashOf(execution: Execution): string {
	return String(execution.items('Charge')[0]?.json.hash);
}
