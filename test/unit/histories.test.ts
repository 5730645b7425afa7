import { Chance } from '../helpers/chance';
import {
	anomaliesIn,
	type Asked,
	type Attempt,
	type AttemptOutcome,
	type History,
	type Made,
	type Noticed,
	type Wait,
} from '../helpers/crash/checker';
import { planFor, timesOf } from '../helpers/crash/plan';

const ASK: Asked = { place: 'p1', customer: 'Ana', order: 'o1' };
const SAME_ORDER: Asked = { ...ASK, place: 'p2' };
const WITHOUT_ORDER: Asked = { place: 'p3', customer: 'Bia' };
const SAME_CUSTOMER: Asked = { ...WITHOUT_ORDER, place: 'p4' };

const attempt = (place: string, outcome: AttemptOutcome, begunAt = 0): Attempt => ({
	place,
	begunAt,
	endedAt: begunAt + 10,
	outcome,
});
const made = (ask: Asked): Made => ({ ...ask, hash: `of ${ask.place}`, isPayable: true });
/** Charges that were asked for, one after the other. */
const charged = (...asks: Asked[]): Pick<History, 'attempts' | 'made'> => ({
	attempts: asks.map(({ place }, nth) => attempt(place, 'charged', 20 * nth)),
	made: asks.map(made),
});
const notice = (more: Partial<Noticed> = {}): Noticed => ({
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
	asked: [ASK, SAME_ORDER, WITHOUT_ORDER, SAME_CUSTOMER],
	attempts: [],
	made: [],
	noticed: [],
	emitted: [],
	forgotten: [],
	waits: [],
	endedAt: 1_000_000,
	...some,
});
const LIMIT_AT = 100_000;
const waited = (more: Partial<Wait> = {}): Pick<History, 'waits'> => ({
	waits: [{ hash: 'w1', limitAt: LIMIT_AT, wentOn: [], ...more }],
});
const PAID = { status: 'paid', at: 50_000 };
const CANCELED = { status: 'canceled', at: 50_000 };
const WENT_ON = { execution: '7', paid: true, status: 'paid', at: 60_000 };
const NOT_PAID = { ...WENT_ON, paid: false, status: 'canceled' };
const OUT_OF_TIME = { ...NOT_PAID, status: 'waiting_payment', at: LIMIT_AT + 1 };
const kindsIn = (some: Partial<History>): string[] =>
	anomaliesIn(historyOf(some)).map(({ kind }) => kind);

/** A refusal as in doubt, after what was attempted before. */
const refusedAfter = (place: string, ...attempts: Attempt[]): string[] =>
	kindsIn({ attempts: [...attempts, attempt(place, 'inDoubt', 20)] });

describe('A history that is right', () => {
	test.each<[string, Partial<History>]>([
		['with nothing in it', {}],
		['with a charge', charged(ASK)],
		[
			'with an order that came to nothing, and was made again',
			{
				...charged(ASK, SAME_ORDER),
				made: [{ ...made(ASK), isPayable: false }, made(SAME_ORDER)],
			},
		],
		['with the same customer, without an order', charged(WITHOUT_ORDER, SAME_CUSTOMER)],
		['with a charge that was returned to a Retry', { ...charged(ASK, ASK), made: [made(ASK)] }],
		[
			'with a charge of unknown outcome',
			{ attempts: [attempt('p1', 'unknown')], made: [made(ASK)] },
		],
		[
			'with a sale told three times, refused once',
			{ noticed: [notice({ answered: 503 }), notice(), notice()], emitted: [SALE] },
		],
		['with a sale that n8n has forgotten', { noticed: [notice()], forgotten: [15] }],
		['with a notice that is not wanted', { noticed: [notice({ isWanted: false })] }],
		['with a notice that was cut off', { noticed: [notice({ answered: undefined })] }],
		[
			'with a notice that was cut off and taken all the same',
			{ noticed: [notice({ answered: undefined })], emitted: [SALE] },
		],
		['with a payment that is still open', waited({ limitAt: 2_000_000 })],
		['with a payment', waited({ decided: PAID, wentOn: [WENT_ON] })],
		['with one that was canceled', waited({ decided: CANCELED, wentOn: [NOT_PAID] })],
		['with one that was out of time', waited({ wentOn: [OUT_OF_TIME] })],
		[
			'with one that was paid after the time limit',
			waited({ decided: { ...PAID, at: LIMIT_AT }, wentOn: [OUT_OF_TIME] }),
		],
		[
			'with a payment that a Retry has handed on again',
			waited({ decided: PAID, wentOn: [WENT_ON, { ...WENT_ON, execution: '8' }] }),
		],
	])('%s', (_what, some) => expect(kindsIn(some)).toEqual([]));

	test.each<[string, string, Attempt]>([
		['the order is charged at that moment', 'p2', { ...attempt('p1', 'charged', 15), endedAt: 40 }],
		['the order was charged before', 'p2', attempt('p1', 'charged')],
		['the outcome of the order is unknown', 'p2', attempt('p1', 'unknown')],
		['what was entered may have stayed', 'p2', attempt('p1', 'notRecorded')],
		['the place was charged before', 'p3', attempt('p3', 'charged')],
		['the customer is charged at that moment', 'p4', { ...attempt('p3', 'charged'), endedAt: 25 }],
		['that of the customer is unknown', 'p4', attempt('p3', 'unknown')],
	])('with a refusal in doubt: %s', (_what, place, cause) => {
		expect(refusedAfter(place, cause)).toEqual([]);
	});
});

