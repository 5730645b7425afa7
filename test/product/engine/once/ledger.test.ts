import { setTimeout as pause } from 'node:timers/promises';
import { attempts } from '../../../../nodes/DigitalSales/once/memory';

import { NodeProcess, processedItems } from '../harness';
import { codeIn, errorOf, RETRY_ON_FAIL, useShop } from '../support/charging';

describe("n8n's table of processed items, as the ledger of a node", () => {
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

	test('a database that refuses it after a 429: the same, and the charge is in no doubt', async () => {
		shop.account.fault('charge', { kind: 'retryAfter', seconds: 10 });
		const running = shop.run(shop.parameters('order-1'));
		await pause(4_000);
		processedItems.failingWrites = 2;

		expect(errorOf(await running)).toContain('could not record the charge, so it was not sent');
		expect((await shop.run(shop.parameters('order-1'))).status).toBe('success');
	});

	test('a place that could not be removed is removed by the next try', async () => {
		for (let nth = 0; nth < 3; nth++) shop.fault('refuse');
		const clear = processedItems.clearAllProcessedItems.bind(processedItems);
		const clearing = jest.spyOn(processedItems, 'clearAllProcessedItems');
		clearing.mockImplementationOnce(clear);
		for (let nth = 0; nth < 2; nth++) clearing.mockRejectedValueOnce(new Error('SQLITE_BUSY'));
		const refused = await shop.run(shop.parameters(), { settings: RETRY_ON_FAIL });

		expect((await shop.retry(shop.parameters(), refused)).status).toBe('success');
	});

	test('an entry that fails takes out no doubt that was there before', async () => {
		shop.fault('lose');
		await shop.run(shop.parameters());
		const count = processedItems.getProcessedDataCount.bind(processedItems);
		const reading = jest.spyOn(processedItems, 'getProcessedDataCount');
		// The entry is refused; asking for a code fails.
		for (let nth = 0; nth < 3; nth++) reading.mockImplementationOnce(count);
		reading.mockRejectedValueOnce(new Error('SQLITE_BUSY'));
		const failed = await shop.run(shop.parameters(), { process: NodeProcess.fresh() });
		const again = await shop.run(shop.parameters(), { process: NodeProcess.fresh() });

		expect(errorOf(failed)).toContain("now n8n's database failed");
		expect(errorOf(again)).toContain('may already have been charged');
		expect(codeIn(again)).not.toBe('');
		expect(shop.charges).toBe(1);
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

	test('a charge leaves a row for its place, its content and its order, and none for what is over', async () => {
		await shop.run(shop.parameters('order-1'));
		expect(processedItems.size).toBe(3);
		shop.fault('refuse');
		await shop.run(shop.parameters('order-2'));
		expect(processedItems.size).toBe(3);
		shop.fault('lose');
		await shop.run(shop.parameters('order-3'));
		// And one for the node, by which n8n is tried.
		expect(processedItems.size).toBe(3 + 4 + 1);
	});

	test.each([
		['in one row for all', { node: { id: 'always the same' } }, 0],
		['without telling their owners apart', { mode: 'entries' }, 1],
	])('an n8n that keeps them %s charges nobody twice', async (_how, same, charges) => {
		for (const name of ['checkProcessedAndRecord', 'getProcessedDataCount'] as const) {
			const call = processedItems[name].bind(processedItems) as (...args: unknown[]) => never;
			const isMeant = (arg: unknown): arg is object =>
				typeof arg === 'object' && arg !== null && Object.keys(same).some((key) => key in arg);
			jest
				.spyOn(processedItems, name)
				.mockImplementation((...args: unknown[]) =>
					call(...args.map((arg) => (isMeant(arg) ? { ...arg, ...same } : arg))),
				);
		}
		await shop.run(shop.parameters('order-1'));
		const again = await shop.run(shop.parameters('order-1'), { process: NodeProcess.fresh() });

		expect(errorOf(again)).toContain('keeps them in another way');
		expect(shop.charges).toBe(charges);
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
