import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import type { ParkedRun } from '../harness';
import { received, useWaitingRoom } from '../support/waiting';

describe('Transaction > Wait for Payment: a hundred waits under twenty reads a minute', () => {
	const room = useWaitingRoom({ readsPerMinute: 20 });

	const park = async (count: number, recheckInterval: number) => {
		const waits: Array<{ hash: string; parked: ParkedRun }> = [];
		for (let nth = 0; nth < count; nth++) {
			const hash = await room.charge();
			const parameters = { timeLimit: 30, timeLimitUnit: 'minutes', recheckInterval };
			waits.push({ hash, parked: await room.park([hash], { parameters }) });
		}
		return waits;
	};

	test.each([10, 60])(
		'all paid ones end paid, re-checked every %d seconds',
		async (interval) => {
			const waits = await park(100, interval);
			await clock.sleep(60_000);
			const paid = waits.filter((_, nth) => nth % 2 === 0);
			for (const { hash } of paid) await room.account.sandbox.setStatus(hash, 'paid');
			const before = room.reads();

			const ends = await Promise.all(waits.map(async ({ parked }) => await parked.finished));

			const items = ends.flatMap((end) => received(end) ?? []);
			expect(items.filter((item) => item.paid === true)).toHaveLength(paid.length);
			console.log(room.reads() - before, clock.now());
		},
		120_000,
	);
});
