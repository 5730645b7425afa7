import { setTimeout as pause } from 'node:timers/promises';
import has from 'lodash/has';
import {
	attempts,
	rememberAttempt,
	findAttempt,
} from '../../../nodes/DigitalSales/idempotency/attempts';
import { processedItems } from '../../helpers/engine';
import { codeIn, errorOf, RETRY_ON_FAIL, otherProcess, useShop } from '../../helpers/charging';
import { aroundInserts, failInserts } from '../../helpers/database';

const ORDER = { order: 'order-1' };
/** An attempt without its state. */
const ENTRY = { id: 'i', fingerprint: 'f', about: '', startedAt: 0, account: 'a', positions: {} };

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
		await shop.refused({ ...ORDER, ...otherProcess() });
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

	test('a charge that was not sent is in doubt if the database keeps failing, and its code allows it', async () => {
		processedItems.writesLeft = 1;
		await shop.ask(ORDER);
		processedItems.writesLeft = Infinity;
		const refused = await shop.ask(ORDER);
		expect(errorOf(refused)).toContain('its database failed');

		await shop.charge({ ...ORDER, code: codeIn(refused) });
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

	test('a slot key that could not be removed leads to a refusal, whose code charges', async () => {
		shop.fault('refuse');
		const clear = processedItems.clearAllProcessedItems.bind(processedItems);
		const clearing = jest.spyOn(processedItems, 'clearAllProcessedItems');
		for (let nth = 0; nth < 2; nth++) clearing.mockImplementationOnce(clear);
		for (let nth = 0; nth < 2; nth++) clearing.mockRejectedValueOnce(new Error('SQLITE_BUSY'));
		const refused = await shop.ask({ settings: RETRY_ON_FAIL });

		const retried = await shop.refused({ retrying: refused });
		expect(shop.charges).toBe(0);
		await shop.charge({ retrying: refused, code: codeIn(retried) });
		expect(shop.charges).toBe(1);
	});

	test('if the database fails while a code is made, the refusal has no code, and the doubt stays', async () => {
		shop.fault('loseAnswer');
		await shop.ask();
		const count = processedItems.getProcessedDataCount.bind(processedItems);
		const reading = jest.spyOn(processedItems, 'getProcessedDataCount');
		// The first reads find the doubt. The read for the code fails.
		for (let nth = 0; nth < 4; nth++) reading.mockImplementationOnce(count);
		reading.mockRejectedValueOnce(new Error('SQLITE_BUSY'));
		const failed = await shop.ask(otherProcess());
		const again = await shop.refused(otherProcess());

		expect(errorOf(failed)).toContain("n8n's database did not answer, so no code can be shown now");
		expect(codeIn(again)).not.toBe('');
		expect(shop.charges).toBe(1);
	});

	test('a charge succeeds, and its order is known, even if its doubt could not be removed', async () => {
		const { ended } = await shop.underWay(ORDER);
		processedItems.failingWrites = 2;
		const { json, logs } = await ended;

		expect(json[0]?.hash).toBe(shop.hashes[0]);
		expect(logs.map(({ text }) => text).join()).toContain('could not be written to');
		await shop.refused({ ...ORDER, ...otherProcess() });
	});

	test('a doubt stays over if another process ends it while this process looks at it', async () => {
		shop.fault('loseAnswer');
		await shop.ask({ order: 'order-1' });
		const entering = aroundInserts(async (enter, nth) => {
			if (nth === 1) processedItems.clear();
			return await enter();
		});
		await shop.charge({ order: 'order-2' });
		entering.mockRestore();
		await shop.charge({ order: 'order-3', ...otherProcess() });

		expect(shop.charges).toBe(3);
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
			const code = codeIn(await shop.ask({ ...ORDER, ...two }));
			await shop.ask({ ...ORDER, ...two, code });
			await shop.ask({ ...ORDER, ...one });

			expect(shop.charges).toBe(1);
		},
	);

	test('a charge leaves rows for two slots, order and hash, a refused charge leaves none, and a doubt all but the hash', async () => {
		await shop.ask(ORDER);
		expect(processedItems.size).toBe(4);
		shop.fault('refuse');
		await shop.ask({ order: 'order-2' });
		expect(processedItems.size).toBe(4);
		shop.fault('loseAnswer');
		await shop.ask({ order: 'order-3' });
		// One more row is for the node: it checks how n8n keeps the rows.
		expect(processedItems.size).toBe(4 + 4 + 1);
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
		const code = codeIn(await shop.ask({ ...ORDER, ...otherProcess() }));
		const again = await shop.ask({ ...ORDER, code, ...otherProcess() });

		expect(errorOf(again)).toContain('keeps its processed items in another way');
		expect(shop.charges).toBe(charges);
	});

	test('the memory of the process is bounded, and keeps charges in doubt longest', async () => {
		rememberAttempt(['order doubt'], { state: 'unresolved', ...ENTRY });
		for (let nth = 0; nth < 40_000; nth++)
			rememberAttempt([`order ${nth}`], { state: 'made', ...ENTRY });
		await shop.ask(ORDER);

		expect(attempts.size).toBeLessThanOrEqual(40_000);
		expect(findAttempt('order doubt')).toBeDefined();
		expect(findAttempt('order 0')).toBeUndefined();
		await shop.ask(ORDER);
		expect(shop.charges).toBe(1);
	});

	test('an order is returned after ten thousand other charges', async () => {
		await shop.ask(ORDER);
		for (let nth = 0; nth < 30_000; nth++)
			rememberAttempt([`slot ${nth}`], { state: 'made', ...ENTRY });

		expect((await shop.charge(ORDER)).json[0]?.hash).toBe(shop.hashes[0]);
	});
});
