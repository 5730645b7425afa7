import fc from 'fast-check';
import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { ReadsAtOnce } from '../../../../nodes/DigitalSales/shared/eachLimit';

/** Enters one round: as many reads as are under way at once. */
const round = (reads: ReadsAtOnce, ms: (nth: number) => number): number => {
	const count = reads.now;
	for (let nth = 0; nth < count; nth++) reads.enter(ms(nth));
	return reads.now;
};

describe('Reads at once', () => {
	test('grow from 32 to 96 while they take no longer', () => {
		const reads = new ReadsAtOnce();

		const counts = Array.from({ length: 6 }, () => round(reads, () => 50));

		expect([32, ...counts]).toEqual([32, 48, 64, 80, 96, 96, 96]);
	});

	test.each<[string, (nth: number) => number]>([
		['all take twice as long', () => 100],
		['one is sent again', (nth) => (nth === 7 ? 300 : 50)],
		['one fails', (nth) => (nth === 7 ? Infinity : 50)],
		['all fail', () => Infinity],
	])('halve if %s, are never fewer than 32, and grow again', (_what, ms) => {
		const reads = new ReadsAtOnce();
		for (let nth = 0; nth < 4; nth++) round(reads, () => 50);

		const counts = Array.from({ length: 3 }, () => round(reads, ms));

		expect(counts).toEqual([48, 32, 32]);
		expect(round(reads, () => 50)).toBe(48);
	});

	test('hardly grow for a service that answers 32 at a time', () => {
		const reads = new ReadsAtOnce();

		const counts = Array.from({ length: 40 }, () => {
			const ms = (50 * reads.now) / 32;
			return round(reads, () => ms);
		});

		expect(Math.max(...counts)).toBe(64);
	});

	test.each([
		[300, 10, 48],
		[10, 300, 32],
	])(
		'after %i ms until they are sent and %i ms at the service are %i',
		async (own, service, now) => {
			let elapsed = 0;
			jest.spyOn(clock, 'elapsed').mockImplementation(() => elapsed);
			const turn = jest.spyOn(clock, 'sleep').mockResolvedValue();
			const reads = new ReadsAtOnce();
			for (let nth = 0; nth < 32; nth++) reads.enter(10);
			for (let nth = 0; nth < 48; nth++) reads.enter(10);
			for (let nth = 0; nth < 64; nth++) reads.enter(100);

			const ends = Array.from({ length: 32 }, () => reads.begin());
			elapsed += own;
			await turn.mock.results[0]?.value;
			elapsed += service;
			for (const end of ends) end(true);
			jest.restoreAllMocks();

			expect(reads.now).toBe(now);
		},
	);

	test('are 32 to 96, whatever the service does', () => {
		fc.assert(
			fc.property(fc.array(fc.double({ min: 0, noNaN: true })), (times) => {
				const reads = new ReadsAtOnce();
				for (const ms of times) {
					reads.enter(ms);
					expect(reads.now).toBeGreaterThanOrEqual(32);
					expect(reads.now).toBeLessThanOrEqual(96);
				}
			}),
		);
	});
});
