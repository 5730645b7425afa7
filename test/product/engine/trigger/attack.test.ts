import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { handedOver } from '../../../../nodes/DigitalSales/trigger/receive';
import { NO_OP_TYPE, processedItems } from '../harness';
import { useInbox } from '../support/inbox';

const ANY = { triggerOn: ['any'] };
const pause = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms));

describe('Attacks on what starts the workflow once', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });

	beforeEach(() => handedOver.clear());
	afterEach(() => jest.restoreAllMocks());

	const storeAThousand = (): void => {
		for (let nth = 0; nth < 1_000; nth++) handedOver.set(`${nth}`, clock.elapsed());
	};
	const posted = async (hash: string): Promise<number> =>
		(await inbox.trigger.post({ hash })).status;
	const leaveWhileVerified = async (body: object): Promise<void> => {
		await inbox.postAndLeave(body, async () => await pause(60));
		await pause(250);
		await inbox.trigger.settled();
	};
	const delayReads = (): void => inbox.account.fault('read', { kind: 'delay', ms: 200 });

	test('a sender that leaves while its notice is verified is not counted forever', async () => {
		await inbox.publish();
		const hash = await inbox.charge();
		delayReads();
		await leaveWhileVerified({ hash });

		expect(handedOver.size).toBe(0);
	});

	test('a sender that left while its notice was verified is answered 200 when it comes again', async () => {
		await inbox.publish();
		const hash = await inbox.charge();
		delayReads();
		await leaveWhileVerified({ hash, status: 'waiting_payment' });
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

	test('40 senders that left do not close the trigger forever', async () => {
		await inbox.publish();
		for (let nth = 0; nth < 40; nth++) {
			const hash = await inbox.charge();
			inbox.account.fault('read', { kind: 'delay', ms: 40 });
			await inbox.postAndLeave({ hash }, async () => await pause(20));
			await pause(40);
		}
		await inbox.trigger.settled();

		expect(await posted(await inbox.charge())).toBe(200);
	}, 30_000);

	const failing = (...nths: number[]): void => {
		let calls = 0;
		const record = processedItems.checkProcessedAndRecord.bind(processedItems);
		jest.spyOn(processedItems, 'checkProcessedAndRecord').mockImplementation(async (...args) => {
			calls++;
			if (nths.includes(calls)) throw new Error('SQLITE_BUSY');
			return await record(...args);
		});
	};

	test.each([
		['before its second entry', [3, 4]],
		['between its first entry and the check of it', [2, 3]],
	])('Retry On Fail of the trigger swallows nothing if the database failed %s', async (_, nths) => {
		await inbox.publish(ANY, {
			settings: { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 },
			next: [{ name: 'Deliver', type: NO_OP_TYPE }],
		});
		failing(...nths);
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
		const server = createServer((_, response) => {
			response.setHeader('content-type', 'application/json');
			response.end(JSON.stringify({ hash: 123456, payment_status: 'paid', amount: 1990 }));
		});
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/public/v1`;
		await inbox.publish(
			{ ...ANY, simplify: false },
			{
				credentials: inbox.account.credentialsWith({ baseUrl }),
			},
		);
		const statuses = [await posted('123456')];
		await inbox.trigger.restart();
		statuses.push((await inbox.trigger.post({ hash: 123456 })).status);
		await inbox.trigger.settled();
		server.close();

		expect([statuses, inbox.trigger.executions.length]).toEqual([[200, 200], 1]);
	});

	test('a notice that failed to store 500 and is re-sent to another process starts once', async () => {
		await inbox.publish();
		inbox.trigger.addProcess();
		const hash = await inbox.charge();
		inbox.trigger.failingStores = 1;

		expect([await posted(hash), await posted(hash)]).toEqual([500, 200]);
		expect(inbox.trigger.executions).toHaveLength(1);
	});
});
