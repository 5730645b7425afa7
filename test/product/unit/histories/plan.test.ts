import { Chance } from '../../../host/crash/stage/chance';
import { planFor, timesOf } from '../../../host/histories/stage/plan';

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
