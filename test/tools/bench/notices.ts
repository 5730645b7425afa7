import { randomUUID } from 'node:crypto';
import { eachLimit } from '../../../nodes/DigitalSales/shared/eachLimit';
import { END, type NodeSketch, trigger } from '../../helpers/e2e/workflows';
import { until } from '../../helpers/until';
import { type Account, type Bench } from './bench';
import { floorTrigger, httpRequest, IF_PAID, webhook } from './nodes';
import { type Goal, inTurn, median, type Row } from './rows';
import { leanService } from './service';

const COUNT = 150;
const DIFFERENT = 10;
const SENT_AT_ONCE = 20;
const ROUNDS = 3;

/** A published workflow that receives notices. */
interface Receiver {
	workflowId: string;
	address: string;
	/** The number of executions that a storm starts: `COUNT` notices of `DIFFERENT` transactions. */
	ofStorm: number;
}

/** Notices of paid sales, once each and repeated. The peer is Webhook + HTTP Request + If. */
export async function notices(bench: Bench): Promise<Row[]> {
	const service = await leanService();
	service.latencyMs = 5;
	const { sides, ours, silent } = await publishAll(bench, await bench.account(service));

	const single = await inTurn(sides, ROUNDS, async (side) => {
		return await flood(bench, side, hashes(COUNT), COUNT);
	});
	const storm = await inTurn(sides, ROUNDS, async (side) => {
		const few = hashes(DIFFERENT);
		const sent = Array.from({ length: COUNT }, (_, nth) => few[nth % DIFFERENT] ?? '');
		return await flood(bench, side, sent, side.ofStorm);
	});
	const [known = ''] = hashes(1);
	await flood(bench, ours, [known], 1);
	const repeats = await inTurn([ours, silent], ROUNDS, async (side) => {
		return await flood(bench, side, Array<string>(COUNT).fill(known), 0);
	});
	service.close();

	const row = (
		what: string,
		unit: Row['unit'],
		runs: Flood[][],
		value: (run: Flood) => number,
		goal: Goal,
	): Row => {
		const [mine = NaN, peer, floor] = runs.map((rounds) => median(rounds.map(value)));
		return { what, unit, ours: mine, peer, floor, goal };
	};
	const [mine = NaN, floor] = repeats.map((rounds) => median(rounds.map(({ cpuMs }) => cpuMs)));
	const each = `${COUNT} notices of as many transactions`;
	return [
		row(each, 'a second', single, ({ executions, ms }) => (executions * 1_000) / ms, {
			of: 'floor',
			atLeast: 0.8,
		}),
		row(`CPU time for ${each}`, 'ms', single, ({ cpuMs }) => cpuMs, { of: 'floor', atMost: 1.25 }),
		row(
			`executions of ${COUNT} notices of ${DIFFERENT} transactions`,
			'executions',
			storm,
			({ executions }) => executions,
			{ of: 'peer', atMost: 0.1 },
		),
		{
			what: `CPU time for ${COUNT} notices of a known sale`,
			unit: 'ms',
			ours: mine,
			floor,
			goal: { of: 'floor', atMost: 1.1 },
		},
	];
}

async function publishAll(bench: Bench, account: Account) {
	const receive = async (address: string, ofStorm: number, nodes: NodeSketch[]) => {
		return { workflowId: await bench.publish(account, [...nodes, END]), address, ofStorm };
	};
	const [id, path, floor, nothing] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
	const url = `=${account.baseUrl}/transactions/{{ $json.body.hash }}`;
	const ours = await receive(`${id}/digital-sales`, DIFFERENT, [
		trigger(id, { triggerOn: ['paid'], simplify: false }),
	]);
	const sides = [
		ours,
		await receive(path, COUNT, [webhook(path), httpRequest(account.bearer, url), IF_PAID]),
		await receive(`${floor}/floor`, COUNT, [floorTrigger(floor)]),
	];
	const silent = await receive(`${nothing}/floor`, 0, [floorTrigger(nothing, false)]);
	return { sides, ours, silent };
}

interface Flood {
	executions: number;
	/** From the first notice to the end of the last execution, by n8n's own record. */
	ms: number;
	cpuMs: number;
}

async function flood(
	bench: Bench,
	{ workflowId, address }: Receiver,
	sent: readonly string[],
	expected: number,
): Promise<Flood> {
	const { rest } = bench.n8n;
	const before = await rest.successes(workflowId);
	const cpuBefore = bench.cpuMs();
	const start = Date.now();
	await eachLimit(sent, SENT_AT_ONCE, async (hash) => {
		await bench.post(address, { event: 'transaction', hash, payment_status: 'paid' });
	});
	const count = async (): Promise<number> => (await rest.successes(workflowId)) - before;
	const isEnough = async (): Promise<boolean> => (await count()) >= expected;
	await until(`${expected} executions`, isEnough, { withinMs: 60_000, everyMs: 200 });
	// Another execution would still come.
	await new Promise((resolve) => setTimeout(resolve, 1_000));

	const executions = await count();
	if (executions !== expected) throw new Error(`Not ${expected} executions, but ${executions}.`);
	const ends = (await rest.executions(workflowId)).map(({ stoppedAt }) =>
		Date.parse(stoppedAt ?? ''),
	);
	return { executions, ms: Math.max(...ends) - start, cpuMs: bench.cpuMs() - cpuBefore };
}

function hashes(count: number): string[] {
	const round = randomUUID().slice(0, 8);
	return Array.from({ length: count }, (_, nth) => `n${round}${nth}`);
}
