import { clock } from '../../nodes/DigitalSales/shared/clock';
import { chargesAt } from '../helpers/charge';
import { useInbox } from '../helpers/inbox';
import { isTaken, sendAsPlatform, type Sent } from '../helpers/platform';
import { received, waitingRoomOf } from '../helpers/waiting';

const MINUTE_MS = 60_000;

describe.each([
	[20, 30],
	[60, 70],
])('Sales under %i reads a minute, while %i executions wait', (readsPerMinute, waiting) => {
	const inbox = useInbox({ resendAfterSeconds: [], readsPerMinute });

	test('start the workflow, and every paid wait ends paid', async () => {
		await inbox.publish({ triggerOn: ['paid'] });
		const { sandbox } = inbox.account;
		const room = waitingRoomOf(inbox.account);
		const hashes = await chargesAt(sandbox, waiting);
		const waits = hashes.map(async (hash, nth) => {
			await clock.sleep(nth * 500);
			return await room.park([hash], { minutes: 60 });
		});
		const parked = await Promise.all(waits);
		await clock.sleep(3 * MINUTE_MS);

		const sell = async (count: number, pauseMs: number): Promise<Sent[]> => {
			const sales = await chargesAt(sandbox, count);
			const sending = sales.map(async (hash, nth) => {
				await clock.sleep(nth * pauseMs);
				await sandbox.setStatus(hash, 'paid');
				return await sendAsPlatform(inbox.trigger.url, { hash, status: 'paid' });
			});
			return await Promise.all(sending);
		};
		const atOnce = await sell(15, 0);
		await clock.sleep(2 * MINUTE_MS);
		const spread = await sell(15, 4_000);
		const many = await sell(20, 1_000);
		await room.setStatus(hashes.slice(0, 15));

		expect([...atOnce, ...spread, ...many].filter(isTaken)).toHaveLength(50);
		const ended = await Promise.all(parked.map(async ({ finished }) => received(await finished)));
		expect(ended.map((items) => items?.[0]?.paid)).toEqual(hashes.map((_, nth) => nth < 15));
	});
});

describe.each([
	[20, 100],
	[60, 300],
])('Sales under %i reads a minute, while a node reads %i transactions', (readsPerMinute, read) => {
	const inbox = useInbox({ resendAfterSeconds: [], readsPerMinute });

	test('all start the workflow', async () => {
		await inbox.publish({ triggerOn: ['paid'] });
		const { sandbox } = inbox.account;
		const items = (await chargesAt(sandbox, read)).map((hash) => ({ hash }));
		const get = { resource: 'transaction', operation: 'get', transactionHash: '={{ $json.hash }}' };
		const reading = inbox.account.run(get, { items });
		const sales = await chargesAt(sandbox, 20);
		const sending = sales.map(async (hash, nth) => {
			await clock.sleep(1_000 + nth * 6_000);
			await sandbox.setStatus(hash, 'paid');
			return await sendAsPlatform(inbox.trigger.url, { hash, status: 'paid' });
		});

		expect((await Promise.all(sending)).filter(isTaken)).toHaveLength(20);
		expect((await reading).json).toHaveLength(read);
	});
});
