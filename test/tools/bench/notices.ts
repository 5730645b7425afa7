import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { eachLimit } from '../../../nodes/DigitalSales/shared/tasks';
import { END, type NodeSketch, trigger, webStart } from '../../helpers/e2e/workflows';
import { until } from '../../helpers/until';
import type { Bench } from './bench';
import { httpRequest, IF_PAID } from './nodes';
import { inTurn, median, type Row, row } from './rows';
import { leanService } from './service';

const COUNT = 60;
const SENT_AT_ONCE = 20;
const ROUNDS = 2;

/** Notices of paid sales, and of a known sale. The peer is Webhook + HTTP Request + If. */
export async function notices(bench: Bench): Promise<Row[]> {
	const account = await bench.account(await leanService(5));
	const receive = async (address: string, ...nodes: NodeSketch[]) => {
		const workflowId = await bench.publish(account.ours, [...nodes, END]);
		return async (sent: string[], executions: number) =>
			await flood(bench, { workflowId, address }, sent, executions);
	};
	const [id, path] = [randomUUID(), randomUUID()];
	const url = `=${account.baseUrl}/transactions/{{ $json.body.hash }}`;
	const form = { triggerOn: ['paid'], simplify: false };
	const ours = await receive(`${id}/digital-sales`, trigger(id, form));
	const peer = await receive(path, webStart(path), httpRequest(account.bearer, url), IF_PAID);
	const [floor, nothing] = [floorTrigger(true), floorTrigger(false)];
	const started = await receive(`${floor.webhookId}/floor`, floor);
	const silent = await receive(`${nothing.webhookId}/floor`, nothing);

	const [known = ''] = hashes(1);
	await ours([known], 1);
	const again = Array<string>(COUNT).fill(known);
	const sell = [ours, peer, started].map((side) => async () => await side(hashes(COUNT), COUNT));
	const repeat = [ours, silent].map((side) => async () => await side(again, 0));
	const sales = await inTurn(sell, ROUNDS);
	const repeats = await inTurn(repeat, ROUNDS);

	const [ms = NaN, peerMs, floorMs] = sales.map((runs) => median(runs.map((run) => run.ms)));
	const [cpu = NaN, peerCpu, floorCpu] = sales.map((runs) => median(runs.map((run) => run.cpuMs)));
	const [cpuAgain = NaN, silentCpu] = repeats.map((runs) => median(runs.map((run) => run.cpuMs)));
	const what = `${COUNT} notices of as many sales`;
	return [
		row(what, [ms, peerMs, floorMs], 1.25),
		row(`CPU time for ${what}`, [cpu, peerCpu, floorCpu], 1.25),
		row(`CPU time for ${COUNT} notices of a known sale`, [cpuAgain, undefined, silentCpu], 1.1),
	];
}

/** A trigger that does nothing. Without `starts`, its webhook starts no execution. */
function floorTrigger(starts: boolean): NodeSketch {
	const type = 'CUSTOM.floorTrigger';
	return { name: 'Floor', type, typeVersion: 2, webhookId: randomUUID(), parameters: { starts } };
}

/** @returns milliseconds from the first notice to the end of the last execution by n8n's own record, and n8n's CPU time */
async function flood(
	bench: Bench,
	{ workflowId, address }: { workflowId: string; address: string },
	sent: string[],
	expected: number,
): Promise<{ ms: number; cpuMs: number }> {
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
