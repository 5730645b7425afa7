import { cartOf, createPix } from '../../../host/e2e/stage/workflows';
import { cpf } from '../../../support/charge';
import { mostAtOnce } from '../../../support/underWay';
import { inTurn, type Bench } from '../bench';
import { type Outcome, sampleOf } from '../outcome';
import { FLOOR_ACTION, splitOut } from '../workflows';

const CHARGES = 100;
const LATENCY_MS = 500;
const AT_ONCE = 4;
const ROUNDS = { warmUps: 0, counted: 3 };
const FIRST_CPF = 200_000_000;

/**
 * A list of customers who are charged, from a service that takes its time. Every customer is another,
 * and everything is given in the form.
 */
export async function charges(bench: Bench): Promise<Outcome[]> {
	const sandbox = await bench.sandbox({
		latencyMs: LATENCY_MS,
		requestsPerMinute: null,
		qrImage: 'absent',
	});
	const account = await bench.account(sandbox);
	const customers = splitOut('body.documents', 'document');
	const charge = createPix({
		cart: cartOf(sandbox),
		customerDocument: '={{ $json.document }}',
		notify: 'none',
		qrCodeImage: false,
	});
	const charging = await bench.side(account, [customers, charge]);
	const sides = [
		{ side: charging, count: CHARGES },
		{ side: charging, count: 1 },
		{ side: await bench.side(account, [customers, FLOOR_ACTION]), count: CHARGES },
	];
	let next = FIRST_CPF;
	const runs = await inTurn(sides, ROUNDS, async ({ side, count }) => {
		sandbox.reset();
		const documents = Array.from({ length: count }, () => cpf(next++));
		const cost = await side.run({ documents });
		const posts = sandbox.requests.filter(({ method }) => method === 'POST');
		return { ...cost, posts, requests: sandbox.requests.length, charged: sandbox.charges() };
	});
	const [four = [], one = [], floor = []] = runs;
	if (four.some(({ charged }) => charged !== CHARGES)) {
		throw new Error(`Not every run charged ${CHARGES} customers once.`);
	}
	const what = `${CHARGES} charges at ${LATENCY_MS} ms`;
	const leastMs = (CHARGES / AT_ONCE) * LATENCY_MS;
	return [
		{
			what,
			unit: 'ms',
			ours: sampleOf(four.map(({ ms }) => ms)),
			floor: sampleOf(floor.map(({ ms }) => ms)),
			// As many runs of one charge.
			peer: { name: 'one at a time', figures: sampleOf(one.map(({ ms }) => CHARGES * ms)) },
			// One at a time they would take at least 1.
			goal: { of: 'ours', bound: 'atMost', value: 0.3 * CHARGES * LATENCY_MS },
			notes: [`${what}: ${AT_ONCE} at once make at least ${leastMs} ms of waiting.`],
		},
		{
			what: `most requests at once, ${what}`,
			unit: 'requests',
			ours: sampleOf([Math.max(...four.map(({ posts }) => mostAtOnce(posts)))]),
			goal: { of: 'ours', bound: 'atMost', value: AT_ONCE },
		},
		{
			what: `requests for ${what}`,
			unit: 'requests',
			ours: sampleOf([Math.max(...four.map(({ requests }) => requests))]),
			goal: { of: 'ours', bound: 'atMost', value: CHARGES },
		},
		{
			what: `CPU time of n8n for ${what}`,
			unit: 'ms',
			ours: sampleOf(four.map(({ cpuMs }) => cpuMs)),
			floor: sampleOf(floor.map(({ cpuMs }) => cpuMs)),
		},
	];
}
