import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';
import type { ChargeState } from '../../api/chargeState';
import { clock } from '../../api/clock';
import { processState } from '../../api/processState';

const STATIC_DATA_KEY = 'digitalSalesOrders';
/** About 80 kB of static data. Orders in doubt are the last to be forgotten. */
const MOST_REMEMBERED = 1_000;
const IN_DOUBT = '?';
/** An execution that charges and then waits for long has been saved by then, too. */
const SAVED_WITHIN_MS = 300_000;

const storedSchema = z.array(z.tuple([z.string(), z.string()])).catch([]);

/**
 * The order references of a workflow and what became of them. The memory of the process decides,
 * since it is there at once for other executions; the workflow's static data carries it over a
 * restart and, one execution after another, to other processes. n8n saves that at the end of an
 * execution, and not at all in manual ones.
 */
export class OrderBook {
	/**
	 * n8n did not keep what executions have stored. A worker of its queue mode gets no static data
	 * from version 2.40 on, and then knows nothing of what other workers have charged.
	 */
	readonly isLost: boolean;
	private readonly orders: Map<string, ChargeState>;

	constructor(
		private readonly workflowData: IDataObject,
		private readonly workflowId: string,
		/** Whether n8n keeps static data of an execution of this kind. */
		private readonly isKept: boolean,
	) {
		const storedAt = processState.ordersStoredAt.get(workflowId) ?? clock.now();
		this.isLost =
			isKept &&
			workflowData[STATIC_DATA_KEY] === undefined &&
			clock.now() - storedAt > SAVED_WITHIN_MS;
		this.orders = processState.orders.get(workflowId) ?? new Map();
		processState.orders.set(workflowId, this.orders);
		for (const entry of storedSchema.parse(workflowData[STATIC_DATA_KEY])) this.learn(read(entry));
	}

	get(reference: string): ChargeState | undefined {
		return this.orders.get(reference);
	}

	set(reference: string, charge: ChargeState): void {
		this.orders.delete(reference);
		this.orders.set(reference, charge);
		this.forgetSurplus();
		this.store();
	}

	delete(reference: string): void {
		this.orders.delete(reference);
		this.store();
	}

	/** Takes over what another process has charged, and what it has found out about a charge in doubt. */
	private learn([reference, stored]: [string, ChargeState]): void {
		const known = this.orders.get(reference);
		const isSettled = known?.state === 'inDoubt' && stored.state === 'made';
		if (!known || isSettled) this.orders.set(reference, stored);
	}

	/** Where n8n hands no static data over, what is written replaces that of the other nodes, too. */
	private store(): void {
		if (this.isLost) return;
		const { ordersStoredAt } = processState;
		if (this.isKept && !ordersStoredAt.has(this.workflowId)) {
			ordersStoredAt.set(this.workflowId, clock.now());
		}
		this.workflowData[STATIC_DATA_KEY] = [...this.orders].map(([reference, charge]) => [
			reference,
			written(charge),
		]);
	}

	private forgetSurplus(): void {
		for (const [reference, { state }] of this.orders) {
			if (this.orders.size <= MOST_REMEMBERED) return;
			if (state === 'made') this.orders.delete(reference);
		}
	}
}

/** A charge under way is in doubt for whoever reads the static data after a crash. */
function written(charge: ChargeState): string {
	if (charge.state === 'made') return charge.hash;
	return IN_DOUBT + (charge.state === 'inDoubt' ? charge.since : now());
}

function read([reference, text]: [string, string]): [string, ChargeState] {
	return text.startsWith(IN_DOUBT)
		? [reference, { state: 'inDoubt', since: text.slice(IN_DOUBT.length) }]
		: [reference, { state: 'made', hash: text }];
}

/** The present moment as it is shown to a person. */
export function now(): string {
	return new Date(clock.now()).toISOString();
}
