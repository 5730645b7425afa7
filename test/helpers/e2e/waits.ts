import { setTimeout as pause } from 'node:timers/promises';
import { eachLimit } from '../../../nodes/DigitalSales/shared/tasks';
import { cpf } from '../charge';
import { postJson } from '../http';
import { until } from '../until';
import type { StoredTransaction } from '../../sandbox/types';
import {
	cartOf,
	createPix,
	type Downstream,
	publish,
	type Running,
	waitForPayment,
	webStart,
} from './workflows';

const FIRST_CUSTOMER = 200_300_400;
const BEGUN_WITHIN_MS = 60_000;
/** A test must be able to interrupt within milliseconds. */
const POLL_MS = 5;
const AT_ONCE = 4;

export interface Way {
	webhooksGoTo: 'none' | 'automatic';
	/** In minutes. */
	limit?: number;
}

/** An execution that waits, and its charge. */
export interface Parked {
	charge: StoredTransaction;
	executionId: string;
}

/** Published workflows that charge, wait and report. */
export class Waits {
	private customers = 0;
	private readonly workflowIds = new Map<string, string>();

	private constructor(private readonly n8n: Running) {}

	static async publish(
		n8n: Running,
		downstream: Downstream,
		ways: Record<string, Way>,
	): Promise<Waits> {
		const waits = new Waits(n8n);
		for (const [name, { webhooksGoTo, limit }] of Object.entries(ways)) {
			const charge = createPix({
				webhooksGoTo,
				customerName: '={{ $json.body.customer }}',
				// If two workers charge a customer the same amount at once, one charge is refused.
				customerDocument: '={{ $json.body.document }}',
				cart: cartOf(n8n.sandbox),
			});
			const wait = limit === undefined ? {} : { timeLimit: limit, timeLimitUnit: 'minutes' };
			const chain = [webStart(name), charge, waitForPayment(wait), downstream.node];
			waits.workflowIds.set(name, (await publish(n8n, name, chain)).id);
		}
		return waits;
	}

	idOf(way: string): string {
		return this.workflowIds.get(way) ?? '';
	}

	/** Returns the charge once the execution has read it. */
	async begin(way: string): Promise<StoredTransaction> {
		const { sandbox, url } = this.n8n;
		this.customers += 1;
		const customer = `Customer ${this.customers}`;
		const document = cpf(FIRST_CUSTOMER + this.customers);
		await postJson(`${url}/webhook/${way}`, { customer, document });
		return await until(
			`${customer} is charged`,
			() => {
				const made = sandbox.transactions.find((one) => one.customer.name === customer);
				return made && this.readsOf(made.hash) > 0 && made;
			},
			{ withinMs: BEGUN_WITHIN_MS, everyMs: POLL_MS },
		);
	}

	async park(way: string): Promise<Parked> {
		const charge = await this.begin(way);
		const { rest } = this.n8n;
		return await until(`${charge.hash} is parked`, async () => {
			const executions = await rest.executions(this.idOf(way));
			for (const { id } of executions.filter(({ status }) => status === 'waiting')) {
				const [item] = (await rest.execution(id)).items('Charge');
				if (item?.json.hash === charge.hash) return { charge, executionId: id };
			}
			return undefined;
		});
	}

	async parkedAgain(executionId: string): Promise<void> {
		const isWaiting = async () => (await this.n8n.rest.status(executionId)) === 'waiting';
		await until(`execution ${executionId} waits`, isWaiting);
	}

	async payUnheard(hash: string): Promise<void> {
		const { sandbox } = this.n8n;
		sandbox.addFault({ kind: 'lostNotice' });
		await sandbox.setStatus(hash, 'paid');
		sandbox.clearFaults();
	}

	/**
	 * Begins a wait for each offset, and pays it that many milliseconds after its first look.
	 */
	async payAfter(offsets: number[]): Promise<string[]> {
		const hashes: string[] = [];
		await eachLimit(offsets, AT_ONCE, async (offset) => {
			const { hash } = await this.begin('told');
			hashes.push(hash);
			await pause(offset);
			await this.n8n.sandbox.pay(hash);
		});
		return hashes;
	}

	readsOf(hash: string): number {
		return this.n8n.sandbox.requests.filter(
			({ method, path }) => method === 'GET' && path.endsWith(`/${hash}`),
		).length;
	}
}
