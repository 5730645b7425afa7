/** A charge that somebody asks for; n8n's Retry of the execution asks for the same place again. */
export interface Asked {
	/** Names the execution as it first began, and the item. */
	place: string;
	customer: string;
	order?: string;
}

/** How an execution's attempt to charge ended. */
export type AttemptOutcome =
	/** It went on with a transaction, a new one or the existing one. */
	| 'charged'
	/** The service refused it, or nothing was sent. */
	| 'notMade'
	/** Refused, since it may have been made before. */
	| 'inDoubt'
	/** Nothing was sent, since n8n's database failed; what it has taken of the entry may stay. */
	| 'notRecorded'
	/** Nobody knows whether it was made: no answer, a crash. */
	| 'unknown';

/** One try to charge a place, by its execution or a Retry. Times are in milliseconds. */
export interface Attempt {
	place: string;
	begunAt: number;
	endedAt: number;
	outcome: AttemptOutcome;
}

/** What the service really made. */
export interface Made extends Asked {
	hash: string;
	/** Neither expired, refused nor canceled. */
	isPayable: boolean;
}

/** A notice, each repetition for itself. */
export interface Noticed {
	hash: string;
	status: string;
	/** The status of the answer; none if the process was killed meanwhile. */
	answered?: number;
	/** Whether the filters of the trigger let it through. */
	isWanted: boolean;
	sentAt: number;
	/** Or cut off. */
	answeredAt: number;
}

/** An item that came out of the trigger. */
export type Emitted = Pick<Noticed, 'hash' | 'status'>;

/** A payment that an execution waited for, be it the one that first began or a Retry of it. */
export interface Wait {
	hash: string;
	/** The earliest moment at which its time limit can be over. */
	limitAt: number;
	/** What the service has made of the payment; nothing while it is open. */
	decided?: { status: string; at: number };
	wentOn: readonly WentOn[];
}

/** An item that came out of a wait. */
export interface WentOn {
	execution: string;
	paid: boolean;
	status: string;
	at: number;
}

/** All that was asked and answered, and the outcome. */
export interface History {
	asked: readonly Asked[];
	attempts: readonly Attempt[];
	made: readonly Made[];
	noticed: readonly Noticed[];
	/** After each crashed execution was retried once. */
	emitted: readonly Emitted[];
	/**
	 * When executions were stored that a sale has started and of which n8n has kept nothing, so that a
	 * Retry has nothing to run: it does so if the worker dies.
	 */
	forgotten: readonly number[];
	waits: readonly Wait[];
	/** When nothing went on any more. */
	endedAt: number;
}

/** What must not happen. */
export interface Anomaly {
	kind:
		| 'order charged twice'
		| 'place charged twice'
		| 'charged without being asked'
		| 'charge that nobody tells of'
		| 'doubt without a cause'
		| 'sale lost'
		| 'sale started twice'
		| 'item without a notice'
		| 'payment lost'
		| 'wait never ended'
		| 'wait ended twice'
		| 'wait ended early'
		| 'paid without a payment';
	what: string;
}

/** Judges a whole history; right is one without anomalies. */
export function anomaliesIn(history: History): Anomaly[] {
	return [
		...chargedTwice(history),
		...notAsked(history),
		...notTold(history),
		...causeless(history),
		...wronglyEmitted(history),
		...wronglyWaited(history),
	];
}

function anomalies(kind: Anomaly['kind'], whats: string[]): Anomaly[] {
	return whats.map((what) => ({ kind, what }));
}

function chargedTwice({ made }: History): Anomaly[] {
	const payable = made.filter(({ isPayable }) => isPayable);
	const orders = payable.flatMap(({ order }) => order ?? []);
	const places = payable.map(({ place }) => place);
	return [
		...anomalies('order charged twice', repeated(orders)),
		...anomalies('place charged twice', repeated(places)),
	];
}

function notAsked({ asked, made }: History): Anomaly[] {
	const isAsked = ({ place, customer, order }: Made): boolean =>
		asked.some((ask) => ask.place === place && ask.customer === customer && ask.order === order);
	const unasked = made.filter((one) => !isAsked(one)).map(({ hash }) => hash);
	return anomalies('charged without being asked', unasked);
}

/** Each customer who was charged has a transaction that goes on, or an attempt that nobody calls a failure. */
function notTold({ attempts, made }: History): Anomaly[] {
	const mayBeMade = attempts.filter(({ outcome }) => !['notMade', 'notRecorded'].includes(outcome));
	const told = new Set(mayBeMade.map(({ place }) => place));
	const untold = made.filter(({ place }) => !told.has(place)).map(({ hash }) => hash);
	return anomalies('charge that nobody tells of', untold);
}

