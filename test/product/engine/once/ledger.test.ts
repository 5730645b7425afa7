import { setTimeout as pause } from 'node:timers/promises';
import { attempts } from '../../../../nodes/DigitalSales/once/memory';

import { NodeProcess, processedItems } from '../harness';
import { codeIn, errorOf, useShop } from '../support/charging';
import { useLimits } from '../support/account';
import { failEntries } from '../support/database';

const MARKED_FOR_MS = 6_000;

describe("n8n's table of processed items, as the ledger of a node", () => {
	const limit = useLimits();
	const shop = useShop();
	afterEach(() => jest.restoreAllMocks());

	const isKnown = async (order: string): Promise<boolean> => {
		const before = shop.charges;
		await shop.run(shop.parameters(order), { process: NodeProcess.fresh() });
		return shop.charges === before;
	};

	test('a database that refuses a write: the charge is not sent, and the error says why', async () => {
		processedItems.failingWrites = 100;
		const failed = await shop.run(shop.parameters('order-1'));

		expect(failed.node?.error?.message).toBe('n8n could not record the charge, so it was not sent');
		expect(errorOf(failed)).toContain('SQLITE_FULL: database or disk is full');
		expect(shop.posts).toBe(0);

		processedItems.failingWrites = 0;
		expect((await shop.run(shop.parameters('order-1'))).status).toBe('success');
	});

	test('a failed write is retried', async () => {
		processedItems.failingWrites = 1;

		expect((await shop.run(shop.parameters('order-1'))).status).toBe('success');
		expect(await isKnown('order-1')).toBe(true);
	});

	test('what another process overwrites at the same moment is entered once more', async () => {
		processedItems.lostWrites = 1;

		expect((await shop.run(shop.parameters('order-1'))).status).toBe('success');
		expect(await isKnown('order-1')).toBe(true);
	});

	test('what n8n does not keep at all is not sent', async () => {
		processedItems.lostWrites = 100;
		const failed = await shop.run(shop.parameters('order-1'));

		expect(errorOf(failed)).toContain('n8n did not store the entry');
		expect(shop.posts).toBe(0);
	});

	test('a charge leaves nothing in the row that its node shares with others', async () => {
		await shop.run(shop.parameters('order-1'));
		const marks = processedItems.marks;
		shop.fault('refuse');
		await shop.run(shop.parameters('order-2'));
		shop.fault('lose');
		await shop.run(shop.parameters('order-3'));
		await pause(MARKED_FOR_MS);

		expect(marks).toBeGreaterThan(0);
		expect(processedItems.marks).toBe(0);
	});

	test('an entry that fails takes out no doubt that was there before', async () => {
		shop.fault('lose');
		await shop.run(shop.parameters());
		// The entry itself is written; asking for a code fails, and so does its second try.
		failEntries(2, 3);
		const failed = await shop.run(shop.parameters(), { process: NodeProcess.fresh() });
		const again = await shop.run(shop.parameters(), { process: NodeProcess.fresh() });

		expect(errorOf(failed)).toContain("now n8n's database failed");
		expect(errorOf(again)).toContain('may already have been charged');
		expect(codeIn(again)).not.toBe('');
		expect(shop.charges).toBe(1);
	});

	test('a doubt that another process overwrites during the request is entered again', async () => {
		shop.account.fault('charge', { kind: 'delayAfterProcessing', ms: 1_500 });
		limit({ timeoutMs: 1_000 });
		const running = shop.run(shop.parameters());
		while (shop.posts < 1) await pause(5);
		processedItems.clear();
		expect(errorOf(await running)).toContain('may already have been charged: ');
		const again = await shop.run(shop.parameters(), { process: NodeProcess.fresh() });

		expect(errorOf(again)).toContain('may already have been charged');
		expect(shop.posts).toBe(1);
	});

	test('a charge stands, and its order is known, even if its doubt could not be removed', async () => {
		shop.account.fault('charge', { kind: 'delay', ms: 200 });
		const running = shop.run(shop.parameters('order-1'));
		while (shop.posts < 1) await pause(5);
		processedItems.failingWrites = 2;
		const { status, json, logs } = await running;

		expect(status).toBe('success');
		expect(json[0]?.hash).toBe(shop.hashes[0]);
		expect(logs.map(({ text }) => text).join()).toContain('could not be written to');
		expect(await isKnown('order-1')).toBe(true);
	});

	test.each([1, 2])(
		'what could not be removed in %i writes removes nothing that another worker enters meanwhile',
		async (failing) => {
			const [one, two] = [NodeProcess.fresh(), NodeProcess.fresh()];
			shop.account.fault('charge', { kind: 'delay', ms: 200 });
			shop.fault('refuse');
			const refused = shop.run(shop.parameters('order-1'), { process: one });
			while (shop.posts < 1) await pause(5);
			processedItems.failingWrites = failing;
			await refused;
			const inDoubt = await shop.run(shop.parameters('order-1'), { process: two });
			const options = { repeatCode: codeIn(inDoubt) };
			await shop.run(shop.parameters('order-1', { options }), { process: two });
			await shop.run(shop.parameters('order-1'), { process: one });

			expect(shop.charges).toBe(1);
		},
	);

	test(`the latest ${MOST_ENTRIES} entries of a node are kept, the oldest falls out first`, async () => {
		await shop.run(shop.parameters('order-1'));
		await pause(MARKED_FOR_MS);
		// The place of the charge was entered before its order.
		processedItems.age(MOST_ENTRIES - 1, MOST_ENTRIES);
		expect(await isKnown('order-1')).toBe(true);
		processedItems.age(MOST_ENTRIES, MOST_ENTRIES);
		expect(await isKnown('order-1')).toBe(false);
		expect(await isKnown('order-1')).toBe(true);
		expect(processedItems.size).toBeLessThanOrEqual(MOST_ENTRIES);
	});

	test('the memory of the process is bounded; what is in doubt is kept longest', async () => {
		const entry = { fingerprint: 'f', about: '', startedAt: 0, account: 'a', turn: 0 };
		attempts.set('doubt', { state: 'inDoubt', ...entry });
		for (let nth = 0; nth < 10_000; nth++) attempts.set(`made ${nth}`, { state: 'made', ...entry });
		await shop.run(shop.parameters('order-1'));

		expect(attempts.size).toBeLessThanOrEqual(10_000);
		expect(attempts.get('doubt')).toBeDefined();
		expect(attempts.get('made 0')).toBeUndefined();
		await shop.run(shop.parameters('order-1'));
		expect(shop.charges).toBe(1);
	});
});
