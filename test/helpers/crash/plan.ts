import { cpf } from '../charge';
import type { Fault } from '../../sandbox';
import type { Chance } from '../chance';
import type { ChargeRequest } from './checker';

const ENDPOINT = 'POST /transactions';
export const READ = 'GET /transactions/{hash}';
const FIRST_CUSTOMER = 300_400_500;
const LONGEST_PAUSE_MS = 500;
const LONGEST_DOWN_MS = 8_000;
/** Keeps each wait short, so that n8n's timer still fires often while it lasts. */
const MOST_OPEN_PAYMENTS = 12;

/** The size of a history. */
export interface Size {
	/** Charges, Retries, notifications and changes of payments. */
	operations: number;
	/** How often a process of n8n is killed (`kill -9`). */
	kills: number;
	/** How often Redis is restarted, and how often PostgreSQL. */
	restarts: number;
	/** Whether some executions create several charges, in one run of the node or in a loop. */
	hasBatches?: boolean;
}

/** The status of a sale at its first notification. The trigger's filters keep out `canceled`. */
export type SaleStatus = 'paid' | 'refunded' | 'canceled';

/** Whether webhooks reach the waiting execution, or it waits with a short time limit. */
export type WaitKind = 'notified' | 'unnotified' | 'shortLimit';

/** One step of a plan. `which` and `at`, from 0 to 1, pick one of the executions or processes that exist by then. */
export type Step =
	/** Concurrent charges, in an execution each or together in one execution. */
	| {
			kind: 'charge';
			requests: ChargeRequest[];
			at: number;
			together?: 'items' | 'loop';
			fault?: Fault;
	  }
	/** n8n's Retry of a failed execution. */
	| { kind: 'retry'; which: number; times: number; loadWorkflow: boolean }
	/** Concurrent notifications of one sale, to the webhook processes in turn. */
	| { kind: 'notify'; sale: number; times: number; at: number; isSlow: boolean }
	/** A charge in an execution that then waits for the payment. */
	| { kind: 'wait'; request: ChargeRequest; wait: WaitKind; at: number; fault?: Fault }
	/** A customer's payment gets its final status. `fault` strikes the next read. */
	| { kind: 'settle'; customer: string; status: 'paid' | 'canceled'; fault?: Fault }
	/** A webhook claims that a customer has paid, which may be false. */
	| { kind: 'claimPaid'; customer: string }
	/** With `readingFor`, the kill strikes while an execution reads the payment of that customer. */
	| { kind: 'kill'; which: number; downMs: number; readingFor?: string }
	| { kind: 'restart'; server: 'redis' | 'postgres' };

/** The steps of a history, in order. */
export interface Plan {
	sales: SaleStatus[];
	steps: Array<{ step: Step; afterMs: number }>;
}

/** How many operations of a {@link Size} a step counts as. */
export function countOperations(step: Step): number {
	if (step.kind === 'charge') return step.requests.length;
	if (step.kind === 'retry' || step.kind === 'notify') return step.times;
	return ['wait', 'settle', 'claimPaid'].includes(step.kind) ? 1 : 0;
}

/** Makes the plan that follows from the seed of `chance`. */
export function makePlan(chance: Chance, size: Size): Plan {
	const planner = new Planner(chance, size);
	const disasters = planner.makeDisasters();
	const apart = size.operations / (disasters.length + 1);
	const steps: Plan['steps'] = [];
	const add = (step: Step): number => {
		steps.push({ step, afterMs: chance.within(0, LONGEST_PAUSE_MS) });
		return countOperations(step);
	};
	let done = 0;
	for (const [nth, disaster] of [...disasters, undefined].entries()) {
		while (done < (nth + 1) * apart) done += add(planner.makeOperation());
		if (disaster) add(planner.aimDisaster(disaster));
	}
	return { sales: planner.sales, steps };
}

class Planner {
	readonly sales: SaleStatus[] = [];
	private readonly requested: ChargeRequest[] = [];
	/** Payments that an execution waits for, and whether webhooks reach it. */
	private readonly openPayments: Array<{ customer: string; isNotified: boolean }> = [];
	private customers = 0;
	private slots = 0;

	constructor(
		private readonly chance: Chance,
		private readonly size: Size,
	) {}

	makeDisasters(): Step[] {
		const { chance } = this;
		const { kills, restarts } = this.size;
		const times = (count: number, step: () => Step): Step[] => Array.from({ length: count }, step);
		return chance.shuffled([
			...times(kills, () => {
				const downMs = chance.within(0, LONGEST_DOWN_MS);
				return { kind: 'kill', which: this.randomShare(), downMs };
			}),
			...times(restarts, () => ({ kind: 'restart', server: 'redis' })),
			...times(restarts, () => ({ kind: 'restart', server: 'postgres' })),
		]);
	}

	/** Lets half of the kills strike during the read of a payment, if one is open. */
	aimDisaster(disaster: Step): Step {
		const notified = this.openPayments.filter(({ isNotified }) => isNotified);
		if (disaster.kind !== 'kill' || notified.length === 0 || this.chance.is(0.5)) return disaster;
		return { ...disaster, readingFor: this.pickFrom(notified).customer };
	}

	makeOperation(): Step {
		const { chance } = this;
		if (chance.is(0.12)) {
			const [which, times] = [this.randomShare(), chance.is(0.3) ? 2 : 1];
			return { kind: 'retry', which, times, loadWorkflow: chance.is(0.5) };
		}
		if (chance.is(0.35)) return this.makeWaitStep();
		return chance.is(0.25) ? this.makeNotifications() : this.makeCharges();
	}

