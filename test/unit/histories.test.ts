import { Chance } from '../helpers/chance';
import {
	findAnomalies,
	type ChargeRequest,
	type Attempt,
	type AttemptOutcome,
	type History,
	type CreatedCharge,
	type Delivery,
	type Wait,
} from '../helpers/crash/checker';
import { makePlan, countOperations } from '../helpers/crash/plan';

const REQUEST: ChargeRequest = { slot: 'p1', customer: 'Ana', order: 'o1' };
const SAME_ORDER: ChargeRequest = { ...REQUEST, slot: 'p2' };
const WITHOUT_ORDER: ChargeRequest = { slot: 'p3', customer: 'Bia' };
const SAME_CUSTOMER: ChargeRequest = { ...WITHOUT_ORDER, slot: 'p4' };

const attempt = (slot: string, outcome: AttemptOutcome, begunAt = 0): Attempt => ({
	slot,
	begunAt,
	endedAt: begunAt + 10,
	outcome,
});
const chargeOf = (request: ChargeRequest): CreatedCharge => ({
	...request,
	hash: `of ${request.slot}`,
	isPayable: true,
});
/** Charges that were requests for, one after the other. */
const charged = (...requests: ChargeRequest[]): Pick<History, 'attempts' | 'charges'> => ({
	attempts: requests.map(({ slot }, nth) => attempt(slot, 'charged', 20 * nth)),
	charges: requests.map(chargeOf),
});
const delivery = (more: Partial<Delivery> = {}): Delivery => ({
	hash: 'h1',
	status: 'paid',
	answered: 200,
	isWanted: true,
	sentAt: 10,
	answeredAt: 20,
	...more,
});
const SALE = { hash: 'h1', status: 'paid' };
const historyOf = (some: Partial<History>): History => ({
	requests: [REQUEST, SAME_ORDER, WITHOUT_ORDER, SAME_CUSTOMER],
	attempts: [],
	charges: [],
	deliveries: [],
	startedSales: [],
	lostExecutionsAt: [],
	waits: [],
	endedAt: 1_000_000,
	...some,
});
const LIMIT_AT = 100_000;
const waited = (more: Partial<Wait> = {}): Pick<History, 'waits'> => ({
	waits: [{ hash: 'w1', limitAt: LIMIT_AT, results: [], ...more }],
});
const PAID = { status: 'paid', at: 50_000 };
const CANCELED = { status: 'canceled', at: 50_000 };
const PAID_RESULT = { execution: '7', paid: true, status: 'paid', at: 60_000 };
const CANCELED_RESULT = { ...PAID_RESULT, paid: false, status: 'canceled' };
const TIMEOUT_RESULT = { ...CANCELED_RESULT, status: 'waiting_payment', at: LIMIT_AT + 1 };
const kindsIn = (some: Partial<History>): string[] =>
	findAnomalies(historyOf(some)).map(({ kind }) => kind);

/** The anomalies of a refusal as unresolved, after earlier attempts. */
const refusedAfter = (slot: string, ...attempts: Attempt[]): string[] =>
	kindsIn({ attempts: [...attempts, attempt(slot, 'unresolved', 20)] });

describe('A correct history', () => {
	test.each<[string, Partial<History>]>([
		['with nothing in it', {}],
		['with a charge', charged(REQUEST)],
		[
			'with an order that was charged again after its charge expired',
			{
				...charged(REQUEST, SAME_ORDER),
				charges: [{ ...chargeOf(REQUEST), isPayable: false }, chargeOf(SAME_ORDER)],
			},
		],
		['with the same customer, without an order', charged(WITHOUT_ORDER, SAME_CUSTOMER)],
		[
			'with a Retry that found its charge',
			{ ...charged(REQUEST, REQUEST), charges: [chargeOf(REQUEST)] },
		],
		[
			'with a charge of unknown outcome',
			{ attempts: [attempt('p1', 'unknown')], charges: [chargeOf(REQUEST)] },
		],
		[
			'with a sale that was notified three times, once answered 503',
			{ deliveries: [delivery({ answered: 503 }), delivery(), delivery()], startedSales: [SALE] },
		],
		[
			'with a sale whose execution n8n has lost',
			{ deliveries: [delivery()], lostExecutionsAt: [15] },
		],
		[
			'with a notification that the filters keep out',
			{ deliveries: [delivery({ isWanted: false })] },
		],
		['with a notification that was cut off', { deliveries: [delivery({ answered: undefined })] }],
		[
			'with a notification that was cut off and started the workflow anyway',
			{ deliveries: [delivery({ answered: undefined })], startedSales: [SALE] },
		],
		['with a payment that is still open', waited({ limitAt: 2_000_000 })],
		['with a payment', waited({ decided: PAID, results: [PAID_RESULT] })],
		['with a payment that was canceled', waited({ decided: CANCELED, results: [CANCELED_RESULT] })],
		['with a payment that was not made in time', waited({ results: [TIMEOUT_RESULT] })],
		[
			'with a payment after the time limit',
			waited({ decided: { ...PAID, at: LIMIT_AT }, results: [TIMEOUT_RESULT] }),
		],
		[
			'with a payment that a Retry put out again',
			waited({ decided: PAID, results: [PAID_RESULT, { ...PAID_RESULT, execution: '8' }] }),
		],
	])('%s', (_what, some) => expect(kindsIn(some)).toEqual([]));

	test.each<[string, string, Attempt]>([
		['the order is charged at that moment', 'p2', { ...attempt('p1', 'charged', 15), endedAt: 40 }],
		['the order was charged before', 'p2', attempt('p1', 'charged')],
		['the outcome of the order is unknown', 'p2', attempt('p1', 'unknown')],
		['an earlier attempt may have recorded its keys', 'p2', attempt('p1', 'notRecorded')],
		['the slot was charged before', 'p3', attempt('p3', 'charged')],
		['the customer is charged at that moment', 'p4', { ...attempt('p3', 'charged'), endedAt: 25 }],
		['the outcome of the customer is unknown', 'p4', attempt('p3', 'unknown')],
	])('with a refusal: %s', (_what, slot, cause) => {
		expect(refusedAfter(slot, cause)).toEqual([]);
	});
});

