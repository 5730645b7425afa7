import { cpf } from '../charge';
import type { Fault } from '../../sandbox';
import type { Chance } from '../chance';
import type { Asked } from './checker';

const ENDPOINT = 'POST /transactions';
export const READ = 'GET /transactions/{hash}';
const FIRST_CUSTOMER = 300_400_500;
const MOST_APART_MS = 500;
const LONGEST_DOWN_MS = 8_000;
/** So few payments are open that each is decided within minutes, while n8n's timer comes often. */
const MOST_UNDECIDED = 12;

/** How large a history is. */
export interface Size {
	/** Charges and Retries that are asked for, and notices. */
	operations: number;
	/** `kill -9` of processes of n8n. */
	kills: number;
	/** Of Redis, and as many of PostgreSQL. */
	restarts: number;
	/** Whether executions are asked for several charges, in one run of the node or in a loop. */
	hasBatches?: boolean;
}

/** What a sale has become before its first notice; the trigger wants all but the last. */
export type Status = 'paid' | 'refunded' | 'canceled';

/** Whether the webhooks of a payment reach the execution that waits for it; if `brief`, its time limit is short. */
export type Way = 'told' | 'untold' | 'brief';

/** What is done; `which` and `at` are shares, 0 to 1, of those that there are by then. */
export type Step =
	/** Charges, each in an execution of its own and all at once, or together in one execution. */
	| { kind: 'ask'; asks: Asked[]; at: number; together?: 'items' | 'loop'; fault?: Fault }
	/** n8n's Retry of an execution that failed. */
	| { kind: 'retry'; which: number; times: number; loadWorkflow: boolean }
	/** A sale is told of so many times at once, to one webhook process after the other. */
	| { kind: 'tell'; sale: number; times: number; at: number; isSlow: boolean }
	/** A charge, and an execution that waits for its payment. */
	| { kind: 'await'; ask: Asked; way: Way; at: number; fault?: Fault }
	/** The payment of a customer is decided; `fault` strikes the read that comes next. */
	| { kind: 'decide'; customer: string; status: 'paid' | 'canceled'; fault?: Fault }
	/** A webhook says that the payment of a customer is paid, which may be false. */
	| { kind: 'claim'; customer: string }
	/** If `looking` is given, while the execution that waits for the payment of that customer looks at it. */
	| { kind: 'kill'; which: number; downMs: number; looking?: string }
	| { kind: 'restart'; server: 'redis' | 'postgres' };

/** Everything that is to be done, one after the other. */
export interface Plan {
	/** What each of the sales has become. */
	sales: Status[];
	steps: Array<{ step: Step; afterMs: number }>;
}

/** How many operations a step is. */
export function timesOf(step: Step): number {
	if (step.kind === 'ask') return step.asks.length;
	if (step.kind === 'retry' || step.kind === 'tell') return step.times;
	return ['await', 'decide', 'claim'].includes(step.kind) ? 1 : 0;
}

/** A plan that follows from the seed of `chance`. */
export function planFor(chance: Chance, size: Size): Plan {
	const planner = new Planner(chance, size);
	const disasters = planner.disasters();
	const apart = size.operations / (disasters.length + 1);
	const steps: Plan['steps'] = [];
	const add = (step: Step): number => {
		steps.push({ step, afterMs: chance.within(0, MOST_APART_MS) });
		return timesOf(step);
	};
	let done = 0;
	for (const [nth, disaster] of [...disasters, undefined].entries()) {
		while (done < (nth + 1) * apart) done += add(planner.operation());
		if (disaster) add(planner.aimed(disaster));
	}
	return { sales: planner.sales, steps };
}

class Planner {
	readonly sales: Status[] = [];
	private readonly asked: Asked[] = [];
	/** Customers whose payment is waited for and not decided yet, and whether webhooks tell of it. */
	private readonly undecided: Array<{ customer: string; isTold: boolean }> = [];
	private customers = 0;
	private places = 0;

	constructor(
		private readonly chance: Chance,
		private readonly size: Size,
	) {}

	disasters(): Step[] {
		const { chance } = this;
		const { kills, restarts } = this.size;
		const times = (count: number, step: () => Step): Step[] => Array.from({ length: count }, step);
		return chance.shuffled([
			...times(kills, () => {
				const downMs = chance.within(0, LONGEST_DOWN_MS);
				return { kind: 'kill', which: this.share(), downMs };
			}),
			...times(restarts, () => ({ kind: 'restart', server: 'redis' })),
			...times(restarts, () => ({ kind: 'restart', server: 'postgres' })),
		]);
	}

