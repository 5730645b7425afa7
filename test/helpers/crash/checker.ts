/** A charge that a test requests. n8n's Retry of the execution requests the charge of the same slot again. */
export interface ChargeRequest {
	/** Names the first execution and the item. */
	slot: string;
	customer: string;
	order?: string;
}

/** How an execution's attempt to charge ended. */
export type AttemptOutcome =
	/** The execution continued with a transaction, a new or an existing one. */
	| 'charged'
	/** The service refused the charge, or nothing was sent. */
	| 'notCreated'
	/** The node refused, because the charge may exist already. */
	| 'unresolved'
	/** Nothing was sent, because n8n's database failed. Keys that the node recorded may stay. */
	| 'notRecorded'
	/** Nobody knows whether the charge exists: no answer, or a crash. */
	| 'unknown';

/** One attempt to charge a slot, by its first execution or a Retry. Times are in milliseconds. */
export interface Attempt {
	slot: string;
	begunAt: number;
	endedAt: number;
	outcome: AttemptOutcome;
}

/** A charge that the service created. */
export interface CreatedCharge extends ChargeRequest {
	hash: string;
	/** Not expired, refused or canceled. */
	isPayable: boolean;
}

/** One delivery of a notification; each repetition is a delivery of its own. */
export interface Delivery {
	hash: string;
	status: string;
	/** The HTTP status of the answer; undefined if the process was killed before it answered. */
	answered?: number;
	/** Whether the trigger's filters let the sale through. */
	isWanted: boolean;
	sentAt: number;
	/** When the answer came, or the connection broke. */
	answeredAt: number;
}

/** A sale that the trigger started the workflow for. */
export type StartedSale = Pick<Delivery, 'hash' | 'status'>;

/** A payment that an execution, first or Retry, waited for. */
export interface Wait {
	hash: string;
	/** The earliest moment at which the time limit can be over. */
	limitAt: number;
	/** The final status of the payment; undefined while the payment is open. */
	decided?: { status: string; at: number };
	results: readonly WaitResult[];
}

/** An item that a wait put out. */
export interface WaitResult {
	execution: string;
	paid: boolean;
	status: string;
	at: number;
}

/** Everything that was requested and answered, and the outcome. */
export interface History {
	requests: readonly ChargeRequest[];
	attempts: readonly Attempt[];
	charges: readonly CreatedCharge[];
	deliveries: readonly Delivery[];
	/** After one Retry of each crashed execution. */
	startedSales: readonly StartedSale[];
	/**
	 * When n8n stored the executions of sales whose data it has lost, because the worker died. A Retry of them
	 * has nothing to run.
	 */
	lostExecutionsAt: readonly number[];
	waits: readonly Wait[];
	/** When nothing ran any more. */
	endedAt: number;
}

/** Something that must not happen. */
export interface Anomaly {
	kind:
		| 'order charged twice'
		| 'slot charged twice'
		| 'charge without a request'
		| 'charge without a report'
		| 'refusal without a cause'
		| 'sale lost'
		| 'sale started twice'
		| 'sale without a notification'
		| 'payment lost'
		| 'wait never ended'
		| 'wait ended twice'
		| 'wait ended early'
		| 'paid without a payment';
	what: string;
}

/** Checks a whole history. A correct history has no anomalies. */
export function findAnomalies(history: History): Anomaly[] {
	return [
		...findDoubleCharges(history),
		...findUnrequestedCharges(history),
		...findUnreportedCharges(history),
		...findUnfoundedRefusals(history),
		...findWrongSales(history),
		...findWrongWaits(history),
	];
}

function toAnomalies(kind: Anomaly['kind'], whats: string[]): Anomaly[] {
	return whats.map((what) => ({ kind, what }));
}

function findDoubleCharges({ charges }: History): Anomaly[] {
	const payable = charges.filter(({ isPayable }) => isPayable);
	const orders = payable.flatMap(({ order }) => order ?? []);
	const slots = payable.map(({ slot }) => slot);
	return [
		...toAnomalies('order charged twice', findRepeated(orders)),
		...toAnomalies('slot charged twice', findRepeated(slots)),
	];
}

function findUnrequestedCharges({ requests, charges }: History): Anomaly[] {
	const isRequested = ({ slot, customer, order }: CreatedCharge): boolean =>
		requests.some(
			(request) =>
				request.slot === slot && request.customer === customer && request.order === order,
		);
	const unrequested = charges.filter((charge) => !isRequested(charge)).map(({ hash }) => hash);
	return toAnomalies('charge without a request', unrequested);
}

/** Each charge needs an execution that continued with its transaction, or an attempt that may have created it. */
function findUnreportedCharges({ attempts, charges }: History): Anomaly[] {
	const reporting = attempts.filter(
		({ outcome }) => !['notCreated', 'notRecorded'].includes(outcome),
	);
	const reported = new Set(reporting.map(({ slot }) => slot));
	const unreported = charges.filter(({ slot }) => !reported.has(slot)).map(({ hash }) => hash);
	return toAnomalies('charge without a report', unreported);
}

