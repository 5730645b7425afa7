import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { waits } from '../../../../nodes/DigitalSales/wait/knownWait';
import { chargesAt } from '../../../support/charge';
import { received, useWaitingRoom } from '../support/waiting';

describe('Transaction > Wait for Payment: many payments', () => {
	const room = useWaitingRoom();

	const charges = async (count: number): Promise<string[]> =>
		await chargesAt(room.account.sandbox, count);
	/** Has the service take so many seconds for a read. */
	const delay = (seconds: number): void => {
		room.account.fault('read', { kind: 'delay', ms: seconds * 1_000 }, 'always');
	};

	test('are all found paid, although one check has no time for all of them', async () => {
		const hashes = await charges(60);
		const parked = await room.park(hashes, { seconds: 300 });
		await room.settle(hashes);
		delay(4);
		const [before, startedAt] = [room.reads(), clock.now()];

		const items = received(await parked.finished);

		expect(items?.map(({ hash }) => hash)).toEqual(hashes);
		expect(items?.every(({ paid, timedOut }) => paid === true && timedOut === false)).toBe(true);
		// The first check may have begun before they were paid.
		expect(room.reads() - before).toBeLessThanOrEqual(120);
		expect(clock.now() - startedAt).toBeLessThan(100_000);
	});

	test('cost two reads for each notice while another one stays open', async () => {
		const [open = '', ...others] = (await charges(25)).reverse();
		const parked = await room.park([open, ...others], { seconds: 600 });
		await clock.sleep(5_000);
		await room.settle(others);
		// This check has to find the one that is open.
		await parked.resumeByWebhook({ hash: others[0], status: 'paid' });
		const before = room.reads();

		for (const hash of others.slice(0, 3)) {
			await clock.sleep(5_000);
			const { answer } = await parked.resumeByWebhook({ hash, status: 'paid' });
			expect(answer).toMatchObject({ status: 200, json: { waiting: true } });
		}
		expect(room.reads() - before).toBe(3 * 2);
		await room.settle([open], 'refused');
		const { outcome } = await parked.resumeByWebhook({ hash: open, status: 'refused' });

		expect(room.reads() - before).toBe(3 * 2 + 25);
		expect(received(outcome)?.map(({ paid }) => paid)).toEqual([false, ...others.map(() => true)]);
		expect(waits.size).toBe(0);
	});

	test('begin with one that was open at the suspension', async () => {
		const hashes = await charges(5);
		await room.settle(hashes.slice(0, 4));
		const before = room.reads();

		await room.park(hashes);
		await clock.sleep(5_000);

		expect(room.reads() - before).toBe(5 + 1);
	});

	test('end before n8n ends the wait itself, even after a slow check that began before the limit', async () => {
		const [paid, open] = [await room.charge(), await room.charge()];
		const run = await room.wait([paid, open], { seconds: 12 });
		await clock.sleep(4_000);
		await room.settle([paid]);
		await run.parked?.resumeByWebhook({ hash: paid, status: 'paid' });
		delay(8);

		const items = received(await run.parked?.finished);

		expect(clock.now()).toBeLessThan(run.waitTill?.getTime() ?? 0);
		expect(items?.map((item) => item.paid)).toEqual([true, false]);
	});

	test('end with what could be read when the rate limit stays closed', async () => {
		const hashes = await charges(25);
		const run = await room.wait(hashes, { seconds: 12 });
		await clock.sleep(5_000);
		await room.settle(hashes);
		room.account.fault('read', { kind: 'retryAfter', seconds: 600, after: 12 });

		const items = received(await run.parked?.finished);

		expect(clock.now()).toBeLessThan(run.waitTill?.getTime() ?? 0);
		expect(items).toHaveLength(25);
		expect(items?.filter(({ paid }) => paid === true).length).toBeGreaterThanOrEqual(12);
		expect(items?.filter(({ timedOut }) => timedOut === true).length).toBeGreaterThanOrEqual(1);
	});
});
