import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { runNode, type ParkedRun, type RunOutcome } from '../harness';
import { randomOf } from '../support/database';
import { received, useWaitingRoom } from '../support/waiting';

describe('Transaction > Wait for Payment: a slow service', () => {
	const room = useWaitingRoom();

	const delay = (ms: number, times: number | 'always'): void =>
		room.account.fault('read', { kind: 'delay', ms, times });
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
		room.account.fault('read', { kind: 'status', status: 503, after: 1 });
		const before = room.reads();

		const { outcome } = await parked.resumeByWebhook({ hash, status: 'paid' });

		expect(received(outcome)).toMatchObject([{ paid: true }, { paid: true }]);
		expect(room.reads() - before).toBe(3);
	});
});

describe('Transaction > Wait for Payment: beside an execution that reads all that the service allows', () => {
	const room = useWaitingRoom({ readsPerMinute: 60 });

	afterEach(() => jest.restoreAllMocks());

	test('most are found before their limit, or at it', async () => {
		jest.spyOn(clock, 'random').mockImplementation(randomOf(1));
		const waits = [];
		const parameters = { timeLimit: 10, timeLimitUnit: 'minutes' };
		for (let nth = 0; nth < 10; nth++) {
			const hash = await room.charge();
			waits.push({ hash, parked: await room.park([hash], { parameters }) });
		}
		const get = { resource: 'transaction', operation: 'get', transactionHash: await room.charge() };
		const items = Array.from({ length: 1_500 }, () => ({}));
		const reading = runNode(get, { credentials: room.account.credentials, items });
		await clock.sleep(180_000);
		for (const { hash } of waits) await room.account.sandbox.setStatus(hash, 'paid');

		const ends = await Promise.all(waits.map(async ({ parked }) => await parked.finished));
		const found = ends.filter((end) => received(end)?.[0]?.paid === true);
		expect(found.length).toBeGreaterThan(5);
		await reading;
	}, 60_000);
});

describe('Transaction > Wait for Payment: a hundred waits under twenty reads a minute', () => {
	const room = useWaitingRoom({ readsPerMinute: 20 });

	/** Those of every four that are paid: without a notice, with one before the limit, with one at it. */
	const [UNNOTICED, EARLY, AT_LIMIT] = [0, 1, 2];

	const isPaid = (end: RunOutcome | undefined): boolean =>
		received(end)?.every(({ paid, timedOut }) => paid === true && timedOut === false) === true;

	test('all paid ones end paid, many of them before the limit', async () => {
		const waits: Array<{ hash: string; parked: ParkedRun }> = [];
		while (waits.length < 100) {
			const hash = await room.charge();
			const timeLimit = waits.length % 4 === AT_LIMIT ? 60 : 30;
			const parked = await room.park([hash], {
				parameters: { timeLimit, timeLimitUnit: 'minutes' },
			});
			waits.push({ hash, parked });
			// They do not begin at the same moment.
			await clock.sleep(400);
		}
		const limitAt = clock.elapsed() + 30 * 60_000;
		let foundEarly = 0;
		const ends = waits.map(async ({ parked }, nth) => {
			const end = await parked.finished;
			if (nth % 4 === UNNOTICED && clock.elapsed() < limitAt) foundEarly += 1;
			return end;
		});
		/** Pays for half of a kind, one after the other. */
		const pay = async (kind: number | undefined, isNoticed: boolean): Promise<void> => {
			for (const [nth, { hash, parked }] of waits.entries()) {
				if (nth >= 50 || nth % 4 !== kind) continue;
				await room.account.sandbox.setStatus(hash, 'paid');
				if (!isNoticed) continue;
				await parked.resumeByWebhook({ hash, status: 'paid' });
				await clock.sleep(12_000);
			}
		};

		await clock.sleep(300_000);
		await pay(UNNOTICED, false);
		await pay(EARLY, true);
		await clock.sleep(limitAt - clock.elapsed());
		await pay(AT_LIMIT, true);

		const paid = (await Promise.all(ends)).map(isPaid);
		expect(paid).toEqual(waits.map((_, nth) => nth < 50 && nth % 4 < 3));
		// Ten re-checks a minute are enough to find most.
		expect(foundEarly).toBeGreaterThan(6);
	}, 120_000);
});