function causeless({ asked, attempts }: History): Anomaly[] {
	const asks = new Map(asked.map((ask) => [ask.place, ask]));
	const places = attempts
		.filter(({ outcome }) => outcome === 'inDoubt')
		.filter((doubt) => !attempts.some((other) => isCause(other, doubt, asks)))
		.map(({ place }) => place);
	return anomalies('doubt without a cause', places);
}

/**
 * Of an order or a place every process knows that it was charged; of a customer only whether the
 * outcome is still open.
 */
function isCause(other: Attempt, doubt: Attempt, asks: ReadonlyMap<string, Asked>): boolean {
	if (other === doubt || other.begunAt > doubt.endedAt) return false;
	const [mine, others] = [asks.get(doubt.place), asks.get(other.place)];
	if (!mine || !others) return false;
	const isUnderWay = other.endedAt >= doubt.begunAt;
	const isOpen = isUnderWay || ['unknown', 'notRecorded'].includes(other.outcome);
	const isSame =
		doubt.place === other.place || (mine.order !== undefined && mine.order === others.order);
	if (isSame) return isOpen || other.outcome === 'charged';
	return isOpen && mine.customer === others.customer;
}

function wronglyEmitted({ noticed, emitted, forgotten }: History): Anomaly[] {
	const key = ({ hash, status }: Emitted): string => `${hash} ${status}`;
	const wanted = noticed.filter(({ isWanted }) => isWanted);
	const taken = wanted.filter(({ answered }) => answered === 200);
	const known = new Set(wanted.map(key));
	const items = emitted.map(key);
	const open = [...forgotten];
	/** Each forgotten execution accounts for one sale. */
	const isForgotten = (sale: string): boolean => {
		const notices = taken.filter((notice) => key(notice) === sale);
		const place = open.findIndex((at) =>
			notices.some(({ sentAt, answeredAt }) => sentAt <= at && at <= answeredAt),
		);
		return place >= 0 && open.splice(place, 1).length > 0;
	};
	const missing = [...new Set(taken.map(key))].filter((sale) => !items.includes(sale));
	const lost = missing.filter((sale) => !isForgotten(sale));
	const strange = [...new Set(items)].filter((sale) => !known.has(sale));
	return [
		...anomalies('sale lost', lost),
		...anomalies('sale started twice', repeated(items)),
		...anomalies('item without a notice', strange),
	];
}

/** n8n's clock and that of the service are the same, but a timer may be rounded. */
const ROUNDED_MS = 2_000;
/** After a limit n8n's timer comes within a minute, and again if the read failed. */
const LATE_MS = 4 * 60_000;

function wronglyWaited({ waits, endedAt }: History): Anomaly[] {
	const of = (kind: Anomaly['kind'], isWrong: (wait: Wait) => boolean): Anomaly[] =>
		anomalies(
			kind,
			waits.filter(isWrong).map((wait) => wait.hash),
		);
	return [
		...of('payment lost', (wait) => isPaidInTime(wait) && !wait.wentOn.some(({ paid }) => paid)),
		...of('wait never ended', (wait) => isOver(wait, endedAt) && wait.wentOn.length === 0),
		...of('wait ended twice', ({ wentOn }) => {
			return repeated(wentOn.map(({ execution }) => execution)).length > 0;
		}),
		...of('wait ended early', (wait) => wait.wentOn.some((end) => isEarly(wait, end))),
		...of('paid without a payment', (wait) => {
			return wait.wentOn.some((end) => end.paid && !isTrue(wait, end));
		}),
	];
}

function isPaidInTime({ decided, limitAt }: Wait): boolean {
	return decided?.status === 'paid' && decided.at < limitAt - ROUNDED_MS;
}

function isOver({ decided, limitAt }: Wait, endedAt: number): boolean {
	return decided !== undefined || limitAt + LATE_MS < endedAt;
}

function isEarly(wait: Wait, end: WentOn): boolean {
	return !end.paid && !isTrue(wait, end) && end.at < wait.limitAt - ROUNDED_MS;
}

/** Whether the payment was decided as the item says. */
function isTrue({ decided }: Wait, { paid, status, at }: WentOn): boolean {
	if (!decided || decided.at > at) return false;
	return decided.status === status && paid === (status === 'paid');
}

/** Those that are there more than once, each once. */
function repeated(values: readonly string[]): string[] {
	return [...new Set(values.filter((value, place) => values.indexOf(value) !== place))];
}
