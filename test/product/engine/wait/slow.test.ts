import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import type { ParkedRun } from '../harness';
import { received, useWaitingRoom } from '../support/waiting';

const READ = { endpoint: 'GET /transactions/{hash}' } as const;

describe('Transaction > Wait for Payment: a slow service', () => {
	const room = useWaitingRoom();

	const delay = (ms: number, times: number | 'always'): void =>
		room.account.sandbox.addFault({ ...READ, kind: 'delay', ms, times });
	/** Two payments without re-checks that are paid so long after they were suspended. */
	const paidAfter = async (ms: number): Promise<{ hash?: string; parked: ParkedRun }> => {
		const hashes = [await room.charge(), await room.charge()];
		const parked = await room.park(hashes, {
			parameters: { timeLimit: 10, timeLimitUnit: 'minutes' },
		});
		await clock.sleep(ms);
		for (const hash of hashes) await room.account.sandbox.setStatus(hash, 'paid');
		return { hash: hashes[0], parked };
	};

	test('a payment is found by a re-check, although its read takes longer than a sender waits', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash], {
			parameters: { timeLimit: 10, timeLimitUnit: 'minutes' },
		});
		await room.account.sandbox.setStatus(hash, 'paid');
		delay(11_000, 'always');
		const before = room.reads();

		expect(received(await parked.finished)).toMatchObject([{ paid: true, timedOut: false }]);
		expect(room.reads() - before).toBe(1);
	});

	test('a read that begins late in the check of a notice has the time of a whole try', async () => {
		// By then the first check has found them open, and the pause after it is over.
		const { hash, parked } = await paidAfter(5_000);
		delay(2_900, 'always');
		const before = room.reads();

		const { answer, outcome } = await parked.resumeByWebhook({ hash, status: 'paid' });

		expect(answer.status).toBe(200);
		expect(received(outcome)).toMatchObject([{ paid: true }, { paid: true }]);
		expect(room.reads() - before).toBe(2);
	});

	test('one that fails at once is repeated, even in the check of a notice that was held', async () => {
		// The pause after the first check is not over.
		const { hash, parked } = await paidAfter(2_500);
		delay(2_500, 1);
		room.account.sandbox.addFault({ ...READ, kind: 'status', status: 503, after: 1 });
		const before = room.reads();

		const { outcome } = await parked.resumeByWebhook({ hash, status: 'paid' });

		expect(received(outcome)).toMatchObject([{ paid: true }, { paid: true }]);
		expect(room.reads() - before).toBe(3);
	});
});
