import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { eachLimit } from '../../../nodes/DigitalSales/shared/eachLimit';
import { END, type NodeSketch, trigger } from '../../helpers/e2e/workflows';
import { until } from '../../helpers/until';
import type { Bench } from './bench';
import { floorTrigger, httpRequest, IF_PAID, webhook } from './nodes';
import { inTurn, median, type Row } from './rows';
import { leanService } from './service';

const COUNT = 60;
const SENT_AT_ONCE = 20;
const ROUNDS = 2;

/** A published workflow that receives notices. */
interface Receiver {
	workflowId: string;
	address: string;
}

/** Notices of paid sales, and of a known sale. The peer is Webhook + HTTP Request + If. */
export async function notices(bench: Bench): Promise<Row[]> {
	const service = await leanService();
	service.latencyMs = 5;
	const account = await bench.account(service);
	const receive = async (address: string, ...nodes: NodeSketch[]): Promise<Receiver> => {
		return { workflowId: await bench.publish(account, [...nodes, END]), address };
	};
	const [id, path, floor, nothing] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
	const url = `=${account.baseUrl}/transactions/{{ $json.body.hash }}`;
	const form = { triggerOn: ['paid'], simplify: false };
	const ours = await receive(`${id}/digital-sales`, trigger(id, form));
	const peer = await receive(path, webhook(path), httpRequest(account.bearer, url), IF_PAID);
	const sides = [ours, peer, await receive(`${floor}/floor`, floorTrigger(floor))];
	const silent = await receive(`${nothing}/floor`, floorTrigger(nothing, false));

	const sales = await inTurn(sides, ROUNDS, async (side) => {
		return await flood(bench, side, hashes(COUNT), COUNT);
	});
	const [known = ''] = hashes(1);
	await flood(bench, ours, [known], 1);
	const repeats = await inTurn([ours, silent], ROUNDS, async (side) => {
		return await flood(bench, side, Array<string>(COUNT).fill(known), 0);
	});
	service.close();

	const row = (what: string, [mine = NaN, ...others]: number[], atMost: number): Row => {
		const [peers, floors] = others.length > 1 ? others : [undefined, ...others];
		return { what, unit: 'ms', ours: mine, peer: peers, floor: floors, atMost, of: 'floor' };
	};
	const medians = (runs: Flood[][], value: keyof Flood): number[] =>
		runs.map((rounds) => median(rounds.map((run) => run[value])));
	return [
		row(`${COUNT} notices of as many sales`, medians(sales, 'ms'), 1.25),
		row(`CPU time for ${COUNT} notices of as many sales`, medians(sales, 'cpuMs'), 1.25),
		row(`CPU time for ${COUNT} notices of a known sale`, medians(repeats, 'cpuMs'), 1.1),
	];
}

interface Flood {
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
	const count = async (): Promise<number> => (await rest.successes(workflowId)) - before;
	const start = Date.now();
	const cpuMs = await bench.cpuOf(async () => {
		await eachLimit(sent, SENT_AT_ONCE, async (hash) => {
			await bench.post(address, { event: 'transaction', hash, payment_status: 'paid' });
		});
		const isEnough = async (): Promise<boolean> => (await count()) >= expected;
		await until(`${expected} executions`, isEnough, { withinMs: 60_000, everyMs: 200 });
		// Another execution would still come.
		await pause(1_000);
	});

	if ((await count()) !== expected) throw new Error(`Not ${expected} executions.`);
	const executions = await rest.executions(workflowId);
	const ends = executions.map(({ stoppedAt }) => Date.parse(stoppedAt ?? ''));
	return { ms: Math.max(...ends) - start, cpuMs };
}

function hashes(count: number): string[] {
	const round = randomUUID().slice(0, 8);
	return Array.from({ length: count }, (_, nth) => `n${round}${nth}`);
}
