import { setTimeout as pause } from 'node:timers/promises';
import { NodeProcess, processedItems, type NodeOutcome } from '../harness';
import { codeIn, errorOf, RETRY_ON_FAIL, retryable, useShop } from '../support/charging';

describe('A code, and another worker that is asked for the same', () => {
	const shop = useShop();
	const [one, two, three] = [NodeProcess.fresh(), NodeProcess.fresh(), NodeProcess.fresh()];
	afterEach(() => {
		jest.restoreAllMocks();
		processedItems.clear();
	});

	const ask = async (
		process: NodeProcess | undefined,
		repeatCode?: string,
		order: string | undefined = 'order-1',
	): Promise<NodeOutcome> =>
		await shop.run(shop.parameters(order, { options: { repeatCode } }), { process });
	/** Asks, and returns once the request is under way, for three seconds. */
	const begin = async (order?: string): Promise<{ ended: Promise<NodeOutcome> }> => {
		const delay = { endpoint: 'POST /transactions', kind: 'delay', ms: 3_000 } as const;
		shop.account.sandbox.addFault(delay);
		const ended = shop.run(shop.parameters(order), { process: one });
		while (shop.posts < 1) await pause(5);
		return { ended };
	};
	const limited = { kind: 'retryAfter', seconds: 10 } as const;

	test.each([
		['by Retry On Fail', RETRY_ON_FAIL],
		['by hand', {}],
	])('429 uses a code up: the same again %s charges nobody', async (_how, settings) => {
		shop.fault('drop');
		await ask(one);
		const repeatCode = codeIn(await ask(one));
		shop.account.fault('charge', limited);
		const allowed = shop.parameters('order-1', { options: { repeatCode } });
		const waiting = shop.run(allowed, { process: one, settings });
		await pause(4_000);
		const other = await ask(two);
		await waiting;
		await ask(one, repeatCode);
		await ask(two, repeatCode);

		expect(errorOf(other)).toContain('may already have been charged');
		expect(shop.charges).toBe(1);
	});

	test('429 uses up what is made in place of an expired charge: a Retry makes it no second time', async () => {
		const expired = await ask(one);
		await shop.account.sandbox.setStatus(String(expired.json[0]?.hash), 'expired');
		shop.account.fault('charge', limited);
		const waiting = ask(one);
		await pause(4_000);
		await ask(two);
		await waiting;
		await shop.run(shop.parameters('order-1'), { process: one, retryOf: retryable(expired) });

		expect(shop.charges).toBe(2);
	});

	test('a code that is used while the first is under way, and then refused, frees nothing of the first', async () => {
		const { ended } = await begin('order-1');
		const code = codeIn(await ask(two));
		shop.fault('refuse');
		expect(errorOf(await ask(two, code))).toContain('422');
		expect((await ended).status).toBe('success');
		await ask(three);

		expect(shop.charges).toBe(1);
	});

	test('a code that is used while the first is under way takes nothing of its doubt', async () => {
		shop.fault('lose');
		const { ended } = await begin('');
		const code = codeIn(await ask(two, undefined, ''));
		expect((await ask(two, code, '')).status).toBe('success');
		await ended;

		expect(errorOf(await ask(three, undefined, ''))).toContain('may already have been charged');
		expect(shop.charges).toBe(2);
	});

	test('a first that is refused after a code has taken its place frees nothing', async () => {
		shop.fault('refuse');
		const { ended } = await begin('order-1');
		const code = codeIn(await ask(two));
		expect((await ask(two, code)).status).toBe('success');
		expect(errorOf(await ended)).toContain('422');
		await ask(three);

		expect(shop.charges).toBe(1);
	});

	test('a first that ends while a code takes its place leaves the charge known', async () => {
		shop.fault('refuse');
		const { ended } = await begin('order-1');
		const code = codeIn(await ask(two));
		const enter = processedItems.checkProcessedAndRecord.bind(processedItems);
		const entering = jest.spyOn(processedItems, 'checkProcessedAndRecord');
		// The turn is taken once the first has withdrawn.
		entering.mockImplementationOnce(enter).mockImplementationOnce(async (...args) => {
			await ended;
			return await enter(...args);
		});
		await ask(two, code);
		await ask(three);

		expect(shop.charges).toBe(1);
	});

	test('who loses to another one while a code takes its place is told of that one', async () => {
		shop.fault('drop');
		await ask(one);
		const code = codeIn(await ask(two));
		const clear = processedItems.clearAllProcessedItems.bind(processedItems);
		const clearing = jest.spyOn(processedItems, 'clearAllProcessedItems');
		// The order is cleared, then the doubt: the other one finds neither.
		clearing.mockImplementationOnce(clear).mockImplementationOnce(async (...args) => {
			await clear(...args);
			await ask(three);
		});
		const refused = await ask(two, code);

		expect(errorOf(refused)).toContain(
			'A customer may already have been charged for order "order-1"',
		);
		expect(shop.charges).toBe(1);
		await ask(two, codeIn(refused));
		expect(shop.charges).toBe(2);
	});

	test('a code that another worker has shown holds where the attempt itself is known', async () => {
		shop.fault('drop');
		await ask(one);

		expect((await ask(one, codeIn(await ask(two)))).status).toBe('success');
	});

	test('a code that was not needed is used up as well', async () => {
		shop.fault('refuse');
		const { ended } = await begin('order-1');
		const code = codeIn(await ask(two));
		await ended;
		expect((await ask(two, code)).status).toBe('success');
		await ask(three, code);

		expect(shop.charges).toBe(1);
	});

	test('a doubt that could not be removed at once is, and the same can be bought again', async () => {
		const removing = jest.spyOn(processedItems, 'clearAllProcessedItems');
		removing.mockRejectedValueOnce(new Error('SQLITE_BUSY'));
		await ask(one, undefined, '');

		expect((await ask(two, undefined, '')).status).toBe('success');
	});
});