describe('A wrong history', () => {
	test.each<[string, Partial<History>]>([
		['order charged twice', charged(REQUEST, SAME_ORDER)],
		['slot charged twice', charged(WITHOUT_ORDER, WITHOUT_ORDER)],
		['charge without a request', charged({ ...REQUEST, slot: 'p5' })],
		['charge without a request', charged({ ...REQUEST, customer: 'Caio' })],
		[
			'charge without a report',
			{
				attempts: [attempt('p1', 'notCreated'), attempt('p1', 'notRecorded')],
				charges: [chargeOf(REQUEST)],
			},
		],
		['sale lost', { deliveries: [delivery()] }],
		['sale lost', { deliveries: [delivery()], lostExecutionsAt: [5, 25] }],
		['sale lost', { deliveries: [delivery(), delivery({ hash: 'h2' })], lostExecutionsAt: [15] }],
		['sale started twice', { deliveries: [delivery(), delivery()], startedSales: [SALE, SALE] }],
		['sale without a notification', { startedSales: [SALE] }],
		[
			'sale without a notification',
			{ deliveries: [delivery({ isWanted: false })], startedSales: [SALE] },
		],
		['payment lost', waited({ decided: PAID, results: [TIMEOUT_RESULT] })],
		['wait never ended', waited({ decided: CANCELED })],
		['wait never ended', waited()],
		['wait ended twice', waited({ decided: PAID, results: [PAID_RESULT, PAID_RESULT] })],
		['wait ended early', waited({ results: [{ ...TIMEOUT_RESULT, at: 60_000 }] })],
		[
			'wait ended early',
			waited({ decided: CANCELED, results: [{ ...CANCELED_RESULT, at: 40_000 }] }),
		],
		['paid without a payment', waited({ results: [PAID_RESULT] })],
		['paid without a payment', waited({ decided: CANCELED, results: [PAID_RESULT] })],
		[
			'paid without a payment',
			waited({ decided: PAID, results: [{ ...PAID_RESULT, at: 40_000 }] }),
		],
	])('%s', (kind, some) => expect(kindsIn(some)).toEqual([kind]));

	test.each<[string, string, ...Attempt[]]>([
		['nothing came before', 'p1'],
		['the other attempt began later', 'p2', attempt('p1', 'charged', 31)],
		['the order was refused', 'p2', attempt('p1', 'notCreated')],
		['the other attempt was refused, too', 'p2', attempt('p1', 'unresolved')],
		['the other attempt was for another customer', 'p3', attempt('p1', 'unknown')],
		['the customer was charged, and the outcome is known', 'p4', attempt('p3', 'charged')],
	])('refusal without a cause: %s', (_what, slot, ...attempts) => {
		expect(refusedAfter(slot, ...attempts)).toContain('refusal without a cause');
	});
});

const SIZE = { operations: 500, kills: 5, restarts: 2 };

describe('The plan of a history', () => {
	const plan = makePlan(new Chance(7), SIZE);
	const countOf = (...kinds: string[]): number =>
		plan.steps.filter(({ step }) => kinds.includes(step.kind)).length;

	test('follows from its seed', () => {
		expect(makePlan(new Chance(7), SIZE)).toEqual(plan);
		expect(makePlan(new Chance(8), SIZE)).not.toEqual(plan);
	});

	test('has the requested size', () => {
		const operations = plan.steps.reduce((sum, { step }) => sum + countOperations(step), 0);
		expect(operations).toBeGreaterThanOrEqual(SIZE.operations);
		expect(operations).toBeLessThan(SIZE.operations + 3);
		expect([countOf('kill'), countOf('restart')]).toEqual([5, 4]);
	});

	test('contains every kind of request', () => {
		const charges = plan.steps.flatMap(({ step }) => (step.kind === 'charge' ? [step] : []));
		const orders = charges.flatMap(({ requests }) => requests.flatMap(({ order }) => order ?? []));
		expect(charges.some(({ requests }) => requests.length > 1)).toBe(true);
		expect(new Set(orders).size).toBeLessThan(orders.length);
		expect(charges.some(({ requests }) => requests[0]?.order === undefined)).toBe(true);
		expect(countOf('retry')).toBeGreaterThan(0);
		expect(countOf('notify')).toBeGreaterThan(0);
	});

	test('settles most of the payments that an execution waits for, and no other', () => {
		const waits = new Map<string, string>();
		const about = plan.steps.flatMap(({ step }) => {
			if (step.kind === 'wait') waits.set(step.request.customer, step.wait);
			if (step.kind !== 'settle' && step.kind !== 'claimPaid') return [];
			return [{ kind: step.kind, wait: waits.get(step.customer) }];
		});
		expect(new Set(waits.values())).toEqual(new Set(['notified', 'unnotified', 'shortLimit']));
		expect(about.filter(({ wait }) => wait === undefined)).toEqual([]);
		expect(about).not.toContainEqual({ kind: 'claimPaid', wait: 'unnotified' });
		expect(countOf('claimPaid')).toBeGreaterThan(0);
		expect(countOf('settle')).toBeGreaterThan(waits.size / 2);
		expect(countOf('settle')).toBeLessThan(waits.size);
	});
});
