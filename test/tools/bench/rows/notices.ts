import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { chainOf, type NodeSketch } from '../../../host/e2e/stage/workflows';
import { installHost } from '../../../host/n8n/host';
import { HOST_FOLDER } from '../../../host/n8n/paths';
import type { SavedWorkflow } from '../../../host/n8n/rest';
import { type Bench, type BenchAccount, inTurn, post } from '../bench';
import { type Goal, type GroupOutcome, type Outcome, sampleOf } from '../outcome';
import { cpuMs, PART_NAMES, profileOf, WITH_PROFILER } from '../process';
import { DONE, floorTrigger, httpRequest, IF_PAID, paidSale, webhook } from '../workflows';

const LIBRARY = path.join(HOST_FOLDER, 'node_modules', '@n8n', 'expression-runtime');
const TIMES = 21;

const SCRIPT = `
	const { IsolatedVmBridge } = require(process.argv[1]);
	const times = [];
	(async () => {
		for (let time = 0; time < ${TIMES}; time++) {
			const start = performance.now();
			const engine = new IsolatedVmBridge({ timeout: 5000, memoryLimit: 128 });
			await engine.initialize();
			await engine.dispose();
			times.push(performance.now() - start);
		}
		console.log(times.sort((a, b) => a - b)[${(TIMES - 1) / 2}]);
	})();
`;

/** How long n8n takes to prepare one of its engines for expressions and to end it, in milliseconds. */
async function expressionEngineMs(): Promise<number> {
	const { node } = await installHost();
	const { stdout } = await promisify(execFile)(node, ['--no-node-snapshot', '-e', SCRIPT, LIBRARY]);
	return Number(stdout);
}

const LATENCY_MS = 5;
const DISTINCT = 150;
const STORM = { transactions: 10, times: 15 };
const SENT_AT_ONCE = 20;
const ROUNDS = { warmUps: 1, counted: 3 };
const PROFILED = { warmUps: 1, counted: 1 };
const POLL_MS = 200;
const QUIET_MS = 1_000;
const WITHIN_MS = 120_000;

/** One side: a published workflow that takes notices in. */
interface Receiver {
	workflow: SavedWorkflow;
	url: string;
	/** Whether it knows a transaction again, and starts one execution for it however often it is told. */
	knowsAgain: boolean;
}

/** Who takes the notices. */
interface Receivers {
	ours: Receiver;
	peer: Receiver;
	/** n8n itself, with a trigger that does nothing; the second starts nothing either. */
	floor: Receiver;
	silentFloor: Receiver;
}

interface Flood {
	executions: number;
	/** From the first notice to the end of the last execution. */
	ms: number;
	cpuMs: number;
	statuses: number[];
}

