import { checkSame, inTurn, type Bench } from '../bench';
import { type Outcome, sampleOf } from '../outcome';
import { GET_TRANSACTIONS, httpRequest, splitOut } from '../workflows';

const ITEMS = 1_000;
const ROUNDS = { warmUps: 2, counted: 7 };
const MOST_AT_ONCE = 64;

/**
 * Both sides read one whole transaction for each item from a fast server. We have 64 requests in flight. HTTP Request
 * has as many as it can send before the first answer.
 */
export async function gets(bench: Bench): Promise<Outcome[]> {
	return [...(await measure(bench, 50, 0.9)), ...(await measure(bench, 0, 0.7))];
}

async function measure(bench: Bench, latencyMs: number, ratio: number): Promise<Outcome[]> {
	const { lean } = bench;
	const account = await bench.account(lean);
	const url = `=${account.baseUrl}/transactions/{{ $json.hash }}`;
	const body = { hashes: Array.from({ length: ITEMS }, (_, nth) => `bench${latencyMs}n${nth}`) };
	const items = splitOut('body.hashes', 'hash');
	const sides = [
		await bench.side(account, [items, GET_TRANSACTIONS]),
		await bench.side(account, [items, httpRequest(account.bearer, url)]),
	];
	lean.latencyMs = latencyMs;
	await checkSame(sides, ITEMS, body);
	const runs = await inTurn(sides, ROUNDS, async (side) => {
		lean.resetCounts();
		const ms = await side.run(body);
		return { ms, mostAtOnce: lean.mostAtOnce };
	});
	lean.latencyMs = 0;
	const [ours = [], peer = []] = runs;
	const msOf = (rounds: typeof ours) => sampleOf(rounds.map(({ ms }) => ms));
	const most = (rounds: typeof ours) =>
		sampleOf([Math.max(...rounds.map((run) => run.mostAtOnce))]);
	const what = `${ITEMS.toLocaleString('en-US')} × Get at ${latencyMs} ms`;
	const time: Outcome = {
		what,
		unit: 'ms',
		ours: msOf(ours),
		peer: { name: 'HTTP Request', figures: msOf(peer) },
		goal: { of: 'ratio', bound: 'atMost', value: ratio },
	};
	// A server that answers at once never has two requests in flight.
	if (latencyMs === 0) return [time];
	return [
		time,
		{
			what: `most requests at once, ${what}`,
			unit: 'requests',
			ours: most(ours),
			peer: { name: 'HTTP Request', figures: most(peer) },
			goal: { of: 'ours', bound: 'atMost', value: MOST_AT_ONCE },
		},
	];
}
