import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { received, useWaitingRoom } from '../support/waiting';

const READ = { endpoint: 'GET /transactions/{hash}' } as const;

describe('Transaction > Wait for Payment: a slow service', () => {
	// The time limits of HTTP requests pass in real time, so all time does.
	const room = useWaitingRoom(1);

	test('a payment is found by a re-check, although its read takes longer than a sender waits', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash], {
			parameters: { timeLimit: 10, timeLimitUnit: 'minutes', recheckInterval: 60 },
		});
		await room.account.sandbox.setStatus(hash, 'paid');
		room.account.sandbox.addFault({ ...READ, kind: 'delay', ms: 11_000, times: 'always' });
		const before = room.reads();

		expect(received(await parked.finished)).toMatchObject([{ paid: true, timedOut: false }]);
		expect(room.reads() - before).toBe(1);
	}, 30_000);

	test('a read that begins late in the check of a notice has the time of a whole try', async () => {
		const hashes = [await room.charge(), await room.charge()];
		const parked = await room.park(hashes, {
			parameters: { timeLimit: 10, timeLimitUnit: 'minutes', recheckInterval: 0 },
		});
		// The check a moment after the suspension finds them open, and a pause follows.
		await clock.sleep(5_000);
		for (const hash of hashes) await room.account.sandbox.setStatus(hash, 'paid');
		room.account.sandbox.addFault({ ...READ, kind: 'delay', ms: 2_900, times: 'always' });
		const before = room.reads();

		const { answer, outcome } = await parked.resumeByWebhook({ hash: hashes[0], status: 'paid' });

		expect(answer.status).toBe(200);
		expect(received(outcome)).toMatchObject([{ paid: true }, { paid: true }]);
		expect(room.reads() - before).toBe(2);
	}, 30_000);

	test('one that fails at once is repeated, even in the check of a notice that was held', async () => {
		const hashes = [await room.charge(), await room.charge()];
		const parked = await room.park(hashes, {
			parameters: { timeLimit: 10, timeLimitUnit: 'minutes', recheckInterval: 0 },
		});
		// The pause after the first check is not over.
		await clock.sleep(2_500);
		for (const hash of hashes) await room.account.sandbox.setStatus(hash, 'paid');
		room.account.sandbox.addFault({ ...READ, kind: 'delay', ms: 2_500 });
		room.account.sandbox.addFault({ ...READ, kind: 'status', status: 503, after: 1 });
		const before = room.reads();

		const { outcome } = await parked.resumeByWebhook({ hash: hashes[0], status: 'paid' });

		expect(received(outcome)).toMatchObject([{ paid: true }, { paid: true }]);
		expect(room.reads() - before).toBe(3);
	}, 30_000);
});
