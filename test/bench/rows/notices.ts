import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { chainOf, type NodeSketch } from '../../e2e/stage/workflows';
import type { SavedWorkflow } from '../../n8n/rest';
import { inTurn, post, type Bench, type BenchAccount } from '../bench';
import type { GroupOutcome } from '../outcome';
import { cpuMs } from '../process';
import { sampleOf } from '../statistics';
import { DONE, httpRequest, IF_PAID, paidSale, webhook } from '../workflows';

const LATENCY_MS = 5;
const DISTINCT = 400;
const STORM = { transactions: 10, times: 50 };
const SENT_AT_ONCE = 20;
const ROUNDS = { warmUps: 1, counted: 3 };
const POLL_MS = 200;
const QUIET_MS = 1_000;
const WITHIN_MS = 120_000;

/** One side: a published workflow that takes notices in. */
interface Receiver {
	workflow: SavedWorkflow;
	url: string;
	/** Whether it starts one execution for each notice, or one for each transaction. */
	isPeer: boolean;
}

interface Flood {
	executions: number;
	/** From the first notice to the end of the last execution. */
	ms: number;
	cpuMs: number;
	statuses: number[];
}

/** Notices of paid sales, one for each and in floods. */
export async function notices(bench: Bench): Promise<GroupOutcome> {
	const { lean } = bench;
	const account = await bench.account({ baseUrl: lean.baseUrl(0), apiToken: lean.apiToken });
	const receivers = await publishBoth(bench, account);
	lean.latencyMs = LATENCY_MS;
	const distinct = await inTurn(receivers, ROUNDS, async (receiver) => {
		const hashes = newHashes(DISTINCT);
		return await flood(bench, receiver, hashes, DISTINCT);
	});
	const storms = await inTurn(receivers, ROUNDS, async (receiver) => {
		const hashes = newHashes(STORM.transactions);
		const sent = Array.from({ length: STORM.times }, () => hashes).flat();
		return await flood(bench, receiver, sent, receiver.isPeer ? sent.length : hashes.length);
	});
	lean.latencyMs = 0;
	const name = 'Webhook + HTTP Request + If';
	const of = (runs: Flood[][], side: number, what: (run: Flood) => number) =>
		sampleOf((runs[side] ?? []).map(what));
	const rate = ({ ms, executions }: Flood): number => (executions * 1_000) / ms;
	const what = `${STORM.transactions * STORM.times} notices of ${STORM.transactions} transactions`;
	return {
		outcomes: [
			{
				what: `${DISTINCT} notices of as many transactions`,
				unit: 'a second',
				ours: of(distinct, 0, rate),
				peer: { name, figures: of(distinct, 1, rate) },
				goal: { of: 'ratio', bound: 'atLeast', value: 1.2 },
				notes: [
					`${DISTINCT} notices: answers of the first round ${answers(distinct[0])} against ${answers(distinct[1])}; CPU time of n8n ${of(distinct, 0, (run) => run.cpuMs).median} ms against ${of(distinct, 1, (run) => run.cpuMs).median} ms.`,
				],
			},
			{
				what: `executions started by ${what}`,
				unit: 'executions',
				ours: of(storms, 0, (run) => run.executions),
				peer: { name, figures: of(storms, 1, (run) => run.executions) },
				goal: { of: 'ratio', bound: 'atMost', value: 0.1 },
				notes: [
					`${what}: answers of the first round ${answers(storms[0])} against ${answers(storms[1])}.`,
				],
			},
			{
				what: `CPU time of n8n for ${what}`,
				unit: 'ms',
				ours: of(storms, 0, (run) => run.cpuMs),
				peer: { name, figures: of(storms, 1, (run) => run.cpuMs) },
				goal: { of: 'ratio', bound: 'atMost', value: 0.2 },
			},
		],
		method: `Notices are posted ${SENT_AT_ONCE} at a time; a lean server answers each read after ${LATENCY_MS} ms. Ours is the trigger with its defaults and one node behind it. The peer reads the transaction with HTTP Request, asks If it is paid, and has the same node behind; its Webhook node answers at once, before anything is verified. Both keep the executions, as n8n does by default. The time ends with the last execution, by n8n's own record.`,
	};
}

async function publishBoth(bench: Bench, account: BenchAccount): Promise<Receiver[]> {
	const receive = async (path: string, isPeer: boolean, nodes: NodeSketch[]) => {
		const workflow = await bench.publish(chainOf(path, account.ours, [...nodes, DONE]));
		return { workflow, url: `${bench.stage.url}/webhook/${path}`, isPeer };
	};
	const [id, path] = [randomUUID(), randomUUID()];
	const url = `=${account.baseUrl}/transactions/{{ $json.body.hash }}`;
	return [
		await receive(`${id}/digital-sales`, false, [paidSale(id)]),
		await receive(path, true, [webhook(path), httpRequest(account.bearer, url), IF_PAID]),
	];
}

async function flood(
	bench: Bench,
	{ workflow, url }: Receiver,
	hashes: readonly string[],
	expected: number,
): Promise<Flood> {
	const { rest } = bench.stage;
	const before = await rest.successes(workflow.id);
	const cpuBefore = cpuMs(bench.pid);
	const start = Date.now();
	const statuses = await sendAll(url, hashes);
	const deadline = Date.now() + WITHIN_MS;
	let executions = 0;
	while ((executions = (await rest.successes(workflow.id)) - before) < expected) {
		if (Date.now() > deadline) {
			throw new Error(`${executions} executions of ${expected} (${answersOf(statuses)})`);
		}
		await pause(POLL_MS);
	}
	const cpu = cpuMs(bench.pid) - cpuBefore;
	const ends = (await rest.executions(workflow.id)).map(({ stoppedAt }) =>
		Date.parse(stoppedAt ?? ''),
	);
	await pause(QUIET_MS);
	executions = (await rest.successes(workflow.id)) - before;
	return { executions, ms: Math.max(...ends) - start, cpuMs: cpu, statuses };
}

async function sendAll(url: string, hashes: readonly string[]): Promise<number[]> {
	const statuses: number[] = [];
	const left = hashes.values();
	const sender = async (): Promise<void> => {
		for (const hash of left) {
			const { status } = await post(url, { event: 'transaction', hash, payment_status: 'paid' });
			statuses.push(status);
		}
	};
	await Promise.all(Array.from({ length: SENT_AT_ONCE }, sender));
	return statuses;
}

function newHashes(count: number): string[] {
	const round = randomUUID().slice(0, 8);
	return Array.from({ length: count }, (_, nth) => `n${round}${nth}`);
}

function answers(rounds: Flood[] = []): string {
	return answersOf(rounds[0]?.statuses ?? []);
}

/** How often each status was answered. */
function answersOf(statuses: readonly number[]): string {
	return [...new Set(statuses)]
		.sort((a, b) => a - b)
		.map((status) => `${statuses.filter((one) => one === status).length} × ${status}`)
		.join(', ');
}