/** n8n prepares its engine for expressions when it meets one, and not before. */
const LAZY = { N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true' };
/** n8n keeps what its engine for expressions has compiled. */
const COMPILE_CACHE = { N8N_EXPRESSION_ENGINE_COMPILE_CACHE: 'true' };

/** Why n8n's own Webhook node is cheaper to call than any other trigger. */
function becauseOfEngines(engineMs: number): string {
	return `n8n prepares an isolated engine for expressions for each call of a trigger that is not its own Webhook node, also where there is no expression (\`webhookPhaseNeedsIsolate\` in its live-webhooks), and another one for the execution. One takes ${Math.round(engineMs)} ms on this machine.`;
}

/** Notices of paid sales, one for each and in floods. */
export async function notices(bench: Bench): Promise<GroupOutcome> {
	const { lean } = bench;
	const account = await bench.account({ baseUrl: lean.baseUrl, apiToken: lean.apiToken });
	const receivers = await publishAll(bench, account);
	lean.latencyMs = LATENCY_MS;
	const asItComes = await measure(bench, receivers, {
		how: '',
		rate: { of: 'floor', bound: 'atLeast', value: 0.8 },
		cpu: { of: 'floor', bound: 'atMost', value: 1.25 },
		known: { of: 'floor', bound: 'atMost', value: 1.1 },
		note: becauseOfEngines(await expressionEngineMs()),
	});
	await bench.restart(receivers.ours.url, LAZY);
	const lazy = await measure(bench, receivers, {
		how: ', engines prepared when met',
		rate: { of: 'ratio', bound: 'atLeast', value: 1.2 },
		storm: { of: 'ratio', bound: 'atMost', value: 0.3 },
	});
	await bench.restart(receivers.ours.url, COMPILE_CACHE);
	const cached = await measureDistinct(bench, receivers, ', engines compiled once');
	await bench.restart(receivers.ours.url, WITH_PROFILER);
	const parts = await profile(bench, receivers);
	await bench.restart(receivers.ours.url);
	lean.latencyMs = 0;
	return {
		outcomes: [...asItComes, ...lazy, ...cached, ...parts],
		method: `Notices are posted ${SENT_AT_ONCE} at a time; a lean server answers each read after ${LATENCY_MS} ms. Ours is the trigger with its defaults and one node behind it. The peer reads the transaction with HTTP Request, asks If it is paid, and has the same node behind; its Webhook node answers at once, before anything is verified. Both keep the executions, as n8n does by default. n8n itself is a trigger of type version 2 that hands on the body, with the same node behind; for notices that are known it starts nothing. The time ends with the last execution, by n8n's own record. Engines prepared when met: \`N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE=true\`; compiled once: \`N8N_EXPRESSION_ENGINE_COMPILE_CACHE=true\`. What n8n spends where is from a profile of its main thread (V8, one round after one to warm up), by the files of the functions on the stack, the innermost first.`,
	};
}

/** The goals of a setting of n8n. */
interface Setting {
	how: string;
	rate?: Goal;
	cpu?: Goal;
	storm?: Goal;
	known?: Goal;
	note?: string;
}

async function measure(
	bench: Bench,
	receivers: Receivers,
	{ how, rate, cpu, storm: stormGoal, known: knownGoal, note }: Setting,
): Promise<Outcome[]> {
	const { ours, peer, floor, silentFloor } = receivers;
	const distinct = await measureDistinct(bench, receivers, how, { rate, cpu, note });
	const storms = await inTurn([ours, peer, floor], ROUNDS, async (receiver) => {
		const hashes = newHashes(STORM.transactions);
		const sent = Array.from({ length: STORM.times }, () => hashes).flat();
		return await flood(bench, receiver, sent, receiver.knowsAgain ? hashes.length : sent.length);
	});
	const [hash = ''] = newHashes(1);
	await flood(bench, ours, [hash], 1);
	const repeats = await inTurn([ours, silentFloor], ROUNDS, async (receiver) => {
		const repeat = await flood(bench, receiver, Array<string>(DISTINCT).fill(hash), 0);
		if (repeat.executions > 0 || repeat.statuses.some((status) => status !== 200)) {
			throw new Error(`A known notice was not taken as one (${answersOf(repeat.statuses)}).`);
		}
		return repeat;
	});
	const [known, nothing] = repeats.map((rounds) => sampleOf(rounds.map((run) => run.cpuMs)));
	if (!known) throw new Error('A side has not run.');
	const storm = `${STORM.transactions * STORM.times} notices of ${STORM.transactions} transactions${how}`;
	return [
		...distinct,
		{
			what: `executions started by ${storm}`,
			unit: 'executions',
			...sidesOf(storms, (run) => run.executions),
			goal: { of: 'ratio', bound: 'atMost', value: 0.1 },
			notes: [`${storm}: answers of the first round ${answers(storms)}.`],
		},
		{
			what: `CPU time of n8n for ${storm}`,
			unit: 'ms',
			...sidesOf(storms, (run) => run.cpuMs),
			goal: stormGoal,
		},
		{
			what: `CPU time of n8n for ${DISTINCT} notices of a transaction that is known${how}`,
			unit: 'ms',
			ours: known,
			floor: nothing,
			goal: knownGoal,
		},
	];
}

/** The rows about notices of as many transactions. */
async function measureDistinct(
	bench: Bench,
	{ ours, peer, floor }: Receivers,
	how: string,
	{ rate, cpu, note }: Pick<Setting, 'rate' | 'cpu' | 'note'> = {},
): Promise<Outcome[]> {
	const distinct = await inTurn([ours, peer, floor], ROUNDS, async (receiver) => {
		return await flood(bench, receiver, newHashes(DISTINCT), DISTINCT);
	});
	const single = `${DISTINCT} notices of as many transactions${how}`;
	return [
		{
			what: single,
			unit: 'a second',
			...sidesOf(distinct, ({ ms, executions }) => (executions * 1_000) / ms),
			goal: rate,
			notes: [
				`${single}: answers of the first round ${answers(distinct)}.`,
				...(note === undefined ? [] : [note]),
			],
		},
		{
			what: `CPU time of n8n for ${single}`,
			unit: 'ms',
			...sidesOf(distinct, (run) => run.cpuMs),
			goal: cpu,
		},
	];
}

/** What n8n spends on notices, part by part. */
async function profile(bench: Bench, { ours, floor }: Receivers): Promise<Outcome[]> {
	const [spent, spentByFloor] = await inTurn([ours, floor], PROFILED, async (receiver) => {
		const hashes = newHashes(DISTINCT);
		return await profileOf(bench.pid, async () => await flood(bench, receiver, hashes, DISTINCT));
	});
	return PART_NAMES.map((part) => {
		const sample = (runs: Array<Record<string, number>> = []) =>
			sampleOf(runs.map((run) => run[part] ?? 0));
		return {
			what: `n8n's main thread, for ${DISTINCT} notices of as many transactions: ${part}`,
			unit: 'ms',
			ours: sample(spent),
			floor: sample(spentByFloor),
		};
	});
}

function sidesOf(runs: Flood[][], value: (run: Flood) => number) {
	const [ours, peer, floor] = runs.map((rounds) => sampleOf(rounds.map(value)));
	if (!ours || !peer) throw new Error('A side has not run.');
	return { ours, peer: { name: 'Webhook + HTTP Request + If', figures: peer }, floor };
}

async function publishAll(bench: Bench, account: BenchAccount): Promise<Receivers> {
	const receive = async (path: string, knowsAgain: boolean, nodes: NodeSketch[]) => {
		const workflow = await bench.publish(chainOf(path, account.ours, [...nodes, DONE]));
		return { workflow, url: `${bench.n8n.url}/webhook/${path}`, knowsAgain };
	};
	const [id, path, floor, silent] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
	const url = `=${account.baseUrl}/transactions/{{ $json.body.hash }}`;
	return {
		ours: await receive(`${id}/digital-sales`, true, [paidSale(id)]),
		peer: await receive(path, false, [webhook(path), httpRequest(account.bearer, url), IF_PAID]),
		floor: await receive(`${floor}/floor`, false, [floorTrigger(floor)]),
		silentFloor: await receive(`${silent}/floor`, true, [floorTrigger(silent, false)]),
	};
}

async function flood(
	bench: Bench,
	{ workflow, url }: Receiver,
	hashes: readonly string[],
	expected: number,
): Promise<Flood> {
	const { rest } = bench.n8n;
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
	await pause(QUIET_MS);
	const cpu = cpuMs(bench.pid) - cpuBefore;
	const ends = (await rest.executions(workflow.id)).map(({ stoppedAt }) =>
		Date.parse(stoppedAt ?? ''),
	);
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

function answers([ours, peer]: Flood[][]): string {
	return `${answersOf(ours?.[0]?.statuses ?? [])} against ${answersOf(peer?.[0]?.statuses ?? [])}`;
}

/** How often each status was answered. */
function answersOf(statuses: readonly number[]): string {
	return [...new Set(statuses)]
		.sort((a, b) => a - b)
		.map((status) => `${statuses.filter((one) => one === status).length} × ${status}`)
		.join(', ');
}
