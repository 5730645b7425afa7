import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { addressOf } from '../e2e/workflows';
import { postJson } from '../http';
import type { N8n } from '../n8n/n8n';
import { until } from '../until';
import type { Act, Order } from './plan';
import { FAILED, SALES, type Workflows } from './workflows';

const REPEAT_AFTER_MS = 1_000;
const ACCEPTED_WITHIN_MS = 120_000;
const CHARGED_WITHIN_MS = 60_000;

/** What customers, the platform and the owner of n8n do, whether n8n is up or not. */
export class Actors {
	/** Sales whose webhook was answered with 200, by hash. */
	readonly accepted: string[] = [];
	private attempts = 0;

	constructor(
		private readonly n8n: N8n,
		private readonly workflows: Workflows,
		/** The hashes of the sales that webhooks are about. */
		private readonly sales: readonly string[],
	) {}

	async carryOut(act: Act): Promise<unknown> {
		const { sandbox, webhooks } = this.n8n;
		if ('fault' in act && act.fault) sandbox.addFault(act.fault);
		const first = 'at' in act ? Math.floor(act.at * webhooks.length) : 0;
		const times = 'times' in act ? Array.from({ length: act.times }, (_, nth) => nth) : [0];
		switch (act.kind) {
			case 'charge': {
				const workflow = act.order.reference === undefined ? 'plain' : 'referenced';
				return await Promise.all(times.map((nth) => this.order(workflow, act.order, first + nth)));
			}
			case 'wait':
				return await this.order(act.wait, act.order, first);
			case 'settle':
				return await this.settle(act.customer, act.status);
			case 'notify':
				return await Promise.all(
					times.map((nth) => this.notify(this.sales[act.sale] ?? '', first + nth)),
				);
			case 'retry':
				return await this.retryOne(act.which, act.loadWorkflow);
		}
	}

	/** Posts an order to a webhook process, and again to the next until one of them may have accepted it. */
	private async order(workflow: string, order: Order, first: number): Promise<void> {
		await this.repeat(first, async (url) => {
			this.attempts += 1;
			// Without a reference, an execution is the identity. Each post starts at most one.
			const name = order.reference ?? `p${this.attempts}`;
			const answer = postJson(`${url}/webhook/${workflow}`, { ...order, name });
			// A request without an answer may have started an execution, unless the connection was refused.
			const status = await answer.then((given) => given.status, isRefused);
			return status === 200 || status === false;
		});
	}

	/** Notifies the trigger of a sale until it answers 200, as the platform does. */
	private async notify(hash: string, first: number): Promise<void> {
		await this.repeat(first, async (url) => {
			const body = { hash, payment_status: 'paid' };
			const answer = await postJson(addressOf({ url }, SALES), body).catch(() => undefined);
			// While n8n starts, it answers 200 to everything. The platform would stop here, and the sale would be lost.
			if (answer?.status !== 200 || answer.text.startsWith('n8n is starting up')) return false;
			this.accepted.push(hash);
			return true;
		});
	}

	private async repeat(first: number, post: (url: string) => Promise<boolean>): Promise<void> {
		const { webhooks } = this.n8n;
		const deadline = Date.now() + ACCEPTED_WITHIN_MS;
		for (let nth = first; Date.now() < deadline; nth++) {
			if (await post(webhooks[nth % webhooks.length]?.url ?? '')) return;
			await pause(REPEAT_AFTER_MS);
		}
	}

	/** Sets the final status once the payment exists. Some were refused, or their charge failed. */
	private async settle(customer: string, status: string): Promise<void> {
		const { sandbox } = this.n8n;
		const find = () => sandbox.transactions.find((one) => one.customer.document === customer);
		const options = { withinMs: CHARGED_WITHIN_MS };
		const made = await until(`${customer} is charged`, find, options).catch(() => undefined);
		if (made?.payment_status === 'waiting_payment') await sandbox.setStatus(made.hash, status);
	}

	private async retryOne(which: number, loadWorkflow: boolean): Promise<void> {
		const { rest } = this.n8n;
		const lists = [...this.workflows.ids].map(async (id) => await rest.executions(id));
		const executions = (await Promise.all(lists).catch(() => [])).flat();
		const failed = executions.filter(({ status }) => FAILED.includes(status));
		const chosen = failed[Math.floor(which * failed.length)];
		if (!chosen) return;
		// With the current workflow, n8n skips a wait that was killed during a read. The guide says which Retry to use.
		await rest
			.retry(chosen.id, loadWorkflow && !this.workflows.isWait(chosen))
			.catch(() => undefined);
	}
}

/** A refused connection means that nothing was sent. */
function isRefused(error: unknown): boolean {
	return z.object({ code: z.literal('ECONNREFUSED') }).safeParse(error).success;
}
