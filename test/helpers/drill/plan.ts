import type { Fault } from '../../sandbox';
import type { Chance } from '../chance';
import { cpf } from '../charge';

const CHARGE = 'POST /transactions';
const READ = 'GET /transactions/{hash}';
const FIRST_CUSTOMER = 300_400_500;

/** A charge for a customer. Without a reference, each execution charges once. */
export interface Order {
	customer: string;
	reference?: string;
}

/** Whether webhooks wake the waiting execution, or its time limit ends it soon. */
export type WaitKind = 'notified' | 'unnotified' | 'limited';

/** `which` and `at`, from 0 to 1, pick one of the executions or processes that exist by then. */
export type Act =
	/** The same order several times at the same moment. */
	| { kind: 'charge'; order: Order; times: number; at: number; fault?: Fault }
	/** A charge in an execution that then waits for the payment. */
	| { kind: 'wait'; order: Order; wait: WaitKind; at: number; fault?: Fault }
	/** The payment of a wait gets its final status. */
	| { kind: 'settle'; customer: string; status: 'paid' | 'canceled'; fault?: Fault }
	/** Several webhooks about one sale at the same moment. */
	| { kind: 'notify'; sale: number; times: number; at: number }
	/** n8n's Retry of a failed execution. */
	| { kind: 'retry'; which: number; loadWorkflow: boolean };

export type Disaster =
	| { kind: 'kill'; which: number; afterMs: number; downMs: number }
	| { kind: 'restart'; server: 'redis' | 'postgres' };

/** The acts begin one after the other and overlap. The disaster strikes while the last of them are under way. */
export interface Round {
	acts: Array<{ act: Act; afterMs: number }>;
	disaster: Disaster;
}

export interface Size {
	rounds: number;
	actsEach: number;
	/** Whether Redis and PostgreSQL are restarted, too. */
	hasServers: boolean;
}

export interface Plan {
	rounds: Round[];
	/** How many sales webhooks are about. */
	sales: number;
}

/** The plan follows from the seed of `chance`. */
export function makePlan(chance: Chance, size: Size): Plan {
	const planner = new Planner(chance);
	const rounds = Array.from({ length: size.rounds }, (_, nth): Round => {
		const acts = Array.from({ length: size.actsEach }, () => planner.act());
		acts.push(planner.slowAct());
		return {
			acts: acts.map((act) => ({ act, afterMs: chance.within(0, 500) })),
			disaster: planner.disaster(size.hasServers && nth % 4 === 3),
		};
	});
	return { rounds, sales: planner.sales };
}

class Planner {
	sales = 0;
	private customers = 0;
	private readonly ordered: Order[] = [];
	/** Customers whose payment an execution waits for. */
	private readonly paying: string[] = [];

	constructor(private readonly chance: Chance) {}

	act(): Act {
		const { chance } = this;
		if (chance.is(0.12)) {
			return { kind: 'retry', which: this.share(), loadWorkflow: chance.is(0.5) };
		}
		if (chance.is(0.25)) return this.notification();
		if (chance.is(0.5)) return this.charge();
		return this.paying.length > 0 && chance.is(0.45) ? this.settlement() : this.wait();
	}

	/** The disaster strikes while its request is under way. */
	slowAct(): Act {
		const { chance } = this;
		const ms = chance.within(2_000, 6_000);
		if (this.paying.length > 0 && chance.is(0.5)) {
			return { ...this.settlement(), fault: { endpoint: READ, kind: 'delay', ms } };
		}
		const kind = chance.is(0.5) ? 'delay' : 'delayAfterProcessing';
		const order = this.newOrder(true);
		return {
			kind: 'charge',
			order,
			times: 1,
			at: this.share(),
			fault: { endpoint: CHARGE, kind, ms },
		};
	}

	disaster(isOfServer: boolean): Disaster {
		const { chance } = this;
		if (isOfServer) return { kind: 'restart', server: chance.is(0.5) ? 'redis' : 'postgres' };
		return {
			kind: 'kill',
			which: this.share(),
			afterMs: chance.within(0, 1_000),
			downMs: chance.within(0, 8_000),
		};
	}

	private charge(): Act {
		const { chance, ordered } = this;
		const isRepeated = ordered.length > 0 && chance.is(0.25);
		const order = isRepeated ? this.oneOf(ordered) : this.newOrder(chance.is(0.6));
		if (order.reference !== undefined) ordered.push(order);
		const times = order.reference !== undefined && chance.is(0.3) ? 2 : 1;
		return { kind: 'charge', order, times, at: this.share(), ...this.faultAt(CHARGE, 0.4) };
	}

	private wait(): Act {
		const order = this.newOrder(true);
		this.paying.push(order.customer);
		const wait = this.oneOf<WaitKind>(['notified', 'notified', 'unnotified', 'limited']);
		const fault = this.faultAt(this.chance.is(0.5) ? CHARGE : READ, 0.3);
		return { kind: 'wait', order, wait, at: this.share(), ...fault };
	}

	private settlement(): Extract<Act, { kind: 'settle' }> {
		const [customer = ''] = this.paying.splice(this.chance.within(0, this.paying.length - 1), 1);
		const status = this.chance.is(0.85) ? 'paid' : 'canceled';
		return { kind: 'settle', customer, status, ...this.faultAt(READ, 0.5) };
	}

	private notification(): Act {
		const { chance } = this;
		const isNew = this.sales === 0 || chance.is(0.6);
		if (isNew) this.sales += 1;
		const sale = isNew ? this.sales - 1 : chance.within(0, this.sales - 1);
		return { kind: 'notify', sale, times: chance.within(1, 3), at: this.share() };
	}

	private newOrder(isReferenced: boolean): Order {
		this.customers += 1;
		const customer = cpf(FIRST_CUSTOMER + this.customers).replace(/\D/g, '');
		return { customer, ...(isReferenced && { reference: `o${this.customers}` }) };
	}

	/** Most faults are delays, because kills strike slow requests most often. */
	private faultAt(endpoint: typeof CHARGE | typeof READ, probability: number): { fault?: Fault } {
		const { chance } = this;
		if (!chance.is(probability)) return {};
		const delay: Fault = { endpoint, kind: 'delay', ms: chance.within(500, 6_000) };
		const faults: Fault[] = [
			delay,
			delay,
			delay,
			{ endpoint, kind: 'resetBeforeProcessing' },
			{ endpoint, kind: 'status', status: 503 },
		];
		const ofCharges: Fault[] = [
			{ endpoint, kind: 'delayAfterProcessing', ms: chance.within(100, 4_000) },
			{ endpoint, kind: 'resetAfterProcessing' },
			{ endpoint, kind: 'status', status: 503, processed: true },
			{ endpoint, kind: 'status', status: 422 },
			{ endpoint, kind: 'retryAfter', seconds: 1 },
			{ endpoint, kind: 'refused' },
		];
		return { fault: this.oneOf(endpoint === CHARGE ? [...faults, ...ofCharges] : faults) };
	}

	private oneOf<T>(list: readonly T[]): T {
		return list[this.chance.within(0, list.length - 1)] as T;
	}

	private share(): number {
		return this.chance.within(0, 999) / 1_000;
	}
}
