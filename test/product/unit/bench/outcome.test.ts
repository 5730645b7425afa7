import { isFailure, isMet, type Goal, type Outcome } from '../../../tools/bench/outcome';
import { svgOf } from '../../../tools/bench/report/plot';
import { tableOf } from '../../../tools/bench/report/table';
import { sampleOf } from '../../../tools/bench/statistics';

const row = (ours: number[], peer: number[], goal?: Goal): Outcome => ({
	what: 'a row',
	unit: 'ms',
	ours: sampleOf(ours),
	peer: { name: 'the peer', figures: sampleOf(peer) },
	goal,
});
const HALF: Goal = { of: 'ratio', bound: 'atMost', value: 0.5 };

describe('A row of the bench', () => {
	test('is judged by the ratio of the medians', () => {
		expect(isMet(row([1, 40, 900], [100, 100, 100], HALF))).toBe(true);
		expect(isMet(row([1, 60, 70], [100, 100, 100], HALF))).toBe(false);
		expect(isMet(row([30, 30], [20, 20], { of: 'ratio', bound: 'atLeast', value: 1.2 }))).toBe(
			true,
		);
		expect(isMet(row([31], [1], { of: 'ours', bound: 'atMost', value: 30 }))).toBe(false);
		expect(isMet(row([1], [1]))).toBeUndefined();
		const floor: Goal = { of: 'floor', bound: 'atMost', value: 1.25 };
		expect(isMet({ ...row([13], [1], floor), floor: sampleOf([10]) })).toBe(false);
		expect(isMet({ ...row([12], [1], floor), floor: sampleOf([10]) })).toBe(true);
		expect(() => isMet(row([12], [1], floor))).toThrow('nothing to be compared with');
	});

	test('fails the run where its goal is missed and nobody has said why', () => {
		expect(isFailure(row([60], [100], HALF))).toBe(true);
		expect(isFailure(row([60], [100], { ...HALF, missedBecause: 'round trips' }))).toBe(false);
		expect(isFailure(row([60], [100], { ...HALF, isOnlyShown: true }))).toBe(false);
		expect(isFailure(row([40], [100], HALF))).toBe(false);
	});

	test('shows medians, the ends, the ratio and the verdict', () => {
		expect(
			tableOf([row([10, 60, 70], [100], HALF)])
				.split('\n')
				.at(-1),
		).toBe('| a row | 60 ms (10 – 70) | the peer | 100 ms | 0.60 |  |  | ≤ 0.5 | missed |');
		const floor: Goal = { of: 'floor', bound: 'atMost', value: 1.25 };
		expect(
			tableOf([{ ...row([12], [100], floor), floor: sampleOf([10]) }])
				.split('\n')
				.at(-1),
		).toBe(
			'| a row | 12 ms | the peer | 100 ms | 0.12 | 10 ms | 1.20 | ≤ 1.25 × n8n itself | met |',
		);
	});
});

test('the median of an even number of rounds lies between the two in the middle', () => {
	expect(sampleOf([4, 1, 3, 2])).toEqual({ median: 2.5, least: 1, most: 4, rounds: 4 });
});

test('a plot draws every point inside of its axes', () => {
	const svg = svgOf({
		name: 'plot',
		title: 'A < B',
		xLabel: 'x',
		yLabel: 'y',
		lines: [
			{
				label: 'ours',
				points: [
					[5_000, 0.4],
					[50_000, 7.1],
				],
			},
		],
	});
	const circles = [...svg.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)];
	expect(circles).toHaveLength(2);
	for (const [, x, y] of circles) {
		expect(Number(x)).toBeGreaterThan(70);
		expect(Number(x)).toBeLessThanOrEqual(620);
		expect(Number(y)).toBeGreaterThanOrEqual(50);
		expect(Number(y)).toBeLessThan(300);
	}
	expect(svg).toContain('A &lt; B');
});
