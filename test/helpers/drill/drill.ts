import { setTimeout as pause } from 'node:timers/promises';
import type { StoredTransaction } from '../../sandbox/types';
import { chargesAt } from '../charge';
import type { Downstream } from '../e2e/workflows';
import type { Execution, ExecutionSummary } from '../n8n/execution';
import type { N8n } from '../n8n/n8n';
import type { Cluster } from '../queue/cluster';
import { until } from '../until';
import { Actors } from './actors';
import { Disasters } from './disasters';
import { type Report, reportSchema } from './invariants';
import type { Plan } from './plan';
import { FAILED, Workflows } from './workflows';

const LAST_ACTS = 5;
/** n8n ends the executions of a dead worker after 90 seconds; a single process ends them when it starts. */
const STUCK_AFTER_MS = { several: 110_000, single: 8_000 };
/** Looks that failed are up to 18 minutes apart. */
const WAITS_END_WITHIN_MS = 35 * 60_000;
/** An execution that was killed before n8n's event log had an entry keeps such a status. */
const OPEN = ['new', 'running'];

/** What a drill leaves, for the invariants. */
export interface Outcome {
	/** Without the sales that webhooks are about. */
	charges: StoredTransaction[];
	/** Sales whose webhook was answered with 200, by hash. */
	accepted: string[];
	reports: Report[];
	/** How many executions of sales n8n has lost the data of. */
	lostSales: number;
	/** The hashes that executions began to wait for. An execution that failed in Create PIX has not waited. */
	awaited: string[];
	/** Requests under way at the kills. */
	underWay: Disasters['underWay'];
}

/** Carries out the whole plan, settles all payments, retries what failed, and waits until nothing runs any more. */
export async function drill(
	n8n: N8n & Partial<Cluster>,
	downstream: Downstream,
	plan: Plan,
): Promise<Outcome> {
	const { sandbox, rest, main } = n8n;
	const workflows = await Workflows.publish(n8n, downstream);
	const sales = await chargesAt(sandbox, plan.sales);
	for (const hash of sales) await sandbox.setStatus(hash, 'paid');
	const actors = new Actors(n8n, workflows, sales);
	const disasters = new Disasters(n8n);

	const acts: Array<Promise<unknown>> = [];
	for (const round of plan.rounds) {
		const posts: Array<Promise<unknown>> = [];
		for (const [nth, { act, afterMs }] of round.acts.entries()) {
			await pause(afterMs);
			await disasters.waitUntilUp();
			// On a slow machine, too, only the last acts are under way when the disaster strikes.
			if (nth === round.acts.length - LAST_ACTS) await Promise.all(posts);
			const done = actors.carryOut(act);
			acts.push(done);
			if ('at' in act) posts.push(done);
		}
		await disasters.strike(round.disaster);
	}
	await Promise.all(acts);
	await disasters.areOver();

	sandbox.clearFaults();
	await payAll(n8n);
	await waitUntilQuiet(n8n);
	// n8n looks for lost executions only when it starts.
	await main.kill();
	await disasters.restart(main);
	await waitUntilQuiet(n8n);
	await retryFailed(n8n);
	const areOver = async (): Promise<boolean> => {
		// A Retry may have charged somebody.
		await payAll(n8n);
		const all = await rest.everyExecution();
		return all.every(({ summary }) => summary.status !== 'waiting');
	};
	await until('the waits have ended', areOver, { withinMs: WAITS_END_WITHIN_MS, everyMs: 5_000 });
	await waitUntilQuiet(n8n);
	disasters.end();

	const executions = await rest.everyExecution();
	const { accepted } = actors;
	const isLostSale = ({ isForgotten, summary }: Execution) =>
		isForgotten && workflows.isSale(summary);
	return {
		charges: sandbox.transactions.filter(({ hash }) => !sales.includes(hash)),
		accepted,
		reports: downstream.reports.map((report) => reportSchema.parse(report)),
		lostSales: executions.filter(isLostSale).length,
		awaited: executions
			.filter(({ summary }) => workflows.isWait(summary))
			.flatMap((execution) => execution.items('Charge'))
			.flatMap(({ json: { hash } }) => (typeof hash === 'string' ? [hash] : [])),
		underWay: disasters.underWay,
	};
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
async function waitUntilQuiet(n8n: N8n): Promise<void> {
	const stuckAfterMs = STUCK_AFTER_MS[n8n.members.length === 1 ? 'single' : 'several'];
	let since = new Map<string, number>();
	for (;;) {
		const open = await n8n.rest.openExecutions().catch(() => undefined);
		if (open) {
			since = new Map(open.map(({ id }) => [id, since.get(id) ?? Date.now()]));
			if ([...since.values()].every((at) => Date.now() - at > stuckAfterMs)) return;
		}
		await pause(1_000);
	}
}
