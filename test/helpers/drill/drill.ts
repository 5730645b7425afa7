import { setTimeout as pause } from 'node:timers/promises';
import type { StoredTransaction } from '../../sandbox/types';
import type { Chance } from '../chance';
import { chargesAt } from '../charge';
import type { Execution, ExecutionSummary } from '../n8n/execution';
import type { N8n } from '../n8n/n8n';
import type { Cluster } from '../queue/cluster';
import { until } from '../until';
import { Actors, FAILED } from './actors';
import { Disasters } from './disasters';
import { publishAll } from './workflows';

const LAST_ACTS = 5;
/** n8n ends the executions of a dead worker after 90 seconds; a single process ends them when it starts. */
const STUCK_AFTER_MS = { several: 110_000, single: 8_000 };
/** Looks that failed are up to 18 minutes apart. */
const FOR_WAITS = { withinMs: 35 * 60_000, everyMs: 5_000 };
/** An execution that was killed before n8n's event log had an entry keeps such a status. */
const OPEN = ['new', 'running'];

interface Size {
	rounds: number;
	actsEach: number;
}

/** What a drill leaves, for the invariants. */
export interface Outcome {
	/** Without the sales that webhooks are about. */
	charges: StoredTransaction[];
	/** Sales whose webhook was answered with 200, by hash. */
	accepted: string[];
	/** The executions of the trigger, and those that wait. */
	sales: Execution[];
	waits: Execution[];
	/** How many requests were under way at the kills. */
	struck: number;
}

/** Kills n8n while it works, and then gives everything time to end. */
export async function drill(
	n8n: N8n & Partial<Cluster>,
	chance: Chance,
	size: Size,
): Promise<Outcome> {
	const { sandbox } = n8n;
	const workflows = await publishAll(n8n);
	const sales = await chargesAt(sandbox, 3 * size.rounds);
	for (const hash of sales) await sandbox.setStatus(hash, 'paid');
	const actors = new Actors(n8n, workflows, sales, chance);
	const disasters = new Disasters(n8n, chance);

	await workAndStrike(actors, disasters, chance, size);
	await endAll(n8n);

	const executions = await n8n.rest.everyExecution();
	return {
		charges: sandbox.transactions.filter(({ hash }) => !sales.includes(hash)),
		accepted: actors.accepted,
		sales: executions.filter(({ summary }) => summary.workflowId === workflows.sales),
		waits: executions.filter(({ summary }) => workflows.waits.includes(summary.workflowId)),
		struck: disasters.struck,
	};
}

/** Acts begin one after the other and overlap. In each round, the last of them are under way when a disaster strikes. */
async function workAndStrike(
	actors: Actors,
	disasters: Disasters,
	chance: Chance,
	{ rounds, actsEach }: Size,
): Promise<void> {
	const acts: Array<Promise<void>> = [];
	const begin = async (count: number): Promise<void> => {
		for (let nth = 0; nth < count; nth++) {
			await pause(chance.within(0, 500));
			acts.push(actors.act());
		}
	};
	for (let round = 0; round < rounds; round++) {
		await begin(actsEach - LAST_ACTS);
		// A slow machine would still be busy with the first acts when the disaster strikes.
		await Promise.all(acts);
		await begin(LAST_ACTS);
		acts.push(actors.actSlowly());
		await disasters.strike();
	}
	await Promise.all(acts);
	await disasters.allAreUp();
}

/** Settles all payments, retries what failed, and waits until nothing runs any more. */
async function endAll(n8n: N8n): Promise<void> {
	const { sandbox, rest } = n8n;
	sandbox.clearFaults();
	await payAll(n8n);
	await waitUntilQuiet(n8n);
	// n8n looks for lost executions only when it starts.
	await n8n.restart();
	await waitUntilQuiet(n8n);
	await retryFailed(n8n);
	const areOver = async (): Promise<boolean> => {
		// A Retry may have charged somebody.
		await payAll(n8n);
		return (await rest.withStatus('waiting')).length === 0;
	};
	await until('the waits have ended', areOver, FOR_WAITS);
	await waitUntilQuiet(n8n);
}

async function payAll({ sandbox }: N8n): Promise<void> {
	const open = sandbox.transactions.filter((one) => one.payment_status === 'waiting_payment');
	for (const { hash } of open) await sandbox.setStatus(hash, 'paid');
}

/** Presses Retry once on each failed execution, unless a Retry succeeded. */
async function retryFailed(n8n: N8n): Promise<void> {
	const all = (await n8n.rest.everyExecution()).map(({ summary }) => summary);
	const goesOn = ({ status }: ExecutionSummary) => ['success', 'waiting'].includes(status);
	const retried = new Set(all.filter(goesOn).map(({ retryOf }) => retryOf));
	for (const { id, status, retryOf } of all) {
		if (retryOf || retried.has(id) || ![...FAILED, ...OPEN].includes(status)) continue;
		await n8n.rest.retry(id, false).catch(() => undefined);
	}
	await waitUntilQuiet(n8n);
}

/** Waits until no execution is open, or the open ones will never end. One that waits is open only during a look. */
async function waitUntilQuiet({ rest, members }: N8n): Promise<void> {
	const stuckAfterMs = STUCK_AFTER_MS[members.length === 1 ? 'single' : 'several'];
	let open: string[] = [];
	let since = Date.now();
	const isQuiet = async (): Promise<boolean> => {
		const found = await rest.withStatus(...OPEN).catch(() => undefined);
		if (!found) return false;
		const before = open.join();
		open = found.map(({ id }) => id).sort();
		if (open.join() !== before) since = Date.now();
		return open.length === 0 || Date.now() - since > stuckAfterMs;
	};
	await until('nothing runs any more', isQuiet, { ...FOR_WAITS, everyMs: 1_000 });
}
