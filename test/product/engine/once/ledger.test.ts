import { attempts } from '../../../../nodes/DigitalSales/once/attempts';
import { ledgerRows } from '../../../../nodes/DigitalSales/once/ledger';
import { MOST_ENTRIES } from '../../../../nodes/DigitalSales/once/ledger';
import { NodeProcess, processedItems } from '../harness';
import { errorOf, useShop } from '../support/charging';

const OTHER_CUSTOMER = { customerDocument: '111.444.777-35' };

describe("n8n's table of processed items, as the ledger of a node", () => {
	const shop = useShop();

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

	test('a charge stands, and its order is known, even if its doubt could not be removed', async () => {
		shop.account.sandbox.addFault({ endpoint: 'POST /transactions', kind: 'delay', ms: 200 });
		const running = shop.run(shop.parameters('order-1'));
		while (shop.posts < 1) await new Promise((resolve) => setTimeout(resolve, 5));
		processedItems.failingWrites = 1;
		const { status, json, logs } = await running;

		expect(status).toBe('success');
		expect(json[0]?.hash).toBe(shop.hashes[0]);
		expect(logs.map(({ text }) => text).join()).toContain('could not be written to');
		const next = await shop.run(shop.parameters('order-2'), { process: NodeProcess.fresh() });
		expect(next.status).toBe('success');
	});

	test(`the latest ${MOST_ENTRIES} entries of a node are kept, the oldest falls out first`, async () => {
		await shop.run(shop.parameters('order-1'));
		// The place of the charge was entered before its order.
		processedItems.age(MOST_ENTRIES - 1, MOST_ENTRIES);
		expect(await isKnown('order-1')).toBe(true);
		processedItems.age(MOST_ENTRIES, MOST_ENTRIES);
		expect(await isKnown('order-1')).toBe(false);
		expect(await isKnown('order-1')).toBe(true);
		expect(processedItems.size).toBeLessThanOrEqual(MOST_ENTRIES);
	});

	test('what is in doubt outlives what is settled, in the process that knows of it', async () => {
		shop.fault('drop');
		await shop.run(shop.parameters());
		await shop.run(shop.parameters('order-1', OTHER_CUSTOMER));
		for (const [, row] of ledgerRows.list()) row.entered = MOST_ENTRIES / 2;
		await shop.run(shop.parameters('order-2', OTHER_CUSTOMER));
		processedItems.age(MOST_ENTRIES - 3, MOST_ENTRIES);

		const doubted = await shop.run(shop.parameters(), { process: NodeProcess.fresh() });
		const settled = await shop.run(shop.parameters('order-1', OTHER_CUSTOMER), {
			process: NodeProcess.fresh(),
		});

		expect(errorOf(doubted)).toContain('may already have been charged');
		expect(settled.status).toBe('success');
	});

	test('the memory of the process is bounded; what is in doubt is kept longest', async () => {
		const entry = { fingerprint: 'f', startedAt: 0, account: 'a', allowed: 0 };
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
