import { checkSame, inTurn, type Bench } from '../bench';
import { type Goal, type GroupOutcome, type Outcome, sampleOf } from '../outcome';
import { FLOOR, getTransactions, httpRequest, splitOut } from '../workflows';

const ITEMS = 1_000;
const ROUNDS = { warmUps: 2, counted: 7 };
const MOST_AT_ONCE = 96;

/** One request for each item. */
export async function gets(bench: Bench): Promise<GroupOutcome> {
	const slow = await measure(bench, 50, { of: 'ratio', bound: 'atMost', value: 0.9 });
	const fast = await measure(bench, 0, { of: 'ratio', bound: 'atMost', value: 0.7 });
	return {
		outcomes: [...slow, ...fast],
		method: `${ITEMS.toLocaleString('en-US')} hashes come in with the start, Split Out makes items of them, and each is read from a lean server, with whole transactions put out by both sides (Simplify off). n8n itself is a node that hands its items on. We begin with 32 requests at once and send more only while they are answered as fast as before. HTTP Request has no limit where no batching is set: it has as many under way as it gets to send before the first is answered.`,
	};
}

async function measure(bench: Bench, latencyMs: number, goal: Goal): Promise<Outcome[]> {
	const { lean } = bench;
	const account = await bench.account({ baseUrl: lean.baseUrl, apiToken: lean.apiToken });
	const url = `=${account.baseUrl}/transactions/{{ $json.hash }}`;
	const body = { hashes: Array.from({ length: ITEMS }, (_, nth) => `bench${latencyMs}n${nth}`) };
	const items = splitOut('body.hashes', 'hash');
	const sides = [
		await bench.side(account, [items, getTransactions()]),
		await bench.side(account, [items, httpRequest(account.bearer, url)]),
	];
	lean.latencyMs = latencyMs;
	await checkSame(sides, ITEMS, body);
	const floor = await bench.side(account, FLOOR);
	const runs = await inTurn([...sides, floor], ROUNDS, async (side) => {
		lean.resetCounts();
		const cost = await side.run(body);
		return { ...cost, mostAtOnce: lean.mostAtOnce };
	});
	lean.latencyMs = 0;
	const [ours = [], peer = [], nothing = []] = runs;
	const most = (rounds: typeof ours): number => Math.max(...rounds.map((run) => run.mostAtOnce));
	const cpu = (rounds: typeof ours): number =>
		Math.round(sampleOf(rounds.map((run) => run.cpuMs)).median);
	const what = `${ITEMS.toLocaleString('en-US')} × Get at ${latencyMs} ms`;
	const floorMs = Math.ceil(ITEMS / MOST_AT_ONCE) * latencyMs;
	const time: Outcome = {
		what,
		unit: 'ms',
		ours: sampleOf(ours.map(({ ms }) => ms)),
		peer: { name: 'HTTP Request', figures: sampleOf(peer.map(({ ms }) => ms)) },
		floor: sampleOf(nothing.map(({ ms }) => ms)),
		goal,
		notes: [
			`${what}: CPU time of n8n ${cpu(ours)} ms against ${cpu(peer)} ms, and ${cpu(nothing)} ms with a node that does nothing.${latencyMs > 0 ? ` ${MOST_AT_ONCE} at once make at least ${floorMs} ms of waiting.` : ''}`,
		],
	};
	// A server that answers at once has no two requests under way.
	if (latencyMs === 0) return [time];
	return [
		time,
		{
			what: `most requests at once, ${what}`,
			unit: 'requests',
			ours: sampleOf([most(ours)]),
			peer: { name: 'HTTP Request', figures: sampleOf([most(peer)]) },
			goal: { of: 'ours', bound: 'atMost', value: MOST_AT_ONCE },
		},
	];
}
