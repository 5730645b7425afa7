import { startN8n, type N8n } from '../n8n/n8n';
import { Figures } from '../../support/figures';
import { Chance, makeOrders, tally } from './stage/orders';
import { OrderDrill, type Verdict } from './stage/orderDrill';

const figures = new Figures('Crashes while customers are charged', 'npm run e2e -- crash');
const START_MS = 15 * 60_000;
const ORDERS = 60;
/** How often n8n dies in each round. */
const KILLS = [2, 1, 0, 2, 2, 1, 0, 2] as const;

describe('charges while n8n is killed and started again', () => {
	const chance = Chance.ofThisRun();
	const orders = makeOrders(ORDERS);
	let n8n: N8n;
	let verdict: Verdict;

	beforeAll(async () => {
		n8n = await startN8n('crash-orders');
		const drill = new OrderDrill(n8n, chance);
		await drill.publish();
		const shuffled = chance.shuffled(orders);
		for (const [round, kills] of KILLS.entries()) {
			const begin = Math.round((round * ORDERS) / KILLS.length);
			const end = Math.round(((round + 1) * ORDERS) / KILLS.length);
			await drill.round(shuffled.slice(begin, end), kills);
		}
		await drill.settle(orders);
		verdict = await drill.verdict(orders);
		enter(drill);
	}, START_MS);
	afterAll(async () => {
		await n8n?.close();
		figures.show();
	});

	const enter = ({ kills, retries, askedAgain }: OrderDrill): void => {
		const { charges, known, lost } = verdict;
		const times = orders.map(({ document }) => charges.get(document) ?? 0);
		const open = kills.reduce((sum, count) => sum + count, 0);
		figures.add(
			`orders, half of them with an Order Reference, while n8n is killed (seed ${chance.seed})`,
			ORDERS,
			tally(times.map((count) => `charged ${count} ×`)),
		);
		figures.add('`kill -9` and start', kills.length, `${open} charges under way at that moment`);
		figures.add('charges asked for again in another execution', askedAgain, 'see above');
		figures.add('Retry pressed on failed and crashed executions', retries.length, tally(retries));
		figures.add(
			'orders that were charged',
			charges.size,
			`${known.size} came out of an execution, ${lost.length} were lost; an error reports the others`,
		);
	};

	test('no order is charged twice', () => {
		const twice = orders.flatMap(({ document, path }) => {
			const count = verdict.charges.get(document) ?? 0;
			return count > 1 ? [`${document} (${path}): ${count} charges`] : [];
		});
		expect(twice).toEqual([]);
	});

	test('an order that was charged comes out, or an error says that it may have been charged', () => {
		expect(verdict.lost).toEqual([]);
	});

	test('what comes out belongs to the orders that went in', () => {
		expect(verdict.mixedUp).toEqual([]);
	});

	test('the drill was one: charges were under way, and some came out', () => {
		expect(verdict.known.size).toBeGreaterThan(0);
		expect(verdict.charges.size).toBeGreaterThan(ORDERS / 3);
	});
});
