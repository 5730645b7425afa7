import { Chance } from '../../support/chance';
import {
	anomaliesIn,
	type Asked,
	type Attempt,
	type History,
	type Made,
	type Noticed,
} from '../../host/histories/checker';
import { planFor, timesOf } from '../../host/histories/stage/plan';

const ASK: Asked = { place: 'p1', customer: 'Ana', order: 'o1' };
const SAME_ORDER: Asked = { ...ASK, place: 'p2' };
const WITHOUT_ORDER: Asked = { place: 'p3', customer: 'Bia' };
const SAME_CUSTOMER: Asked = { ...WITHOUT_ORDER, place: 'p4' };

const charged = (place: string, begunAt = 0): Attempt => ({
	place,
	begunAt,
	endedAt: begunAt + 10,
	outcome: 'charged',
});
const made = (ask: Asked, hash = `of ${ask.place}`): Made => ({ ...ask, hash, isPayable: true });
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
	...some,
});
const kindsIn = (some: Partial<History>): string[] =>
	anomaliesIn(historyOf(some)).map(({ kind }) => kind);

describe('A history that is right', () => {
	test.each<[string, Partial<History>]>([
		['with nothing in it', {}],
		['with a charge', { attempts: [charged('p1')], made: [made(ASK)] }],
		[
			'with an order that came to nothing, and was made again',
			{
				attempts: [charged('p1'), charged('p2', 20)],
				made: [{ ...made(ASK), isPayable: false }, made(SAME_ORDER)],
			},
		],
		[
			'with the same customer, without an order, in two executions',
			{
				attempts: [charged('p3'), charged('p4', 20)],
				made: [made(WITHOUT_ORDER), made(SAME_CUSTOMER)],
			},
		],
		[
			'with a charge that was returned to a Retry',
			{ attempts: [charged('p1'), charged('p1', 20)], made: [made(ASK)] },
		],
		[
			'with a charge of unknown outcome',
			{ attempts: [{ ...charged('p1'), outcome: 'unknown' }], made: [made(ASK)] },
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
	])('%s', (_what, some) => expect(kindsIn(some)).toEqual([]));

	test.each<[string, Attempt, Asked['place']]>([
		['the order is charged at that moment', { ...charged('p1', 15), endedAt: 40 }, 'p2'],
		['the order was charged before', charged('p1'), 'p2'],
		['the outcome of the order is unknown', { ...charged('p1'), outcome: 'unknown' }, 'p2'],
		['what was entered may have stayed', { ...charged('p1'), outcome: 'notRecorded' }, 'p2'],
		['the place was charged before', charged('p3'), 'p3'],
		['the customer is charged at that moment', { ...charged('p3'), endedAt: 25 }, 'p4'],
		['that of the customer is unknown', { ...charged('p3'), outcome: 'unknown' }, 'p4'],
	])('with a refusal in doubt: %s', (_what, cause, place) => {
		const doubt: Attempt = { place, begunAt: 20, endedAt: 30, outcome: 'inDoubt' };

		expect(kindsIn({ attempts: [cause, doubt] })).toEqual([]);
	});
});

describe('A history that is wrong', () => {
	test.each<[string, Partial<History>]>([
		[
			'order charged twice',
			{ attempts: [charged('p1'), charged('p2')], made: [made(ASK), made(SAME_ORDER)] },
		],
		[
			'place charged twice',
			{
				attempts: [charged('p3'), charged('p3', 20)],
				made: [made(WITHOUT_ORDER), made(WITHOUT_ORDER, 'again')],
			},
		],
		[
			'charged without being asked',
			{ attempts: [charged('p5')], made: [made({ ...ASK, place: 'p5' })] },
		],
		[
			'charged without being asked',
			{ attempts: [charged('p1')], made: [made({ ...ASK, customer: 'Caio' })] },
		],
		[
			'charge that nobody tells of',
			{ attempts: [{ ...charged('p1'), outcome: 'notMade' }], made: [made(ASK)] },
		],
		[
			'charge that nobody tells of',
			{ attempts: [{ ...charged('p1'), outcome: 'notRecorded' }], made: [made(ASK)] },
		],
		['sale lost', { noticed: [notice()] }],
		['sale lost', { noticed: [notice()], forgotten: [5, 25] }],
		['sale lost', { noticed: [notice(), notice({ hash: 'h2' })], forgotten: [15] }],
		['sale started twice', { noticed: [notice(), notice()], emitted: [SALE, SALE] }],
		['item without a notice', { emitted: [SALE] }],
		['item without a notice', { noticed: [notice({ isWanted: false })], emitted: [SALE] }],
	])('%s', (kind, some) => expect(kindsIn(some)).toEqual([kind]));

	test.each<[string, Attempt[], Asked['place']]>([
		['nothing came before', [], 'p1'],
		['it began later', [charged('p1', 31)], 'p2'],
		['the order was refused', [{ ...charged('p1'), outcome: 'notMade' }], 'p2'],
		['another refusal is none', [{ ...charged('p1'), outcome: 'inDoubt' }], 'p2'],
		['another customer', [{ ...charged('p1'), outcome: 'unknown' }], 'p3'],
		['the customer was charged, and the outcome is known', [charged('p3')], 'p4'],
	])('doubt without a cause: %s', (_what, attempts, place) => {
		const doubt: Attempt = { place, begunAt: 20, endedAt: 30, outcome: 'inDoubt' };
		const kinds = kindsIn({ attempts: [...attempts, doubt] });

		expect(kinds).toContain('doubt without a cause');
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
});
