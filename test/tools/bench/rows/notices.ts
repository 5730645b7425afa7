import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { eachLimit } from '../../../../nodes/DigitalSales/shared/eachLimit';
import { chainOf, END, type NodeSketch } from '../../../helpers/e2e/workflows';
import type { SavedWorkflow } from '../../../helpers/n8n/rest';
import { tally } from '../../../helpers/chance';
import { until } from '../../../helpers/until';
import { type Bench, inTurn, post } from '../bench';
import { type Goal, type Outcome, sampleOf } from '../outcome';
import { floorTrigger, httpRequest, IF_PAID, paidSale, webhook } from '../workflows';

const LATENCY_MS = 5;
const DISTINCT = 150;
const STORM = { transactions: 10, times: 15 };
const SENT_AT_ONCE = 20;
const ROUNDS = { warmUps: 1, counted: 3 };
const QUIET_MS = 1_000;
const WAITING = { withinMs: 120_000, everyMs: 200 };

/** A published workflow that receives notices. */
interface Receiver {
	workflow: SavedWorkflow;
	url: string;
	/** Whether repeated notices of a transaction start only one execution. */
	knowsAgain: boolean;
}

/** The workflows that receive notices. */
interface Receivers {
	ours: Receiver;
	/** Its Webhook node answers at once. Then HTTP Request reads, and If checks that it is paid. */
	peer: Receiver;
	/** n8n itself, with a trigger that does nothing. The second starts no execution. */
	floor: Receiver;
	silentFloor: Receiver;
}

interface Flood {
	executions: number;
	/** From the first notice to the end of the last execution, by n8n's own record. */
	ms: number;
	cpuMs: number;
	statuses: number[];
}

/**
 * With this setting n8n prepares its engine for expressions only when it meets an expression. By default it prepares
 * the engine for each call of a trigger other than its own Webhook node (`webhookPhaseNeedsIsolate` in its
 * live-webhooks), and again for the execution.
 */
const LAZY = { N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true' };

/** Notices of paid sales, once each and in floods. Both sides keep the executions. */
export async function notices(bench: Bench): Promise<Outcome[]> {
	const { lean } = bench;
	const receivers = await publishAll(bench);
	lean.latencyMs = LATENCY_MS;
	const asItComes = await measure(bench, receivers, '', {
		rate: { of: 'floor', bound: 'atLeast', value: 0.8 },
		cpu: { of: 'floor', bound: 'atMost', value: 1.25 },
		known: { of: 'floor', bound: 'atMost', value: 1.1 },
	});
	await bench.restart(receivers.ours.url, LAZY);
	const lazy = await measure(bench, receivers, ', engines prepared when met', {
		rate: { of: 'ratio', bound: 'atLeast', value: 1.2 },
		storm: { of: 'ratio', bound: 'atMost', value: 0.3 },
	});
	await bench.restart(receivers.ours.url);
	lean.latencyMs = 0;
	return [...asItComes, ...lazy];
}

async function measure(
	bench: Bench,
	{ ours, peer, floor, silentFloor }: Receivers,
	how: string,
	goals: { rate: Goal; cpu?: Goal; storm?: Goal; known?: Goal },
): Promise<Outcome[]> {
	const sides = [ours, peer, floor];
	const distinct = await inTurn(sides, ROUNDS, async (receiver) => {
		return await flood(bench, receiver, newHashes(DISTINCT), DISTINCT);
	});
	const storms = await inTurn(sides, ROUNDS, async (receiver) => {
		const hashes = newHashes(STORM.transactions);
		const sent = Array.from({ length: STORM.times }, () => hashes).flat();
		return await flood(bench, receiver, sent, receiver.knowsAgain ? hashes.length : sent.length);
	});
	const single = `${DISTINCT} notices of as many transactions${how}`;
	const storm = `${STORM.transactions * STORM.times} notices of ${STORM.transactions} transactions${how}`;
	const outcomes: Outcome[] = [
		{
			what: single,
			unit: 'a second',
			...sidesOf(distinct, ({ ms, executions }) => (executions * 1_000) / ms),
			goal: goals.rate,
		},
		{
			what: `executions started by ${storm}`,
			unit: 'executions',
			...sidesOf(storms, (run) => run.executions),
			goal: { of: 'ratio', bound: 'atMost', value: 0.1 },
		},
	];
	const addCpu = (what: string, runs: Flood[][], goal?: Goal): void => {
		const cpu = sidesOf(runs, (run) => run.cpuMs);
		if (goal) outcomes.push({ what: `CPU time of n8n for ${what}`, unit: 'ms', ...cpu, goal });
	};
	addCpu(single, distinct, goals.cpu);
	addCpu(storm, storms, goals.storm);
	if (goals.known) {
		outcomes.push({
			what: `CPU time of n8n for ${DISTINCT} notices of a transaction that is known`,
			unit: 'ms',
			...(await floodWithKnown(bench, ours, silentFloor)),
			goal: goals.known,
		});
	}
	return outcomes;
}

/** CPU time for notices of a transaction that has already started its execution. */
async function floodWithKnown(bench: Bench, ours: Receiver, floor: Receiver) {
	const [hash = ''] = newHashes(1);
	await flood(bench, ours, [hash], 1);
	const repeats = await inTurn([ours, floor], ROUNDS, async (receiver) => {
		const repeat = await flood(bench, receiver, Array<string>(DISTINCT).fill(hash), 0);
		if (repeat.executions > 0 || repeat.statuses.some((status) => status !== 200)) {
			throw new Error(
				`A known notice was not taken as one (${tally(repeat.statuses.map(String))}).`,
			);
		}
		return repeat;
	});
	const [known = [], nothing = []] = repeats.map((rounds) => rounds.map((run) => run.cpuMs));
	return { ours: sampleOf(known), floor: sampleOf(nothing) };
}

function sidesOf(runs: Flood[][], value: (run: Flood) => number) {
	const [ours, peer, floor] = runs.map((rounds) => sampleOf(rounds.map(value)));
	if (!ours || !peer) throw new Error('A side has not run.');
	return { ours, peer: { name: 'Webhook + HTTP Request + If', figures: peer }, floor };
}

async function publishAll(bench: Bench): Promise<Receivers> {
	const account = await bench.account(bench.lean);
	const receive = async (path: string, knowsAgain: boolean, nodes: NodeSketch[]) => {
		const workflow = await bench.publish(chainOf(path, account.ours, [...nodes, END]));
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
	const cpuBefore = bench.cpuMs();
	const start = Date.now();
	const statuses: number[] = [];
	await eachLimit(hashes, SENT_AT_ONCE, async (hash) => {
		const { status } = await post(url, { event: 'transaction', hash, payment_status: 'paid' });
		statuses.push(status);
	});
	const count = async (): Promise<number> => (await rest.successes(workflow.id)) - before;
	const isEnough = async (): Promise<boolean> => (await count()) >= expected;
	await until(`${expected} executions`, isEnough, WAITING);
	await pause(QUIET_MS);
	const cpuMs = bench.cpuMs() - cpuBefore;
	const ends = (await rest.executions(workflow.id)).map(({ stoppedAt }) =>
		Date.parse(stoppedAt ?? ''),
	);
	return { executions: await count(), ms: Math.max(...ends) - start, cpuMs, statuses };
}

function newHashes(count: number): string[] {
	const round = randomUUID().slice(0, 8);
	return Array.from({ length: count }, (_, nth) => `n${round}${nth}`);
}
