import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { INodeParameters } from 'n8n-workflow';
import { cpf } from '../../../support/charge';
import { NodeProcess, processedItems, type NodeOutcome } from '../harness';
import { aroundEntries, latencyOf, randomOf } from '../support/database';
import { codeIn, errorOf, useShop } from '../support/charging';

const LOOKED_FOR_MS = 6_000;

/** How long the nth read or write of a process takes, where that is not 2 ms. */
type Plan = Record<number, number>;

interface Timed {
	plan: Plan;
	calls: number;
	/** Those of its writes that another process overwrites at once. */
	lost: number[];
}

describe('Reads and writes of several processes that meet', () => {
	const shop = useShop();
	const processes = [0, 1, 2, 3].map(() => NodeProcess.fresh());
	const [slow, fast, third, fourth] = processes;
	const timed = new AsyncLocalStorage<Timed>();
	afterEach(() => {
		jest.restoreAllMocks();
		processedItems.clear();
	});

	const order = () => shop.parameters('order-1');
	const other = (n: number) => shop.parameters(`other ${n}`, { customerDocument: cpf(n) });
	const chargeAt = async (
		process: NodeProcess | undefined,
		at: number,
		parameters: INodeParameters,
		{ plan = {}, lost = [] }: Partial<Timed> = {},
	): Promise<NodeOutcome> => {
		processedItems.latency = () => {
			const own = timed.getStore();
			if (!own) return 2;
			const nth = own.calls++;
			if (own.lost.includes(nth)) processedItems.lostWrites = 1;
			return own.plan[nth] ?? 2;
		};
		await pause(at);
		return await timed.run(
			{ plan, calls: 0, lost },
			async () => await shop.run(parameters, { process }),
		);
	};
	const customersCharged = (): string[] =>
		shop.account.sandbox.transactions.map(({ customer }) => String(customer?.document));

	describe('an order is charged once', () => {
		test.each([
			['its marks are overwritten and entered again slowly', { 6: 80, 7: 80 }, [5]],
			['its marks are overwritten twice', { 6: 5, 7: 5 }, [5, 7]],
		])('although one process stalls, and %s', async (_what, plan, lost) => {
			shop.account.fault('charge', { kind: 'delay', ms: 1_000 }, 'always');
			await Promise.all([
				// Reads the row, and writes it just after the other has found its nonce.
				chargeAt(slow, 0, other(7), { plan: { 1: 209 } }),
				chargeAt(fast, 3, order(), { plan, lost }),
				chargeAt(third, 213, order()),
			]);

			expect(new Set(customersCharged()).size).toBe(customersCharged().length);
		});

		test('although a refused try is taken back late, when a code has allowed the next', async () => {
			shop.account.fault('charge', { kind: 'delay', ms: 200 });
			shop.fault('refuse');
			const refused = shop.run(order(), { process: slow });
			while (shop.posts < 1) await pause(5);
			processedItems.failingWrites = Infinity;
			await pause(1_000);
			processedItems.failingWrites = 0;
			await refused;
			const repeatCode = codeIn(await shop.run(order(), { process: fast }));
			await pause(1_000);
			await shop.run(shop.parameters('order-1', { options: { repeatCode } }), { process: fast });
			for (let asked = 0; asked < 12; asked++) {
				await pause(500);
				await shop.run(order(), { process: NodeProcess.fresh() });
			}

			expect(shop.charges).toBe(1);
		});

		test('although two processes stall, one after the other', async () => {
			shop.account.fault('charge', { kind: 'delay', ms: 2_000 }, 'always');
			await Promise.all([
				chargeAt(fourth, 0, other(8), { plan: { 7: 400 } }),
				chargeAt(slow, 101, other(7), { plan: { 1: 212 } }),
				chargeAt(fast, 104, order(), { plan: { 5: 10 } }),
				chargeAt(third, 520, order()),
			]);

			expect(new Set(customersCharged()).size).toBe(customersCharged().length);
		});

		test('although one that was refused takes back what another has entered as well', async () => {
			const of = (n: number) => shop.parameters('order-1', { customerDocument: cpf(n) });
			shop.fault('lose');
			const lost = shop.parameters(undefined, { customerDocument: cpf(1) });
			await shop.run(lost, { process: fourth });
			await pause(2 * LOOKED_FOR_MS);
			const before = shop.charges;
			await Promise.all([
				// In doubt. What it has entered is overwritten at once by the next.
				chargeAt(slow, 0, of(1)),
				chargeAt(fast, 0, of(2), { plan: { 1: 4, 5: 75 } }),
				chargeAt(third, 16, of(3)),
			]);

			expect(shop.charges - before).toBe(1);
		});
	});

	test.each([20, 49, 51, 80])(
		'a charge goes out although each read and each write takes %i ms',
		async (ms) => {
			processedItems.latency = () => ms;

			expect(errorOf(await shop.run(order())).trim()).toBe('');
		},
	);

	test('what the row of a workflow holds for two of its nodes is removed', async () => {
		const random = randomOf(1);
		processedItems.latency = () => latencyOf(random);
		const running: Array<Promise<NodeOutcome>> = [];
		for (let nth = 0; nth < 30; nth++) {
			const name = nth % 2 === 0 ? 'Digital Sales' : 'Second';
			running.push(shop.run(other(nth + 1), { process: fast, name }));
			await pause(60);
		}
		const errors = (await Promise.all(running)).map(errorOf);
		await pause(4 * LOOKED_FOR_MS);

		expect(errors.join('').trim()).toBe('');
		expect(processedItems.marks).toBe(0);
	});

	test('what a stalled process brings back is removed, although another node of the workflow is busy', async () => {
		shop.account.fault('charge', { kind: 'delay', ms: 500 });
		shop.fault('refuse');
		const refused = shop.run(order(), { process: fast });
		while (shop.posts < 1) await pause(1);
		let calls = 0;
		processedItems.latency = () => (calls++ === 1 ? 1_500 : 2);
		const stalling = shop.run(other(9), { process: slow });
		while (calls < 2) await pause(1);
		expect((await refused).status).toBe('error');
		const busy: Array<Promise<unknown>> = [stalling];
		for (let nth = 0; nth < 40; nth++) {
			await pause(200);
			busy.push(shop.run(other(20 + nth), { process: fast, name: 'Second' }));
		}
		await Promise.all(busy);
		await pause(4 * LOOKED_FOR_MS);

		expect(errorOf(await shop.run(order(), { process: third })).trim()).toBe('');
	}, 30_000);

	test('what is in doubt stays so, although a stalled process brings back that it was refused before', async () => {
		const same = shop.parameters();
		shop.account.fault('charge', { kind: 'delay', ms: 500 });
		shop.fault('refuse');
		const refused = shop.run(same, { process: fast });
		while (shop.posts < 1) await pause(1);
		let calls = 0;
		processedItems.latency = () => (calls++ === 1 ? 3_000 : 2);
		const stalling = shop.run(other(9), { process: slow });
		await refused;
		shop.fault('lose');
		await shop.run(same, { process: fast });
		expect(shop.charges).toBe(1);
		await stalling;
		const before = shop.charges;
		for (let asked = 0; asked < 20; asked++) {
			await pause(200);
			await shop.run(same, { process: NodeProcess.fresh() });
		}

		expect(shop.charges).toBe(before);
	});

	test('an order that the service refused can be asked for again at once, although a write of another brings its marks back', async () => {
		const remove = processedItems.removeProcessed.bind(processedItems);
		let isBroughtBack = false;
		jest
			.spyOn(processedItems, 'removeProcessed')
			.mockImplementation(async (items, row, ...more) => {
				if (row === 'workflow' && !isBroughtBack) processedItems.lostWrites = 1;
				isBroughtBack ||= row === 'workflow';
				await remove(items, row, ...more);
			});
		shop.fault('refuse');
		await shop.run(order(), { process: fast });
		expect(isBroughtBack).toBe(true);

		expect(errorOf(await shop.run(order(), { process: third })).trim()).toBe('');
	});

	test('another order can be charged although the database failed while a repeat was taken back', async () => {
		await shop.run(order(), { process: fast });
		let failures = 0;
		aroundEntries(async (enter, { items }) => {
			if (items.length === 1 && failures++ < 2) throw new Error('SQLITE_BUSY');
			return await enter();
		});
		const repeat = await shop.run(order(), { process: third });
		expect(errorOf(repeat)).toContain('already');
		expect(failures).toBeGreaterThanOrEqual(2);
		await pause(LOOKED_FOR_MS);

		expect(errorOf(await shop.run(shop.parameters('order-2'), { process: third })).trim()).toBe('');
	});

	describe('what ends before it is sent', () => {
		/** Ends with an answer to the first of two items, while the second one is about to be sent. */
		const endEarly = async (options: INodeParameters = {}): Promise<void> => {
			shop.fault('refuse');
			const { customerDocument } = order();
			const items = [
				{ order: 'order-2', document: cpf(5) },
				{ order: 'order-1', document: customerDocument },
			];
			const parameters = shop.parameters('={{ $json.order }}', {
				customerDocument: '={{ $json.document }}',
				options,
			});
			const before = shop.posts;
			expect(errorOf(await shop.run(parameters, { items, process: fast }))).toContain('422');
			expect(shop.posts - before).toBe(1);
			await pause(LOOKED_FOR_MS);
		};

		test('in place of an expired charge can be asked for again', async () => {
			const expired = await shop.run(order(), { process: fast });
			await shop.account.sandbox.setStatus(String(expired.json[0]?.hash), 'expired');
			await pause(LOOKED_FOR_MS);
			await endEarly();

			expect(errorOf(await shop.run(order(), { process: fast })).trim()).toBe('');
		});

		test('has not used up its code', async () => {
			shop.fault('drop');
			await shop.run(order(), { process: fast });
			const repeatCode = codeIn(await shop.run(order(), { process: fast }));
			await pause(LOOKED_FOR_MS);
			await endEarly({ repeatCode });
			const again = shop.parameters('order-1', { options: { repeatCode } });

			expect(errorOf(await shop.run(again, { process: fast })).trim()).toBe('');
		});
	});

	test.each([1_000, 2 * LOOKED_FOR_MS])(
		'a charge that failed after %i ms, and was refused when it was asked for again, can be asked for once more',
		async (waitMs) => {
			const first = await shop.run(order(), { process: fast });
			await pause(waitMs);
			await shop.account.sandbox.setStatus(String(first.json[0]?.hash), 'refused');
			shop.fault('refuse');
			expect(errorOf(await shop.run(order(), { process: fast }))).toContain('422');
			await pause(4 * LOOKED_FOR_MS);

			expect(processedItems.marks).toBe(0);
			expect(errorOf(await shop.run(order(), { process: fast })).trim()).toBe('');
		},
	);
});