	/** A new wait, or something that happens to an open payment. */
	private makeWaitStep(): Step {
		const { chance, openPayments } = this;
		const isFull = openPayments.length >= MOST_OPEN_PAYMENTS;
		if (openPayments.length === 0 || (!isFull && chance.is(0.45))) return this.makeWait();
		const index = isFull ? 0 : chance.within(0, openPayments.length - 1);
		const { customer, isNotified } = openPayments[index] ?? { customer: '', isNotified: false };
		if (isNotified && !isFull && chance.is(0.25)) return { kind: 'claimPaid', customer };
		openPayments.splice(index, 1);
		const status = chance.is(0.85) ? 'paid' : 'canceled';
		const fault = chance.is(0.5) && { fault: this.readFault() };
		return { kind: 'settle', customer, status, ...fault };
	}

	private makeWait(): Step {
		const { chance } = this;
		const request = this.newCustomer(true);
		const wait = this.pickFrom<WaitKind>([
			...(['notified', 'notified', 'unnotified', 'unnotified'] as const),
			'shortLimit',
		]);
		// The other payments are never settled.
		if (chance.is(0.9)) {
			this.openPayments.push({ customer: request.customer, isNotified: wait !== 'unnotified' });
		}
		const fault = chance.is(0.3) && {
			fault: chance.is(0.5) ? this.chargeFault() : this.readFault(),
		};
		return { kind: 'wait', request, wait, at: this.randomShare(), ...fault };
	}

	/** A fault of a read. Slow reads are frequent, because kills strike them most often. */
	private readFault(): Fault {
		const delay = (): Fault => ({
			endpoint: READ,
			kind: 'delay',
			ms: this.chance.within(500, 8_000),
		});
		return this.pickFrom<Fault>([
			{ endpoint: READ, kind: 'status', status: 503 },
			{ endpoint: READ, kind: 'status', status: 404 },
			{ endpoint: READ, kind: 'resetBeforeProcessing' },
			{ endpoint: READ, kind: 'retryAfter', seconds: 1 },
			delay(),
			delay(),
			delay(),
			delay(),
		]);
	}

	private makeCharges(): Step {
		const { chance } = this;
		const isBatch = this.size.hasBatches === true && chance.is(0.3);
		const together = chance.is(0.5) ? ('items' as const) : ('loop' as const);
		// The loop is in a workflow of its own, and a workflow does not know the charges of another.
		const isLoop = isBatch && together === 'loop';
		const first = isLoop ? this.newCustomer(chance.is(0.6)) : this.newOrRepeatedRequest();
		const hasOrder = first.order !== undefined;
		const isTwice = hasOrder && chance.is(0.3);
		const requests = isBatch
			? [first, ...Array.from({ length: 2 }, () => this.newCustomer(hasOrder))]
			: [first, ...(isTwice ? [this.repeatRequest(first)] : [])];
		if (!isLoop) this.requested.push(...requests);
		return {
			kind: 'charge',
			requests,
			at: this.randomShare(),
			...(isBatch && { together }),
			...(chance.is(0.4) && { fault: this.chargeFault() }),
		};
	}

	/** A new customer's order with or without a reference, or a recent request again. */
	private newOrRepeatedRequest(): ChargeRequest {
		const { chance, requested } = this;
		if (requested.length > 0 && chance.is(0.25)) {
			return this.repeatRequest(this.pickFrom(requested.slice(-50)));
		}
		return this.newCustomer(chance.is(0.6));
	}

	private newCustomer(isReferenced: boolean): ChargeRequest {
		const customer = cpf(FIRST_CUSTOMER + (this.customers += 1)).replace(/\D/g, '');
		return this.repeatRequest({ customer, ...(isReferenced && { order: `o${this.customers}` }) });
	}

	/** The same order and customer, in another slot. */
	private repeatRequest({ customer, order }: Omit<ChargeRequest, 'slot'>): ChargeRequest {
		const slot = `p${(this.slots += 1)}`;
		return { slot, customer, ...(order !== undefined && { order }) };
	}

	/** A fault of a charge. Most faults are delays. */
	private chargeFault(): Fault {
		const { chance } = this;
		const faults: Fault[] = [
			{ endpoint: ENDPOINT, kind: 'status', status: 422 },
			{ endpoint: ENDPOINT, kind: 'resetAfterProcessing' },
			{ endpoint: ENDPOINT, kind: 'resetBeforeProcessing' },
			{ endpoint: ENDPOINT, kind: 'refused' },
			{ endpoint: ENDPOINT, kind: 'retryAfter', seconds: 1 },
			{ endpoint: ENDPOINT, kind: 'status', status: 503, processed: chance.is(0.5) },
			...[0, 1, 2].flatMap((): Fault[] => [
				{ endpoint: ENDPOINT, kind: 'delay', ms: chance.within(100, 4_000) },
				{ endpoint: ENDPOINT, kind: 'delayAfterProcessing', ms: chance.within(100, 4_000) },
			]),
		];
		return this.pickFrom(faults);
	}

	private makeNotifications(): Step {
		const { chance, sales } = this;
		const isNew = sales.length === 0 || chance.is(0.6);
		if (isNew)
			sales.push(this.pickFrom<SaleStatus>(['paid', 'paid', 'paid', 'refunded', 'canceled']));
		const sale = isNew ? sales.length - 1 : chance.within(0, sales.length - 1);
		const times = chance.is(0.4) ? chance.within(2, 3) : 1;
		return { kind: 'notify', sale, times, at: this.randomShare(), isSlow: chance.is(0.2) };
	}

	private pickFrom<T>(list: readonly T[]): T {
		return list[this.chance.within(0, list.length - 1)] as T;
	}

	private randomShare(): number {
		return this.chance.within(0, 999) / 1_000;
	}
}
