import { setTimeout as pause } from 'node:timers/promises';
import has from 'lodash/has';
import { attempts } from '../../../nodes/DigitalSales/idempotency/memory';
import { processedItems } from '../../helpers/engine';
import { decide, errorOf, otherProcess, retryable, useShop } from '../../helpers/charging';
import { aroundInserts, failInserts } from '../../helpers/database';

const ORDER = { order: 'order-1' };
const FEW_MINUTES_MS = 5 * 60_000;
/** An attempt without its state. */
const ENTRY = {
	run: 0,
	item: 0,
	id: 'i',
	identity: 'i',
	key: 'k',
	fingerprint: 'f',
	origin: 'o',
	about: '',
	startedAt: 0,
};

describe("n8n's table of processed items, as the ledger of a node", () => {
	const shop = useShop();
	afterEach(() => jest.restoreAllMocks());

	test('if the database refuses a write, the charge is not sent, and the error says why', async () => {
		processedItems.failingWrites = 100;
		const failed = await shop.ask(ORDER);

		expect(failed.node?.error?.message).toBe('n8n could not record the charge, so it was not sent');
		expect(errorOf(failed)).toContain('SQLITE_FULL: database or disk is full');
		expect(shop.posts).toBe(0);
		processedItems.failingWrites = 0;
		await shop.charge(ORDER);
	});

	test('a failed write is retried', async () => {
		processedItems.failingWrites = 1;

		await shop.charge(ORDER);
		await shop.charge({ ...ORDER, ...otherProcess() });
		expect(shop.charges).toBe(1);
	});

	test('an insert that is retried after a lost answer recognizes its own row', async () => {
		aroundInserts(async (enter, nth) => {
			const entered = await enter();
			if (nth === 1) throw new Error('Connection terminated');
			return entered;
		});

		await shop.charge(ORDER);
		expect(shop.charges).toBe(1);
	});

	test('a charge is not in doubt if the database fails when only some of its keys are recorded', async () => {
		failInserts(2, 3);
		const failed = await shop.ask(ORDER);
		expect(errorOf(failed)).toContain('so it was not sent');
		expect(errorOf(failed)).toContain('then run this again');

		await shop.charge(ORDER);
		expect(shop.posts).toBe(1);
	});

	test('a charge that was not sent is in doubt if the database keeps failing, and a decision allows it', async () => {
		processedItems.writesLeft = 1;
		await shop.ask(ORDER);
		processedItems.writesLeft = Infinity;
		await shop.refused(ORDER);
		await pause(FEW_MINUTES_MS);

		await shop.charge({ ...ORDER, ...decide('order-1') });
		expect(shop.posts).toBe(1);
	});

	test('if the database fails after a 429, nothing more is sent and nothing is in doubt', async () => {
		shop.fault('limit');
		const running = shop.ask(ORDER);
		await pause(4_000);
		processedItems.failingWrites = 2;

		expect(errorOf(await running)).toContain('could not record the charge, so it was not sent');
		await shop.charge(ORDER);
	});

	test('removing the fingerprint key is retried, so the same cart can be charged again', async () => {
		const removing = jest.spyOn(processedItems, 'clearAllProcessedItems');
		removing.mockRejectedValueOnce(new Error('SQLITE_BUSY'));
		await shop.ask();

		await shop.charge(otherProcess());
		expect(shop.charges).toBe(2);
	});

	test('a charge succeeds, and its order is known, even if its doubt could not be removed', async () => {
		const { ended } = await shop.underWay(ORDER);
		processedItems.failingWrites = 2;
		const { json, logs } = await ended;

		expect(json[0]?.hash).toBe(shop.hashes[0]);
		expect(logs.map(({ text }) => text).join()).toContain('could not be written to');
		expect((await shop.charge(ORDER)).json[0]?.hash).toBe(shop.hashes[0]);
		await shop.charge({ ...ORDER, ...otherProcess() });
		expect(shop.charges).toBe(1);
	});

	test('a charge succeeds if the database fails after it', async () => {
		const { ended } = await shop.underWay(ORDER);
		processedItems.failingWrites = Infinity;
		const { json } = await ended;

		expect(json[0]?.hash).toBe(shop.hashes[0]);
	});

	test.each([1, 2])(
		'a removal that failed %i times does not remove what another worker has recorded since',
		async (failing) => {
			const [one, two] = [otherProcess(), otherProcess()];
			shop.fault('refuse');
			const { ended } = await shop.underWay({ ...ORDER, ...one });
			processedItems.failingWrites = failing;
			await ended;
			await shop.ask({ ...ORDER, ...two });
			await pause(FEW_MINUTES_MS);
			await shop.ask({ ...ORDER, ...two, ...decide('order-1') });
			await shop.ask({ ...ORDER, ...one });

			expect(shop.charges).toBe(1);
		},
	);

	test('a charge leaves a row, its hash, and for an order its data and execution; a refused charge leaves none, and a doubt two, one that says when it was told, and once for a node one that tries whether owners differ', async () => {
		await shop.ask();
		const hash = 1 + (shop.hashes[0]?.length ?? 0);
		expect(processedItems.size).toBe(1 + hash);
		await shop.ask(ORDER);
		expect(processedItems.size).toBe(1 + hash + 3 + hash);
		const { size } = processedItems;
		shop.fault('refuse');
		await shop.ask({ order: 'order-2' });
		expect(processedItems.size).toBe(size);
		shop.fault('loseAnswer');
		await shop.ask({ order: 'order-3' });
		expect(processedItems.size).toBe(size + 4);
	});

	test('two hashes for one charge never mix: the first that is stored counts', async () => {
		const one = await shop.charge(ORDER);
		processedItems.clear();
		const two = await shop.charge({ ...ORDER, ...otherProcess() });
		// The first process gives the charge to its order again, whose hash is the second by now.
		await shop.charge({ ...ORDER, retryOf: retryable(one) });
		const { json } = await shop.charge({ ...ORDER, ...otherProcess() });

		expect(json[0]?.hash).toBe(two.json[0]?.hash);
	});

	test.each([0, 3, 6])('a hash of which %i characters are stored is not read', async (written) => {
		const { ended } = await shop.underWay(ORDER);
		// Before the hash: the data, the execution and the length.
		processedItems.writesLeft = 2 + 2 + 1 + written;
		await ended;
		processedItems.writesLeft = Infinity;
		await shop.refused({ ...ORDER, ...otherProcess() });
		await pause(FEW_MINUTES_MS);
		await shop.charge({ ...ORDER, ...decide('order-1', shop.hashes[0]), ...otherProcess() });
		const { json } = await shop.charge({ ...ORDER, ...otherProcess() });

		expect(json[0]?.hash).toBe(shop.hashes[0]);
		expect(shop.charges).toBe(1);
	});

	test.each([
		['in one row', 'node', { id: 'always the same' }, 0],
		['without their owners', 'mode', 'entries', 1],
	])('an n8n that keeps all keys %s charges nobody twice', async (_how, key, same, charges) => {
		const changed = (arg: unknown) =>
			has(arg, key) ? Object.assign({}, arg, { [key]: same }) : arg;
		for (const name of ['checkProcessedAndRecord', 'getProcessedDataCount'] as const) {
			const call = processedItems[name].bind(processedItems) as (...args: unknown[]) => never;
			jest
				.spyOn(processedItems, name)
				.mockImplementation((...args: unknown[]) => call(...args.map(changed)));
		}
		await shop.ask(ORDER);
		const again = await shop.ask({ ...ORDER, ...decide('order-1'), ...otherProcess() });

		const isNoticed = errorOf(again).includes('keeps its processed items in another way');
		expect([isNoticed, shop.charges]).toEqual([charges === 0, charges]);
	});

	test('the memory of the process is bounded', async () => {
		for (let nth = 0; nth <= 40_000; nth++)
			attempts.set(`order ${nth}`, { state: 'made', ...ENTRY });

		expect(attempts.size).toBeLessThanOrEqual(40_000);
		expect(attempts.get('order 0')).toBeUndefined();
	});
});
