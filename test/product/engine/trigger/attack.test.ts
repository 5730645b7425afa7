import { setTimeout as pause } from 'node:timers/promises';
import { handedOver } from '../../../../nodes/DigitalSales/trigger/receive';
import { NO_OP_TYPE, processedItems } from '../harness';
import { failEntries } from '../support/database';
import { useInbox } from '../support/inbox';

const ANY = { triggerOn: ['any'] };

describe('Attacks on what starts the workflow once', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	beforeEach(() => handedOver.clear());
	afterEach(() => jest.restoreAllMocks());

	const storeAThousand = (): void => {
		for (let nth = 0; nth < 1_000; nth++) handedOver.set(`${nth}`, false);
	};
	const posted = async (hash: string): Promise<number> =>
		(await inbox.trigger.post({ hash })).status;
	const leaveWhileVerified = async (body: object): Promise<void> => {
		await inbox.postAndLeave(body, async () => await pause(60));
		await pause(250);
		await inbox.trigger.settled();
	};
	const delayReads = (): void => inbox.account.fault('read', { kind: 'delay', ms: 200 });

	test('a sender that left while its notice was verified is answered 200 when it comes again', async () => {
		await inbox.publish();
		const hash = await inbox.charge();
		delayReads();
		await leaveWhileVerified({ hash, status: 'waiting_payment' });
		expect(handedOver.size).toBe(0);
		await pause(3_100);

		expect((await inbox.trigger.post({ hash, status: 'waiting_payment' })).status).toBe(200);
		expect(inbox.trigger.executions).toHaveLength(1);
	});

	test('a notice has to come again, unread, while n8n stores a thousand earlier ones', async () => {
		await inbox.publish();
		const hash = await inbox.charge();
		storeAThousand();
		expect(await posted(hash)).toBe(503);
		expect(inbox.reads).toBe(0);

		handedOver.clear();
		expect(await posted(hash)).toBe(200);
		expect(inbox.trigger.executions).toHaveLength(1);
	});

	test('one that n8n is slow to begin, as under a limit of executions at once, keeps out no other', async () => {
		await inbox.publish();
		handedOver.set('an earlier one', false);
		await pause(4_000);

		expect(await posted(await inbox.charge())).toBe(200);
	});

	test('a notice has to come again if they became as many while it was read', async () => {
		await inbox.publish();
		const hash = await inbox.charge();
		delayReads();
		const answer = posted(hash);
		await pause(100);
		storeAThousand();
		expect(await answer).toBe(503);
		expect(inbox.reads).toBe(1);

		handedOver.clear();
		expect(await posted(hash)).toBe(200);
		expect(inbox.trigger.executions).toHaveLength(1);
	});

	test.each([
		['before its second entry', [3, 4]],
		['between its first entry and the check of it', [2, 3]],
	])('Retry On Fail of the trigger swallows nothing if the database failed %s', async (_, nths) => {
		await inbox.publish(ANY, {
			settings: { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 },
			next: [{ name: 'Deliver', type: NO_OP_TYPE }],
		});
		failEntries(...nths);
		const hash = await inbox.charge();
		expect(await posted(hash)).toBe(200);
		const [run] = await inbox.trigger.settled();

		// Either the item is emitted, or the execution fails and can be retried.
		expect([run?.status, run?.data.Deliver?.items.length ?? 0]).not.toEqual(['success', 0]);
	});

	test('On Error: Continue of the trigger emits one item if the database fails', async () => {
		await inbox.publish(ANY, {
			settings: { onError: 'continueRegularOutput' },
			next: [{ name: 'Deliver', type: NO_OP_TYPE }],
		});
		const hash = await inbox.charge();
		await posted(hash);
		await inbox.trigger.settled();
		await inbox.trigger.restart();
		processedItems.failingWrites = 100;
		await posted(hash);
		const [first, second] = await inbox.trigger.settled();

		expect(first?.data.Deliver?.items).toHaveLength(1);
		expect(second?.data.Deliver?.items ?? []).toEqual([]);
	});

	test('a hash that the service returns as a number starts the workflow once', async () => {
		const body = { hash: 123456, payment_status: 'paid', amount: 1990 };
		inbox.account.fault('read', { kind: 'status', status: 200, body }, 'always');
		await inbox.publish({ ...ANY, simplify: false });
		const statuses = [await posted('123456')];
		await inbox.trigger.restart();
		statuses.push((await inbox.trigger.post({ hash: 123456 })).status);
		await inbox.trigger.settled();

		expect([statuses, inbox.trigger.executions.length]).toEqual([[200, 200], 1]);
	});
});
