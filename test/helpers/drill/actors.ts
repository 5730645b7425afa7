import type { Fault } from '../../sandbox';
import type { Chance } from '../chance';
import { cpf } from '../charge';
import { addressOf } from '../e2e/workflows';
import { postJson } from '../http';
import type { N8n } from '../n8n/n8n';
import { until } from '../until';
import { SALES, WAIT_NAMES, type Workflows } from './workflows';

const CHARGE = 'POST /transactions';
const READ = 'GET /transactions/{hash}';
const FIRST_CUSTOMER = 300_400_500;
const REPEATEDLY = { withinMs: 120_000, everyMs: 1_000 };
export const FAILED = ['error', 'crashed'];

/** The name is the identity of the order, and its reference if it has one. */
interface Order {
	name: string;
	customer: string;
}

/**
 * What customers, the platform and the owner of n8n do, whether n8n is up or not. An act draws all its choices before it
 * awaits anything, so that they follow from the seed alone.
 */
export class Actors {
	/** Sales whose webhook was answered with 200, by hash. */
	readonly accepted: string[] = [];
	private readonly referenced: Order[] = [];
	private customers = 0;

	constructor(
		private readonly n8n: N8n,
		private readonly workflows: Workflows,
		/** The hashes of the sales that webhooks are about. */
		private readonly sales: readonly string[],
		private readonly chance: Chance,
	) {}

	/** Does anything, and resolves once n8n has answered. */
	async act(): Promise<void> {
		if (this.chance.is(0.25)) this.addFault();
		const acts = [
			async () => await this.orderWithoutReference(),
			async () => await this.order(),
			async () => await this.order(),
			async () => await this.orderAndWait(),
			async () => await this.orderAndWait(),
			async () => await this.settle(),
			async () => await this.notify(),
			async () => await this.notify(),
			async () => await this.retry(),
		];
		await this.chance.oneOf(acts)();
	}

	/** A disaster strikes while a request of this is under way. */
	async actSlowly(): Promise<void> {
		const ms = this.chance.within(2_000, 6_000);
		const faults: Fault[] = [
			{ endpoint: CHARGE, kind: 'delay', ms },
			{ endpoint: CHARGE, kind: 'delayAfterProcessing', ms },
			{ endpoint: READ, kind: 'delay', ms },
		];
		this.n8n.sandbox.addFault(this.chance.oneOf(faults));
		await this.orderAndWait();
	}

	/** Strikes the next request. Most faults are delays, because kills strike slow requests most often. */
	private addFault(): void {
		const { chance } = this;
		const ms = chance.within(500, 6_000);
		const endpoint = chance.oneOf([CHARGE, READ] as const);
		const faults: Fault[] = [
			{ endpoint, kind: 'delay', ms },
			{ endpoint, kind: 'delay', ms },
			{ endpoint, kind: 'resetBeforeProcessing' },
			{ endpoint, kind: 'status', status: 503 },
			{ endpoint: CHARGE, kind: 'delayAfterProcessing', ms },
			{ endpoint: CHARGE, kind: 'resetAfterProcessing' },
			{ endpoint: CHARGE, kind: 'status', status: 503, processed: true },
			{ endpoint: CHARGE, kind: 'status', status: 422 },
			{ endpoint: CHARGE, kind: 'retryAfter', seconds: 1 },
			{ endpoint: CHARGE, kind: 'refused' },
		];
		this.n8n.sandbox.addFault(chance.oneOf(faults));
	}

	/** An execution is the identity. Each post starts at most one. */
	private async orderWithoutReference(): Promise<void> {
		const { name, customer } = this.newOrder();
		await this.post('webhook/plain', (nth) => ({ name: `${name}-${nth}`, customer }));
	}

	/** A new order or an earlier one, sometimes twice at the same moment. */
	private async order(): Promise<void> {
		const { chance, referenced } = this;
		const isNew = referenced.length === 0 || chance.is(0.75);
		const order = isNew ? this.newOrder() : chance.oneOf(referenced);
		if (isNew) referenced.push(order);
		const times = chance.within(1, 2);
		const post = async () => await this.post('webhook/referenced', () => order);
		await Promise.all(Array.from({ length: times }, post));
	}

	/** An execution charges, and then waits for the payment. */
	private async orderAndWait(): Promise<void> {
		const order = this.newOrder();
		await this.post(`webhook/${this.chance.oneOf(WAIT_NAMES)}`, () => order);
	}

	/** An open payment gets its final status. */
	private async settle(): Promise<void> {
		const { chance } = this;
		const { sandbox } = this.n8n;
		const which = chance.within(0, 999);
		const status = chance.is(0.85) ? 'paid' : 'canceled';
		const open = sandbox.transactions.filter((one) => one.payment_status === 'waiting_payment');
		const chosen = open[which % open.length];
		if (chosen) await sandbox.setStatus(chosen.hash, status);
	}

	/** The trigger is notified of a sale, sometimes several times at the same moment. */
	private async notify(): Promise<void> {
		const hash = this.chance.oneOf(this.sales);
		const times = this.chance.within(1, 3);
		const address = addressOf({ url: '' }, SALES).slice(1);
		const post = async () => {
			const body = { hash, payment_status: 'paid' };
			if (await this.post(address, () => body)) this.accepted.push(hash);
		};
		await Promise.all(Array.from({ length: times }, post));
	}

	/** The owner presses n8n's Retry on a failed execution. */
	private async retry(): Promise<void> {
		const { rest } = this.n8n;
		const which = this.chance.within(0, 999);
		const loadWorkflow = this.chance.is(0.5);
		const failed = await rest.withStatus(...FAILED).catch(() => []);
		const chosen = failed[which % failed.length];
		if (!chosen) return;
		// With the current workflow, n8n skips a wait that was killed during a read. The guide says which Retry to use.
		const isWait = this.workflows.waits.includes(chosen.workflowId);
		await rest.retry(chosen.id, loadWorkflow && !isWait).catch(() => undefined);
	}

	private newOrder(): Order {
		this.customers += 1;
		const customer = cpf(FIRST_CUSTOMER + this.customers).replace(/\D/g, '');
		return { name: `order ${this.customers}`, customer };
	}

	/** Posts to one webhook process after the other until one answers 200, as the platform does, or gives up. */
	private async post(path: string, bodyOf: (nth: number) => object): Promise<boolean> {
		const { webhooks } = this.n8n;
		let nth = this.chance.within(1, webhooks.length);
		const isTaken = async (): Promise<boolean> => {
			nth += 1;
			const url = `${webhooks[nth % webhooks.length]?.url}/${path}`;
			const answer = await postJson(url, bodyOf(nth)).catch(() => undefined);
			// While n8n starts, it answers 200 to everything. The platform would stop here, and the sale would be lost.
			return answer?.status === 200 && !answer.text.startsWith('n8n is starting up');
		};
		return await until(`a 200 of ${path}`, isTaken, REPEATEDLY).catch(() => false);
	}
}
