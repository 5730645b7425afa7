import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { received, useWaitingRoom } from '../support/waiting';

describe('Transaction > Wait for Payment: several notices', () => {
	const room = useWaitingRoom();

	test('at the same moment resume it once, and none has to be sent again', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash]);
		await room.settle([hash]);
		room.account.fault('read', { kind: 'delay', ms: 300 }, 'always');
		const before = room.reads();

		const notices = await Promise.all([
			parked.resumeByWebhook({ hash, status: 'paid' }),
			parked.resumeByWebhook({ hash, status: 'approved' }),
		]);

		expect(notices.map(({ answer }) => answer.status)).toEqual([200, 200]);
		expect(notices.map(({ answer }) => answer.json)).toEqual([
			// n8n itself answers the one with which the execution goes on.
			undefined,
			{ received: true },
		]);
		expect(room.reads() - before).toBe(1);
		expect(parked.legs).toBe(2);
	});

	test('of several payments are all handled, even while one is being read', async () => {
		const [first, second] = [await room.charge(), await room.charge()];
		const parked = await room.park([first, second]);
		// By then it has polled once.
		while (room.reads() < 3) await clock.sleep(100);
		await clock.sleep(3_500);
		room.account.fault('read', { kind: 'delay', ms: 600 }, 'always');

		const notices = await Promise.all([
			parked.resumeByWebhook({ hash: first, status: 'analyzing' }),
			parked.resumeByWebhook({ hash: second, status: 'analyzing' }),
		]);

		expect(notices.map(({ answer }) => answer.status)).toEqual([200, 200]);
		expect(parked.legs).toBe(1);
	});

	test('that come during a long check are looked after, even if their senders do not come again', async () => {
		const hashes = [await room.charge(), await room.charge(), await room.charge()];
		const parked = await room.park(hashes);
		await clock.sleep(30 * 60_000);
		room.account.fault('read', { kind: 'delayAfterProcessing', ms: 8_000 });
		const before = room.reads();
		while (room.reads() === before) await clock.sleep(100);
		await room.settle(hashes);
		const noticedAt = clock.elapsed();

		const notices = await Promise.all(
			hashes.map(async (hash) => await parked.resumeByWebhook({ hash, status: 'paid' })),
		);

		expect(new Set(notices.map(({ answer }) => answer.status))).toEqual(new Set([503]));
		expect(received(await parked.finished)?.map(({ paid }) => paid)).toEqual([true, true, true]);
		expect(clock.elapsed() - noticedAt).toBeLessThan(30_000);
	});

	test('just before the time limit do not delay its end', async () => {
		const hash = await room.charge();
		const startedAt = clock.now();
		const parked = await room.park([hash], { seconds: 6 });
		await clock.sleep(startedAt + 5_000 - clock.now());
		const { answer } = await parked.resumeByWebhook({ hash, status: 'paid' });
		expect(answer.status).toBe(503);

		await parked.finished;

		expect(clock.now() - startedAt).toBeLessThan(7_900);
	});

	test('that change nothing do not make it poll more often', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash]);
		for (const status of ['paid', 'refunded', 'chargeback']) {
			await clock.sleep(1_500);
			await parked.resumeByWebhook({ hash, status });
		}
		const before = room.reads();

		await clock.sleep(180_000);

		expect(room.reads() - before).toBeGreaterThanOrEqual(2);
		expect(room.reads() - before).toBeLessThanOrEqual(4);
	});
});