	/** Half of the kills strike a look, if there is a payment to look at. */
	aimed(disaster: Step): Step {
		const told = this.undecided.filter(({ isTold }) => isTold);
		if (disaster.kind !== 'kill' || told.length === 0 || this.chance.is(0.5)) return disaster;
		return { ...disaster, looking: this.oneOf(told).customer };
	}

	operation(): Step {
		const { chance } = this;
		if (chance.is(0.12)) {
			const [which, times] = [this.share(), chance.is(0.3) ? 2 : 1];
			return { kind: 'retry', which, times, loadWorkflow: chance.is(0.5) };
		}
		if (chance.is(0.35)) return this.wait();
		return chance.is(0.25) ? this.tell() : this.ask();
	}

	/** A new wait, or something about the payment of one. */
	private wait(): Step {
		const { chance, undecided } = this;
		const isFull = undecided.length >= MOST_UNDECIDED;
		if (undecided.length === 0 || (!isFull && chance.is(0.45))) return this.await();
		const place = isFull ? 0 : chance.within(0, undecided.length - 1);
		const { customer, isTold } = undecided[place] ?? { customer: '', isTold: false };
		if (isTold && !isFull && chance.is(0.25)) return { kind: 'claim', customer };
		undecided.splice(place, 1);
		const status = chance.is(0.85) ? 'paid' : 'canceled';
		const fault = chance.is(0.5) && { fault: this.readFault() };
		return { kind: 'decide', customer, status, ...fault };
	}

	private await(): Step {
		const { chance } = this;
		const ask = this.fresh(true);
		const way = this.oneOf<Way>(['told', 'told', 'untold', 'untold', 'brief']);
		// The others are never decided.
		if (chance.is(0.9)) this.undecided.push({ customer: ask.customer, isTold: way !== 'untold' });
		const fault = chance.is(0.3) && { fault: chance.is(0.5) ? this.fault() : this.readFault() };
		return { kind: 'await', ask, way, at: this.share(), ...fault };
	}

	/** Of a read. A slow one is most often struck by a kill. */
	private readFault(): Fault {
		const delay = (): Fault => ({
			endpoint: READ,
			kind: 'delay',
			ms: this.chance.within(500, 8_000),
		});
		return this.oneOf<Fault>([
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

	private ask(): Step {
		const { chance } = this;
		const isBatch = this.size.hasBatches === true && chance.is(0.3);
		const together = chance.is(0.5) ? ('items' as const) : ('loop' as const);
		// A loop is in a workflow of its own, which knows nothing of what another one has charged.
		const isApart = isBatch && together === 'loop';
		const ask = isApart ? this.fresh(chance.is(0.6)) : this.newAsk();
		const isTwice = ask.order !== undefined && chance.is(0.3);
		const asks = isBatch
			? [ask, ...Array.from({ length: 2 }, () => this.fresh(ask.order !== undefined))]
			: [ask, ...(isTwice ? [this.sameAs(ask)] : [])];
		if (!isApart) this.asked.push(...asks);
		return {
			kind: 'ask',
			asks,
			at: this.share(),
			...(isBatch && { together }),
			...(chance.is(0.4) && { fault: this.fault() }),
		};
	}

	/** A new order with or without a reference, or one of the latest again. */
	private newAsk(): Asked {
		const { chance, asked } = this;
		if (asked.length > 0 && chance.is(0.25)) return this.sameAs(this.oneOf(asked.slice(-50)));
		return this.fresh(chance.is(0.6));
	}

	/** A new customer, with a new order if wanted. */
	private fresh(isReferenced: boolean): Asked {
		const customer = cpf(FIRST_CUSTOMER + (this.customers += 1)).replace(/\D/g, '');
		return this.sameAs({ customer, ...(isReferenced && { order: `o${this.customers}` }) });
	}

	private sameAs({ customer, order }: Omit<Asked, 'place'>): Asked {
		const place = `p${(this.places += 1)}`;
		return { place, customer, ...(order !== undefined && { order }) };
	}

	/** The service is slow more often than anything else. */
	private fault(): Fault {
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
		return this.oneOf(faults);
	}

	private tell(): Step {
		const { chance, sales } = this;
		const isNew = sales.length === 0 || chance.is(0.6);
		if (isNew) sales.push(this.oneOf<Status>(['paid', 'paid', 'paid', 'refunded', 'canceled']));
		const sale = isNew ? sales.length - 1 : chance.within(0, sales.length - 1);
		const times = chance.is(0.4) ? chance.within(2, 3) : 1;
		return { kind: 'tell', sale, times, at: this.share(), isSlow: chance.is(0.2) };
	}

	private oneOf<T>(list: readonly T[]): T {
		return list[this.chance.within(0, list.length - 1)] as T;
	}

	private share(): number {
		return this.chance.within(0, 999) / 1_000;
	}
}
