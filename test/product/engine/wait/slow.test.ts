import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { runNode, type ParkedRun } from '../harness';
import { randomOf } from '../support/database';
import { received, useWaitingRoom } from '../support/waiting';

describe('Transaction > Wait for Payment: a slow service', () => {
	const room = useWaitingRoom();

	const delay = (ms: number, times: number | 'always'): void =>
		room.account.fault('read', { kind: 'delay', ms, times });
	/** Two payments without re-checks that are paid so long after they were suspended. */
	const paidAfter = async (ms: number): Promise<{ hash?: string; parked: ParkedRun }> => {
		const hashes = [await room.charge(), await room.charge()];
		const parked = await room.park(hashes, { seconds: 600 });
		await clock.sleep(ms);
		await room.settle(hashes);
		return { hash: hashes[0], parked };
	};

	test('a payment is found by a re-check, although its read takes longer than a sender waits', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash], { seconds: 600 });
		await room.settle([hash]);
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
		room.account.fault('read', { kind: 'status', status: 503, after: 1 });
		const before = room.reads();

		const { outcome } = await parked.resumeByWebhook({ hash, status: 'paid' });

		expect(received(outcome)).toMatchObject([{ paid: true }, { paid: true }]);
		expect(room.reads() - before).toBe(3);
	});

	test('after a 429 the check of a notice does not wait for the read of another execution', async () => {
		const { hash = '', parked } = await paidAfter(10_000);
		room.account.fault('read', { kind: 'retryAfter', seconds: 1 }, 'always');
		await parked.resumeByWebhook({ hash, status: 'paid' });
		await clock.sleep(5_000);
		room.account.sandbox.clearFaults();
		delay(4_000, 1);
		const get = { resource: 'transaction', operation: 'get', transactionHash: hash };
		const reading = room.account.run(get);
		await clock.sleep(100);

		const { outcome } = await parked.resumeByWebhook({ hash, status: 'paid' });

		expect(received(outcome)).toMatchObject([{ paid: true }, { paid: true }]);
		await reading;
	});
});

describe('Transaction > Wait for Payment: beside an execution that reads all that the service allows', () => {
	const room = useWaitingRoom({ readsPerMinute: 60 });

	afterEach(() => jest.restoreAllMocks());

	test('most are found before their limit, or at it', async () => {
		jest.spyOn(clock, 'random').mockImplementation(randomOf(1));
		const waits = [];
		for (let nth = 0; nth < 10; nth++) {
			const hash = await room.charge();
			waits.push({ hash, parked: await room.park([hash], { seconds: 600 }) });
		}
		const get = { resource: 'transaction', operation: 'get', transactionHash: await room.charge() };
		const items = Array.from({ length: 1_500 }, () => ({}));
		const reading = runNode(get, { credentials: room.account.credentials, items });
		await clock.sleep(180_000);
		await room.settle(waits.map(({ hash }) => hash));

		const ends = await Promise.all(waits.map(async ({ parked }) => await parked.finished));
		const found = ends.filter((end) => received(end)?.[0]?.paid === true);
		expect(found.length).toBeGreaterThan(5);
		await reading;
	}, 60_000);
});