describe('A history that is wrong', () => {
	test.each<[string, Partial<History>]>([
		['order charged twice', charged(ASK, SAME_ORDER)],
		['place charged twice', charged(WITHOUT_ORDER, WITHOUT_ORDER)],
		['charged without being asked', charged({ ...ASK, place: 'p5' })],
		['charged without being asked', charged({ ...ASK, customer: 'Caio' })],
		[
			'charge that nobody tells of',
			{ attempts: [attempt('p1', 'notMade'), attempt('p1', 'notRecorded')], made: [made(ASK)] },
		],
		['sale lost', { noticed: [notice()] }],
		['sale lost', { noticed: [notice()], forgotten: [5, 25] }],
		['sale lost', { noticed: [notice(), notice({ hash: 'h2' })], forgotten: [15] }],
		['sale started twice', { noticed: [notice(), notice()], emitted: [SALE, SALE] }],
		['item without a notice', { emitted: [SALE] }],
		['item without a notice', { noticed: [notice({ isWanted: false })], emitted: [SALE] }],
		['payment lost', waited({ decided: PAID, wentOn: [OUT_OF_TIME] })],
		['wait never ended', waited({ decided: CANCELED })],
		['wait never ended', waited()],
		['wait ended twice', waited({ decided: PAID, wentOn: [WENT_ON, WENT_ON] })],
		['wait ended early', waited({ wentOn: [{ ...OUT_OF_TIME, at: 60_000 }] })],
		['wait ended early', waited({ decided: CANCELED, wentOn: [{ ...NOT_PAID, at: 40_000 }] })],
		['paid without a payment', waited({ wentOn: [WENT_ON] })],
		['paid without a payment', waited({ decided: CANCELED, wentOn: [WENT_ON] })],
		['paid without a payment', waited({ decided: PAID, wentOn: [{ ...WENT_ON, at: 40_000 }] })],
	])('%s', (kind, some) => expect(kindsIn(some)).toEqual([kind]));

	test.each<[string, string, ...Attempt[]]>([
		['nothing came before', 'p1'],
		['it began later', 'p2', attempt('p1', 'charged', 31)],
		['the order was refused', 'p2', attempt('p1', 'notMade')],
		['another refusal is none', 'p2', attempt('p1', 'inDoubt')],
		['another customer', 'p3', attempt('p1', 'unknown')],
		['the customer was charged, and the outcome is known', 'p4', attempt('p3', 'charged')],
	])('doubt without a cause: %s', (_what, place, ...attempts) => {
		expect(refusedAfter(place, ...attempts)).toContain('doubt without a cause');
	});
});

const SIZE = { operations: 500, kills: 5, restarts: 2 };

describe('The plan of a history', () => {
	const plan = planFor(new Chance(7), SIZE);
	const countOf = (...kinds: string[]): number =>
		plan.steps.filter(({ step }) => kinds.includes(step.kind)).length;

	test('follows from its seed', () => {
		expect(planFor(new Chance(7), SIZE)).toEqual(plan);
		expect(planFor(new Chance(8), SIZE)).not.toEqual(plan);
	});

	test('is as large as it was ordered', () => {
		const operations = plan.steps.reduce((sum, { step }) => sum + timesOf(step), 0);
		expect(operations).toBeGreaterThanOrEqual(SIZE.operations);
		expect(operations).toBeLessThan(SIZE.operations + 3);
		expect([countOf('kill'), countOf('restart')]).toEqual([5, 4]);
	});

	test('asks for everything that a history is made of', () => {
		const asks = plan.steps.flatMap(({ step }) => (step.kind === 'ask' ? [step] : []));
		const orders = asks.flatMap(({ asks }) => asks.flatMap(({ order }) => order ?? []));
		expect(asks.some(({ asks }) => asks.length > 1)).toBe(true);
		expect(new Set(orders).size).toBeLessThan(orders.length);
		expect(asks.some(({ asks }) => asks[0]?.order === undefined)).toBe(true);
		expect(countOf('retry')).toBeGreaterThan(0);
		expect(countOf('tell')).toBeGreaterThan(0);
	});

	test('decides the payments that are waited for, most of them, and never one before', () => {
		const ways = new Map<string, string>();
		const about = plan.steps.flatMap(({ step }) => {
			if (step.kind === 'await') ways.set(step.ask.customer, step.way);
			if (step.kind !== 'decide' && step.kind !== 'claim') return [];
			return [{ kind: step.kind, way: ways.get(step.customer) }];
		});
		expect(new Set(ways.values())).toEqual(new Set(['told', 'untold', 'brief']));
		expect(about.filter(({ way }) => way === undefined)).toEqual([]);
		expect(about).not.toContainEqual({ kind: 'claim', way: 'untold' });
		expect(countOf('claim')).toBeGreaterThan(0);
		expect(countOf('decide')).toBeGreaterThan(ways.size / 2);
		expect(countOf('decide')).toBeLessThan(ways.size);
	});
});
