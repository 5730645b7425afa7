import { Chance } from '../helpers/chance';
import { drill, type Outcome } from '../helpers/drill/drill';
import { awaitedBy, chargedTwice, withoutEnd, withoutExecution } from '../helpers/drill/invariants';
import { type N8n, startN8n } from '../helpers/n8n/n8n';
import { startCluster } from '../helpers/queue/cluster';

const WITHIN_MS = 90 * 60_000;
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 8);

/** A single process keeps the data of crashed executions, so that n8n's Retry can continue them; queue mode does not. */
const KINDS = [
	{
		processes: 'one process',
		start: async () => await startN8n('crash'),
		actsEach: 15,
	},
	{
		processes: 'several processes',
		start: async () => await startCluster({ name: 'crash-queue', webhooks: 2 }),
		actsEach: 25,
	},
];

describe.each(KINDS)('charges, sales and waits while n8n is killed, as $processes', (kind) => {
	let n8n: N8n;
	let outcome: Outcome;

	beforeAll(async () => {
		const { start, actsEach } = kind;
		n8n = await start();
		outcome = await drill(n8n, Chance.ofThisRun(), { rounds: ROUNDS, actsEach });
	}, WITHIN_MS);
	afterAll(async () => await n8n?.close());

	test('no identity is charged twice', () => {
		expect(outcome.charges.length).toBeGreaterThan(ROUNDS);
		expect(chargedTwice(outcome.charges)).toEqual([]);
	});

	test('no webhook is answered with 200 without an execution', () => {
		expect(outcome.accepted.length).toBeGreaterThan(ROUNDS);
		expect(withoutExecution(outcome.accepted, outcome.sales)).toEqual([]);
	});

	test('every wait ends', () => {
		expect(awaitedBy(outcome.waits).length).toBeGreaterThan(ROUNDS / 2);
		expect(withoutEnd(outcome.waits, outcome.charges)).toEqual([]);
	});

	test('the kills strike requests', () => {
		expect(outcome.struck).toBeGreaterThan(0);
	});
});
