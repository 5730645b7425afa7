import { setTimeout as pause } from 'node:timers/promises';
import { NodeProcess, processedItems } from '../../helpers/engine';
import { codeIn, errorOf, MAYBE, RETRY_ON_FAIL, retryable, useShop } from '../../helpers/charging';
import { aroundInserts } from '../../helpers/database';

const ORDER = { order: 'order-1' };

describe('Codes while another worker requests the same charge:', () => {
	const shop = useShop();
	const [one, two, three] = [NodeProcess.fresh(), NodeProcess.fresh(), NodeProcess.fresh()];
	afterEach(() => {
		jest.restoreAllMocks();
		processedItems.clear();
	});

	const ask = async (process: NodeProcess, code?: string) =>
		await shop.ask({ ...ORDER, process, code });
	const underWay = async () => await shop.underWay({ ...ORDER, process: one });

	test.each([
		['with Retry On Fail', RETRY_ON_FAIL],
		['without Retry On Fail', {}],
	])('a code is used up by a charge that waits after a 429 (%s)', async (_how, settings) => {
		const code = await shop.codeFor({ ...ORDER, process: one });
		shop.fault('limit');
		const waiting = shop.ask({ ...ORDER, code, process: one, settings });
		await pause(4_000);
		const others = [await ask(two), await ask(two, code)];
		await waiting;
		await ask(one, code);
		await ask(two, code);

		for (const other of others) expect(errorOf(other)).toContain(MAYBE);
		expect(shop.charges).toBe(1);
	});

	test('the replacement of an expired charge is made once, even after a 429 and a Retry', async () => {
		const expired = await ask(one);
		await shop.latestBecomes('expired');
		shop.fault('limit');
		const waiting = ask(one);
		await pause(4_000);
		await ask(two);
		await waiting;
		await shop.ask({ ...ORDER, process: one, retryOf: retryable(expired) });

		expect(shop.charges).toBe(2);
	});

	test.each([
		['at once', () => undefined],
		['after a 429', () => shop.fault('limit')],
	])('the replacement of an expired charge names it, if it is made %s', async (_when, fault) => {
		await ask(one);
		await shop.latestBecomes('expired');
		fault();
		const { hints } = await ask(one);

		const [expired, made] = shop.hashes;
		expect(hints.map(({ message }) => message)).toContain(
			`Transaction ${expired} has failed or expired, so transaction ${made} was made instead.`,
		);
	});

	test('a charge that another worker made during the wait after a 429 leaves nothing in doubt', async () => {
		shop.fault('limit');
		const waiting = ask(one);
		await pause(4_000);
		await shop.charge({ ...ORDER, process: two });
		expect(errorOf(await waiting)).toContain(MAYBE);

		await shop.charge({ process: three });
		expect(shop.charges).toBe(2);
	});

	test('a charge by code that the service refuses keeps the keys of the first charge, which is in progress', async () => {
		const { ended } = await underWay();
		const code = codeIn(await ask(two));
		shop.fault('refuse');
		expect(errorOf(await ask(two, code))).toContain('422');
		expect((await ended).status).toBe('success');
		await ask(three);

		expect(shop.charges).toBe(1);
	});

	test('a charge by code does not end the doubt of the first charge, whose answer is lost later', async () => {
		shop.fault('loseAnswer');
		const { ended } = await shop.underWay({ process: one });
		const code = codeIn(await shop.ask({ process: two }));
		await shop.charge({ process: two, code });
		await ended;

		await shop.refused({ process: three });
		expect(shop.charges).toBe(2);
	});

	test('a first charge that is refused after the charge by code keeps the keys of that charge', async () => {
		shop.fault('refuse');
		const { ended } = await underWay();
		const code = codeIn(await ask(two));
		expect((await ask(two, code)).status).toBe('success');
		expect(errorOf(await ended)).toContain('422');
		await ask(three);

		expect(shop.charges).toBe(1);
	});

	test('a first charge that is refused during the charge by code keeps the keys of that charge', async () => {
		shop.fault('refuse');
		const { ended } = await underWay();
		const code = codeIn(await ask(two));
		// The second insert waits until the first charge has removed its keys.
		aroundInserts(async (enter, nth) => {
			if (nth === 2) await ended;
			return await enter();
		});
		await ask(two, code);
		await ask(three);

		expect(shop.charges).toBe(1);
	});

	test('a charge by code that loses to a third worker is refused because of the winner', async () => {
		const code = await shop.codeFor({ ...ORDER, process: one });
		const clear = processedItems.clearAllProcessedItems.bind(processedItems);
		const clearing = jest.spyOn(processedItems, 'clearAllProcessedItems');
		// After the keys of order and doubt are removed, the third worker finds neither.
		clearing.mockImplementationOnce(clear).mockImplementationOnce(async (...args) => {
			await clear(...args);
			await ask(three);
		});
		const refused = await ask(two, code);

		expect(errorOf(refused)).toContain(`A customer ${MAYBE} for order "order-1"`);
		expect(shop.charges).toBe(1);
		await ask(two, codeIn(refused));
		expect(shop.charges).toBe(2);
	});

	test('a code that another worker has shown is accepted by the worker that made the attempt', async () => {
		shop.fault('loseRequest');
		await ask(one);

		expect((await ask(one, codeIn(await ask(two)))).status).toBe('success');
	});

	test('a code is used up even if it was not needed', async () => {
		shop.fault('refuse');
		const { ended } = await underWay();
		const code = codeIn(await ask(two));
		await ended;
		expect((await ask(two, code)).status).toBe('success');
		await ask(three, code);

		expect(shop.charges).toBe(1);
	});
});
