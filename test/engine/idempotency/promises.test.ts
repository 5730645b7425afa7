import { useShop } from '../../helpers/charging';
import { Promises, type Sale, type Step } from '../../helpers/promises';

const ANNA: Sale = { customer: 1, reais: 10 };
const BRUNO: Sale = { customer: 2, reais: 10 };
const CLARA: Sale = { customer: 3, reais: 10 };
const ORDER: Sale = { ...ANNA, order: 'order-1' };

const ask = (...list: Sale[]): Step => ({ do: 'ask', list });
const retry = (more: Omit<Extract<Step, { do: 'retry' }>, 'do'> = {}): Step => ({
	do: 'retry',
	...more,
});
const restart: Step = { do: 'restart' };
const lose: Step = { do: 'fault', kind: 'loseAnswer' };
const drop: Step = { do: 'fault', kind: 'loseRequest' };
const refuse = (after = 0): Step => ({ do: 'fault', kind: 'refuse', after });
const expire: Step = { do: 'status', status: 'expired' };
const obey: Step = { do: 'obey' };
const OTHER = { worker: 1 };

/** The steps, and how many charges the platform has then. The oracle judges each step, too. */
type Row = [name: string, steps: Step[], charges: number];

describe('1. One Order Reference is charged once:', () => {
	const shop = useShop();
	const rows: Row[] = [
		['in another execution', [ask(ORDER), ask(ORDER)], 1],
		['on another worker', [ask(ORDER), { ...ask(ORDER), ...OTHER }], 1],
		['after a restart', [ask(ORDER), restart, ask(ORDER)], 1],
		['twice in a list', [ask(ORDER, ORDER)], 1],
		['by two workers at once', [{ do: 'race', list: [ORDER] }, ask(ORDER)], 1],
		['but not another order of the same customer', [ask(ORDER), ask({ ...ORDER, order: 'b' })], 2],
		[
			'whose spelling differs',
			[ask({ ...ANNA, order: '1042' }), ask({ ...ANNA, order: "'1042.0" })],
			1,
		],
		[
			'in a Retry of a crash',
			[ask(ORDER, { ...BRUNO, order: 'b' }), restart, retry({ isCrash: true })],
			2,
		],
		['that a Retry adds', [refuse(1), ask(ANNA, BRUNO), retry({ change: 'add references' })], 2],
		[
			'that the Retry of a crash adds',
			[
				ask(ANNA),
				restart,
				retry({ isCrash: true, change: 'add references' }),
				restart,
				retry({ isCrash: true }),
			],
			1,
		],
		['that a Retry clears', [ask(ORDER), retry({ change: 'clear references' })], 1],
	];

	test.each(rows)('%s', async (_name, steps, charges) => await expectCharges(shop, steps, charges));
});

async function expectCharges(
	shop: ReturnType<typeof useShop>,
	steps: Step[],
	charges: number,
): Promise<void> {
	const promises = new Promises(shop);
	for (const step of steps) await promises.take(step);
	expect(shop.charges).toBe(charges);
}

afterEach(() => jest.restoreAllMocks());

describe('2. Without a reference, one execution charges a customer for a cart once:', () => {
	const shop = useShop();
	const seat = { ...ANNA, seat: 1 };
	const rows: Row[] = [
		['in its Retry', [refuse(1), ask(ANNA, BRUNO), retry()], 2],
		['in its Retry on another worker', [refuse(1), ask(ANNA, BRUNO), retry(OTHER)], 2],
		['in the Retry of a crash', [ask(ANNA, BRUNO, CLARA), restart, retry({ isCrash: true })], 3],
		['of equal items', [ask(ANNA, ANNA, ANNA)], 1],
		['but a new execution is a new charge', [ask(ANNA), ask(ANNA)], 2],
		['but two carts are two charges', [ask(ANNA, { ...ANNA, reais: 20 })], 2],
		['but two seats of one company are two charges', [ask(ANNA, seat), retry()], 2],
		[
			'and a corrected price charges nobody again in a Retry',
			[ask(ANNA), retry({ change: 'raise prices' })],
			1,
		],
	];

	test.each(rows)('%s', async (_name, steps, charges) => await expectCharges(shop, steps, charges));
});

describe('3. A charge without a clear answer is not repeated until a person has decided:', () => {
	const shop = useShop();
	const rows: Row[] = [
		['in its Retry', [lose, ask(ANNA), retry()], 1],
		['in a new execution', [lose, ask(ANNA), ask(ANNA)], 1],
		['for an order', [lose, ask(ANNA), ask(ORDER)], 1],
		['for another order', [lose, ask(ORDER), ask({ ...ORDER, order: 'b' })], 1],
		['on another worker', [lose, ask(ANNA), { ...ask(ANNA), ...OTHER }], 1],
		['after a restart', [lose, ask(ORDER), restart, ask(ORDER)], 1],
		['on the next day', [lose, ask(ANNA), { do: 'tomorrow' }, ask(ANNA)], 1],
		[
			'with a reference added for the Retry',
			[lose, ask(ANNA), retry({ change: 'add references' })],
			1,
		],
		['by another customer it is', [lose, ask(ANNA), ask(BRUNO)], 2],
		['who found it', [lose, ask(ORDER), obey, ask(ORDER), restart, ask(ORDER)], 1],
		['who found it in a Retry', [lose, ask(ANNA), retry(), obey, retry()], 1],
		['who found it for a new execution', [lose, ask(ANNA), ask(ANNA), obey, ask(ANNA)], 2],
		['who did not find it', [drop, ask(ORDER), obey, ask(ORDER)], 1],
		[
			'who did not find it after a restart',
			[drop, ask(ORDER), restart, ask(ORDER), obey, restart, ask(ORDER)],
			1,
		],
		[
			'whose replacement got no answer, either',
			[drop, ask(ORDER), obey, expire, drop, ask(ORDER), obey, ask(ORDER)],
			2,
		],
		[
			'who found it in a Retry of an order that expired',
			[ask(ORDER), expire, lose, retry(), obey, expire, retry()],
			3,
		],
		[
			'who found nothing twice on one day',
			[drop, ask(ANNA), ask(ANNA), obey, drop, ask(ANNA), ask(ANNA), obey],
			2,
		],
	];

	test.each(rows)('%s', async (_name, steps, charges) => await expectCharges(shop, steps, charges));
});

describe('4. A charge that failed or expired is made again:', () => {
	const shop = useShop();
	const rows: Row[] = [
		['for its order', [ask(ORDER), expire, ask(ORDER), ask(ORDER)], 2],
		['after a restart', [ask(ORDER), expire, restart, ask(ORDER), restart, ask(ORDER)], 2],
		['again and again', [ask(ORDER), expire, restart, ask(ORDER), expire, restart, ask(ORDER)], 3],
		['in a Retry', [ask(ANNA), expire, retry(), retry()], 2],
		[
			'in the Retry of a crash',
			[ask(ANNA), expire, restart, retry({ isCrash: true }), restart, retry({ isCrash: true })],
			2,
		],
		['by one of two workers', [ask(ORDER), expire, { do: 'race', list: [ORDER] }, ask(ORDER)], 2],
		['with corrected data', [ask(ORDER), expire, ask({ ...ORDER, reais: 20 })], 2],
		[
			'if the platform refused it at once',
			[{ do: 'fault', kind: 'void' }, ask(ORDER), ask(ORDER)],
			2,
		],
		['if the platform refused the request', [refuse(), ask(ORDER), ask(ORDER)], 1],
	];

	test.each(rows)('%s', async (_name, steps, charges) => await expectCharges(shop, steps, charges));
});
