import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { received, useWaitingRoom } from '../support/waiting';

describe('Transaction > Wait for Payment: what is answered 200 is stored', () => {
	const room = useWaitingRoom();

	test('a notice is not answered 200 if n8n cannot store it, and the next one is taken', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash]);
		await room.settle([hash]);
		parked.refuse(1);

		const refused = await parked.resumeByWebhook({ hash, status: 'paid' });
		const taken = await parked.resumeByWebhook({ hash, status: 'paid' });
		const late = await parked.resumeByWebhook({ hash, status: 'paid' });

		expect([refused, taken, late].map(({ answer }) => answer.status)).toEqual([500, 200, 409]);
		expect(received(await parked.finished)).toMatchObject([{ hash, paid: true }]);
	});

	test('nor is another one that waited for the same check', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash]);
		await room.settle([hash]);
		room.account.fault('read', { kind: 'delay', ms: 300 });
		parked.refuse(1);

		const notices = await Promise.all([
			parked.resumeByWebhook({ hash, status: 'paid' }),
			parked.resumeByWebhook({ hash, status: 'approved' }),
		]);

		expect(notices.map(({ answer }) => answer.status).sort()).toEqual([500, 503]);
	});

	test('without a notice that comes again, its own checks try until n8n has taken it', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash]);
		// The check a moment after the suspension finds it open.
		await clock.sleep(10_000);
		await room.settle([hash]);
		parked.refuse(3);

		const { answer } = await parked.resumeByWebhook({ hash, status: 'paid' });

		const answeredAt = clock.elapsed();
		expect(answer.status).toBe(500);
		expect(received(await parked.finished)).toMatchObject([{ hash, paid: true, timedOut: false }]);
		// Its checks pause 15 s, then up to 30 and 60 s.
		expect(clock.elapsed() - answeredAt).toBeLessThan(106_000);
	});

	test('at the time limit as well', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash], { seconds: 2 });
		parked.refuse(2);

		expect(received(await parked.finished)).toMatchObject([{ hash, timedOut: true }]);
	});
});