function findUnfoundedRefusals({ requests, attempts }: History): Anomaly[] {
	const requestOf = new Map(requests.map((request) => [request.slot, request]));
	const unfounded = attempts
		.filter(({ outcome }) => outcome === 'unresolved')
		.filter((refusal) => !attempts.some((other) => justifiesRefusal(other, refusal, requestOf)))
		.map(({ slot }) => slot);
	return toAnomalies('refusal without a cause', unfounded);
}

/**
 * Every process knows whether an order or a slot was charged, but of a customer only whether a charge is
 * still unresolved.
 */
function justifiesRefusal(
	other: Attempt,
	refusal: Attempt,
	requestOf: ReadonlyMap<string, ChargeRequest>,
): boolean {
	if (other === refusal || other.begunAt > refusal.endedAt) return false;
	const [refused, earlier] = [requestOf.get(refusal.slot), requestOf.get(other.slot)];
	if (!refused || !earlier) return false;
	const isRunning = other.endedAt >= refusal.begunAt;
	const isUnresolved = isRunning || ['unknown', 'notRecorded'].includes(other.outcome);
	const isSame =
		refusal.slot === other.slot || (refused.order !== undefined && refused.order === earlier.order);
	if (isSame) return isUnresolved || other.outcome === 'charged';
	return isUnresolved && refused.customer === earlier.customer;
}

function findWrongSales({ deliveries, startedSales, lostExecutionsAt }: History): Anomaly[] {
	const nameOf = ({ hash, status }: StartedSale): string => `${hash} ${status}`;
	const wanted = deliveries.filter(({ isWanted }) => isWanted);
	const accepted = wanted.filter(({ answered }) => answered === 200);
	const announced = new Set(wanted.map(nameOf));
	const started = startedSales.map(nameOf);
	const unexplained = [...lostExecutionsAt];
	/** Each lost execution accounts for one sale. */
	const isExplained = (sale: string): boolean => {
		const ofSale = accepted.filter((delivery) => nameOf(delivery) === sale);
		const index = unexplained.findIndex((at) =>
			ofSale.some(({ sentAt, answeredAt }) => sentAt <= at && at <= answeredAt),
		);
		return index >= 0 && unexplained.splice(index, 1).length > 0;
	};
	const missing = [...new Set(accepted.map(nameOf))].filter((sale) => !started.includes(sale));
	const lost = missing.filter((sale) => !isExplained(sale));
	const unannounced = [...new Set(started)].filter((sale) => !announced.has(sale));
	return [
		...toAnomalies('sale lost', lost),
		...toAnomalies('sale started twice', findRepeated(started)),
		...toAnomalies('sale without a notification', unannounced),
	];
}

/** n8n and the service share a clock, but timers may round. */
const ROUNDING_MS = 2_000;
/** n8n's timer fires within a minute after a time limit, and again if the read failed. */
const LONGEST_DELAY_MS = 4 * 60_000;

function findWrongWaits({ waits, endedAt }: History): Anomaly[] {
	const waitsThat = (kind: Anomaly['kind'], isWrong: (wait: Wait) => boolean): Anomaly[] =>
		toAnomalies(
			kind,
			waits.filter(isWrong).map((wait) => wait.hash),
		);
	return [
		...waitsThat('payment lost', (wait) => isPaidInTime(wait) && !wait.results.some(isPaid)),
		...waitsThat('wait never ended', (wait) => isOver(wait, endedAt) && wait.results.length === 0),
		...waitsThat('wait ended twice', ({ results }) => {
			return findRepeated(results.map(({ execution }) => execution)).length > 0;
		}),
		...waitsThat('wait ended early', (wait) =>
			wait.results.some((result) => isEarly(wait, result)),
		),
		...waitsThat('paid without a payment', (wait) => {
			return wait.results.some((result) => isPaid(result) && !matchesPayment(wait, result));
		}),
	];
}

const isPaid = ({ paid }: WaitResult): boolean => paid;

function isPaidInTime({ decided, limitAt }: Wait): boolean {
	return decided?.status === 'paid' && decided.at < limitAt - ROUNDING_MS;
}

function isOver({ decided, limitAt }: Wait, endedAt: number): boolean {
	return decided !== undefined || limitAt + LONGEST_DELAY_MS < endedAt;
}

function isEarly(wait: Wait, result: WaitResult): boolean {
	return !result.paid && !matchesPayment(wait, result) && result.at < wait.limitAt - ROUNDING_MS;
}

/** Whether the payment had the status of the item at that moment. */
function matchesPayment({ decided }: Wait, { paid, status, at }: WaitResult): boolean {
	if (!decided || decided.at > at) return false;
	return decided.status === status && paid === (status === 'paid');
}

/** Each value that occurs more than once. */
function findRepeated(values: readonly string[]): string[] {
	return [...new Set(values.filter((value, index) => values.indexOf(value) !== index))];
}
