import { Chance } from '../helpers/chance';
import { drill, type Outcome } from '../helpers/drill/drill';
import { chargedTwice, withoutEnd, withoutExecution } from '../helpers/drill/invariants';
import { makePlan } from '../helpers/drill/plan';
import { Downstream } from '../helpers/e2e/workflows';
import { type N8n, startN8n } from '../helpers/n8n/n8n';
import { startCluster } from '../helpers/queue/cluster';

const WITHIN_MS = 90 * 60_000;
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 8);

/** A single process keeps the data of crashed executions, so that n8n's Retry can continue them; queue mode does not. */
const KINDS = [
	{
		processes: 'one process',
		start: async () => await startN8n('crash'),
		size: { rounds: ROUNDS, actsEach: 15, hasServers: false },
	},
	{
		processes: 'several processes',
		start: async () => await startCluster({ name: 'crash-queue', webhooks: 2 }),
		size: { rounds: ROUNDS, actsEach: 25, hasServers: true },
	},
];

describe.each(KINDS)('charges, sales and waits while n8n is killed, as $processes', (kind) => {
	let n8n: N8n;
	let downstream: Downstream;
	let outcome: Outcome;

	beforeAll(async () => {
		n8n = await kind.start();
		downstream = await Downstream.open();
		outcome = await drill(n8n, downstream, makePlan(Chance.ofThisRun(), kind.size));
	}, WITHIN_MS);
	afterAll(async () => {
		await n8n?.close();
		await downstream?.close();
	});

	test('no identity is charged twice', () => {
		expect(outcome.charges.length).toBeGreaterThan(ROUNDS);
		expect(chargedTwice(outcome.charges)).toEqual([]);
	});

	test('no webhook is answered with 200 without an execution', () => {
		const { accepted, reports, lostSales } = outcome;

		expect(accepted.length).toBeGreaterThan(ROUNDS);
		expect(withoutExecution(accepted, reports, lostSales)).toEqual([]);
	});

	test('every wait ends', () => {
		const { awaited, charges, reports } = outcome;

		expect(awaited.length).toBeGreaterThan(ROUNDS / 2);
		expect(withoutEnd(awaited, charges, reports)).toEqual([]);
	});

	test('the kills strike requests', () => {
		const { charges, reads } = outcome.underWay;

		process.stdout.write(`${charges} charges and ${reads} reads were under way at the kills.\n`);
		expect(charges + reads).toBeGreaterThan(0);
	});
});
