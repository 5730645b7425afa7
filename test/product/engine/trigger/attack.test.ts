import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { backlog } from '../../../../nodes/DigitalSales/trigger/handOver';
import { NO_OP_TYPE, processedItems, serveWebhook, type PublishedTrigger } from '../harness';
import { openAccount, type Account } from '../support/account';
import { chargeAt } from '../../../support/charge';

const ANY = { triggerOn: ['any'] };
const pause = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms));

describe('Attacks on what starts the workflow once', () => {
	let account: Account;
	let trigger: PublishedTrigger;

	beforeAll(async () => {
		account = await openAccount({ resendAfterSeconds: [] });
	});
	beforeEach(() => {
		account.reset();
		backlog.unanswered = 0;
	});
	afterEach(() => {
		trigger.stopListening();
		jest.restoreAllMocks();
	});
	afterAll(async () => await account.sandbox.close());

	const serve = async (options: Parameters<typeof serveWebhook>[0] = {}): Promise<void> => {
		trigger = await serveWebhook({ credentials: account.credentials, parameters: ANY, ...options });
	};
	const posted = async (hash: string): Promise<number> => (await trigger.post({ hash })).status;
	const leaveWhileVerified = async (body: object): Promise<void> => {
		const leaving = new AbortController();
		const first = fetch(trigger.url, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify(body),
			signal: leaving.signal,
		}).catch(() => undefined);
		await pause(60);
		leaving.abort();
		await first;
		await pause(250);
		await trigger.settled();
	};
	const delayReads = (): void =>
		account.sandbox.addFault({ endpoint: 'GET /transactions/{hash}', kind: 'delay', ms: 200 });

	test('a sender that leaves while its notice is verified is not counted for ever', async () => {
		await serve();
		const hash = await chargeAt(account.sandbox);
		delayReads();
		await leaveWhileVerified({ hash });

		expect(backlog.unanswered).toBe(0);
	});

	test('a sender that left while its notice was verified is answered 200 when it comes again', async () => {
		await serve();
		const hash = await chargeAt(account.sandbox);
		delayReads();
		await leaveWhileVerified({ hash, status: 'waiting_payment' });
		await pause(3_100);

		expect((await trigger.post({ hash, status: 'waiting_payment' })).status).toBe(200);
		expect(trigger.executions).toHaveLength(1);
	});

	test('40 senders that left do not close the trigger for ever', async () => {
		await serve();
		for (let nth = 0; nth < 40; nth++) {
			const hash = await chargeAt(account.sandbox);
			account.sandbox.addFault({ endpoint: 'GET /transactions/{hash}', kind: 'delay', ms: 40 });
			const leaving = new AbortController();
			const call = fetch(trigger.url, {
				method: 'POST',
				headers: { 'content-type': 'application/json' },
				body: JSON.stringify({ hash }),
				signal: leaving.signal,
			}).catch(() => undefined);
			await pause(20);
			leaving.abort();
			await call;
			await pause(40);
		}
		await trigger.settled();

		expect(await posted(await chargeAt(account.sandbox))).toBe(200);
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
		['between its first entry and the look whether it is there', [2, 3]],
	])(
		'Retry On Fail of the trigger swallows nothing where the database failed %s',
		async (_, nths) => {
			await serve({
				settings: { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 },
				next: [{ name: 'Deliver', type: NO_OP_TYPE }],
			});
			failing(...nths);
			const hash = await chargeAt(account.sandbox);
			expect(await posted(hash)).toBe(200);
			const [run] = await trigger.settled();

			// Either the item goes on, or the execution fails and can be retried.
			expect([run?.status, run?.data.Deliver?.items.length ?? 0]).not.toEqual(['success', 0]);
		},
	);

	test('On Error: Continue of the trigger gives one item where the database fails', async () => {
		await serve({
			settings: { onError: 'continueRegularOutput' },
			next: [{ name: 'Deliver', type: NO_OP_TYPE }],
		});
		const hash = await chargeAt(account.sandbox);
		await posted(hash);
		await trigger.settled();
		await trigger.restart();
		processedItems.failingWrites = 100;
		await posted(hash);
		const [first, second] = await trigger.settled();

		expect(first?.data.Deliver?.items).toHaveLength(1);
		expect(second?.data.Deliver?.items ?? []).toEqual([]);
	});

	test('a hash that the service gives as a number starts the workflow once', async () => {
		const server = createServer((_, response) => {
			response.setHeader('content-type', 'application/json');
			response.end(JSON.stringify({ hash: 123456, payment_status: 'paid', amount: 1990 }));
		});
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/public/v1`;
		await serve({
			parameters: { ...ANY, simplify: false },
			credentials: { digitalSalesApi: { ...account.credentials.digitalSalesApi, baseUrl } },
		});
		const statuses = [await posted('123456')];
		await trigger.restart();
		statuses.push(await posted('123456'));
		await trigger.settled();
		server.close();

		expect([statuses, trigger.executions.length]).toEqual([[200, 200], 1]);
	});

	test('a notice that failed to store 500 and is re-sent to another process starts once', async () => {
		await serve();
		trigger.addProcess();
		const hash = await chargeAt(account.sandbox);
		trigger.failingStores = 1;

		expect([await posted(hash), await posted(hash)]).toEqual([500, 200]);
		expect(trigger.executions).toHaveLength(1);
	});

	test('verify off, deduplicate on: once over a restart', async () => {
		await serve({ parameters: { ...ANY, options: { verify: false } } });
		await trigger.post({ data: { hash: 'abc123', status: 'paid' } });
		await trigger.restart();
		await trigger.post({ data: { hash: 'abc123', status: 'paid' } });
		await trigger.settled();

		expect(trigger.executions).toHaveLength(1);
	});
});
