import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { chargesAt } from '../../../support/charge';
import { postJson } from '../../../support/http';
import {
	addressOf,
	cartOf,
	createPix,
	Downstream,
	type NodeSketch,
	publish,
	trigger,
	webStart,
} from '../../e2e/stage/workflows';
import type { ExecutionSummary } from '../../n8n/execution';
import type { Member } from '../../n8n/n8n';
import { type Cluster, startCluster } from '../../queue/stage/cluster';
import type { Asked, Noticed } from '../checker';
import { timesOf, type Plan, type Step } from './plan';

const WEBHOOK_ID = 'histories-sale';
const AGAIN_MS = 1_000;
const TAKEN_WITHIN_MS = 120_000;
const REVIVED_WITHIN_MS = 600_000;
/** As many as the workers run at a time, and some in the queue. */
const MOST_OPEN = 30;
const CROWDED_FOR_MS = 20_000;
/** n8n ends the executions of a dead worker after a minute and a half. */
const QUIET_AFTER_MS = 110_000;
const FAILED = ['error', 'crashed'];

const countSchema = z.object({ count: z.number() });

/** An ask, and whether n8n has said that it took it. */
export interface Sent {
	ask: Asked;
	sentAt: number;
	isTaken: boolean;
}

/** What an execution has handed on to the node behind ours. */
const reportSchema = z.object({ hash: z.string(), status: z.string(), execution: z.string() });
export type Report = z.infer<typeof reportSchema>;

/** Carries out a plan on a distributed n8n, and writes down what is asked and answered. */
export class Recorder {
	readonly sent: Sent[] = [];
	readonly noticed: Noticed[] = [];
	/** How often n8n has ended by itself. */
	deaths = 0;
	/** What was done, without the Retries for which there was nothing to retry. */
	operations = 0;
	private hashes: string[] = [];
	private readonly background: Array<Promise<void>> = [];
	private readonly down = new Set<Member>();

	private constructor(
		readonly cluster: Cluster,
		private readonly downstream: Downstream,
		/** The workflows that charge, and the one that a sale starts. */
		readonly charging: string[],
		readonly selling: string,
	) {}

	static async open(name: string): Promise<Recorder> {
		const cluster = await startCluster({ name, webhooks: 2 });
		const downstream = await Downstream.open();
		try {
			return await Recorder.publish(cluster, downstream);
		} catch (error) {
			await downstream.close();
			await cluster.close();
			throw error;
		}
	}

	private static async publish(cluster: Cluster, downstream: Downstream): Promise<Recorder> {
		const report: NodeSketch = {
			...downstream.node,
			parameters: {
				...downstream.node.parameters,
				jsonBody:
					'={{ JSON.stringify({ hash: $json.hash, status: $json.payment_status, execution: $execution.id }) }}',
			},
		};
		const add = async (name: string, ...nodes: NodeSketch[]): Promise<string> =>
			(await publish(cluster, name, [...nodes, report])).id;
		const charge = (more: Record<string, string>): NodeSketch =>
			createPix({
				notify: 'none',
				cart: cartOf(cluster.sandbox),
				customerName: '={{ $json.body.name }}',
				customerDocument: '={{ $json.body.customer }}',
				...more,
			});
		const reference = { orderReference: '={{ $json.body.order }}' };
		const charging = [
			await add('referenced', webStart('referenced'), charge(reference)),
			await add('plain', webStart('plain'), charge({})),
		];
		const parameters = { triggerOn: ['paid', 'reversed'] };
		const sale = { ...trigger(WEBHOOK_ID, parameters), name: 'Sale' };
		const recorder = new Recorder(cluster, downstream, charging, await add('sales', sale));
		for (const member of cluster.members) {
			member.onDeath = () => {
				recorder.deaths += 1;
				recorder.background.push(recorder.revive(member));
			};
		}
		return recorder;
	}

	get reports(): Report[] {
		return this.downstream.reports.map((report) => reportSchema.parse(report));
	}

	async close(): Promise<void> {
		await this.cluster.close();
		await this.downstream.close();
	}

	/** Does all of it, and waits until nothing is under way any more. */
	async carryOut(plan: Plan): Promise<void> {
		const { sandbox } = this.cluster;
		this.hashes = await chargesAt(sandbox, plan.sales.length);
		for (const [nth, hash] of this.hashes.entries()) {
			await sandbox.setStatus(hash, plan.sales[nth] ?? 'paid');
		}
		for (const { step, afterMs } of plan.steps) {
			await pause(afterMs);
			await this.crowdIsGone();
			await this.take(step, plan);
		}
		await Promise.all(this.background);
		sandbox.clearFaults();
		await this.quiet();
		// Only when it starts does n8n look for executions that were lost without anybody to tell.
		await this.cluster.main.kill();
		await this.revive(this.cluster.main);
		await this.quiet();
		await this.retryLost();
	}

	private async take(step: Step, plan: Plan): Promise<void> {
		const begin = (work: Promise<void>): void => void this.background.push(work);
		const { webhooks, sandbox, redis, postgres } = this.cluster;
		const from = (share: number): number => Math.floor(share * webhooks.length);
		switch (step.kind) {
			case 'ask':
				if (step.fault) sandbox.addFault(step.fault);
				step.asks.forEach((ask, nth) => begin(this.ask(ask, from(step.at) + nth)));
				break;
			case 'tell': {
				if (step.isSlow) {
					sandbox.addFault({ endpoint: 'GET /transactions/{hash}', kind: 'delay', ms: 3_000 });
				}
				const sale = { hash: this.hashes[step.sale] ?? '', status: plan.sales[step.sale] ?? '' };
				for (let nth = 0; nth < step.times; nth++) begin(this.tell(sale, from(step.at) + nth));
				break;
			}
			case 'retry':
				return await this.retry(step);
			case 'kill':
				return await this.kill(step);
			case 'restart':
				// An n8n whose database goes away just as it starts never starts, and never ends.
				while (this.down.size > 0) await pause(500);
				return await { redis, postgres }[step.server].restart();
		}
		this.operations += timesOf(step);
	}

	/** Posts an ask to a webhook process, and again to the other one while it is not taken. */
	private async ask({ place, customer, order }: Asked, first: number): Promise<void> {
		const path = order === undefined ? 'plain' : 'referenced';
		const deadline = Date.now() + TAKEN_WITHIN_MS;
		for (let nth = 0; Date.now() < deadline; nth++) {
			// One that is not taken may have begun an execution all the same.
			const ask = { place: `${place}.${nth}`, customer, ...(order !== undefined && { order }) };
			const sent = { ask, sentAt: Date.now(), isTaken: false };
			const url = `${this.webhook(first + nth)}/webhook/${path}`;
			const body = { ...ask, name: `${ask.place} ${order ?? '-'}` };
			const status = await postJson(url, body).then((answer) => answer.status, whetherSent);
			sent.isTaken = status === 200;
			if (status !== 'not') this.sent.push(sent);
			if (status === 200 || status === 'perhaps') return;
			await pause(AGAIN_MS);
		}
	}

	/** Tells the trigger of a sale until it answers 200, as the service does. */
	private async tell({ hash, status }: { hash: string; status: string }, first: number) {
		const deadline = Date.now() + TAKEN_WITHIN_MS;
		for (let nth = first; Date.now() < deadline; nth++) {
			const url = addressOf({ url: this.webhook(nth) }, WEBHOOK_ID);
			const sentAt = Date.now();
			const answer = await postJson(url, { hash, payment_status: status }).catch(() => undefined);
			const notice = { hash, status, isWanted: status !== 'canceled', sentAt };
			const answered = answer && { answered: answer.status };
			this.noticed.push({ ...notice, answeredAt: Date.now(), ...answered });
			if (answer?.status === 200) return;
			await pause(AGAIN_MS);
		}
	}

	private webhook(nth: number): string {
		const { webhooks } = this.cluster;
		return webhooks[nth % webhooks.length]?.url ?? '';
	}

	/** Presses Retry on one of the failed executions; nothing is done if there is none, or nobody to ask. */
	private async retry(step: Extract<Step, { kind: 'retry' }>): Promise<void> {
		const failed = await this.failed().catch(() => []);
		const chosen = failed[Math.floor(step.which * failed.length)];
		if (!chosen) return;
		this.operations += step.times;
		for (let nth = 0; nth < step.times; nth++) {
			this.background.push(this.press(chosen.id, step.loadWorkflow));
		}
	}

	/** The outcome is read from n8n in the end. */
	private async press(id: string, loadWorkflow: boolean): Promise<void> {
		const { rest } = this.cluster;
		await rest.retry(id, loadWorkflow).catch(() => undefined);
	}

	private async failed(): Promise<ExecutionSummary[]> {
		const lists = await Promise.all(
			[...this.charging, this.selling].map(async (id) => await this.cluster.rest.executions(id)),
		);
		return lists.flat().filter(({ status }) => FAILED.includes(status));
	}

	private async kill({ which, downMs }: Extract<Step, { kind: 'kill' }>): Promise<void> {
		const alive = this.cluster.members.filter((member) => !this.down.has(member));
		const member = alive[Math.floor(which * alive.length)];
		if (!member) throw new Error('No process is left to kill.');
		this.down.add(member);
		await member.kill();
		this.background.push(pause(downMs).then(async () => await this.revive(member)));
	}

	/** Starts it, again and again while what it needs is away. */
	private async revive(member: Member): Promise<void> {
		this.down.add(member);
		const deadline = Date.now() + REVIVED_WITHIN_MS;
		const isUp = async (): Promise<boolean> =>
			await member.start().then(
				() => true,
				() => false,
			);
		while (!(await isUp())) {
			if (Date.now() > deadline) throw new Error(`${member.name} does not start any more.`);
		}
		this.down.delete(member);
	}

	/** How many executions are open; undefined while nobody tells. */
	private async open(): Promise<number | undefined> {
		const filter = encodeURIComponent(JSON.stringify({ status: ['new', 'running'] }));
		const path = `/executions?filter=${filter}&limit=1`;
		return await this.cluster.rest.call(countSchema, 'GET', path).then(
			({ count }) => count,
			() => undefined,
		);
	}

	/** Waits while more is open than the workers get through; what was killed stays open for long. */
	private async crowdIsGone(): Promise<void> {
		const deadline = Date.now() + CROWDED_FOR_MS;
		while (Date.now() < deadline && ((await this.open()) ?? 0) > MOST_OPEN) await pause(500);
	}

	/** Waits until nothing is open, or what is open will stay so. */
	private async quiet(): Promise<void> {
		let [before, since] = [-1, Date.now()];
		for (;;) {
			const now = (await this.open()) ?? -1;
			if (now === 0) return;
			if (now !== before) [before, since] = [now, Date.now()];
			if (Date.now() - since > QUIET_AFTER_MS) return;
			await pause(1_000);
		}
	}

	/** Presses Retry once on each execution of a sale that has failed, unless a Retry went well. */
	private async retryLost(): Promise<void> {
		const executions = await this.cluster.rest.executionsSince();
		const ofSales = executions
			.map(({ summary }) => summary)
			.filter(({ workflowId }) => workflowId === this.selling);
		for (const { id, status, retryOf } of ofSales) {
			if (!FAILED.includes(status) || retryOf) continue;
			if (ofSales.some((other) => other.retryOf === id && other.status === 'success')) continue;
			await this.press(id, false);
		}
		await this.quiet();
	}
}

/** Nothing was sent to a process that is not there. */
function whetherSent(error: unknown): 'not' | 'perhaps' {
	const code = z.object({ code: z.string() }).safeParse(error).data?.code;
	return code === 'ECONNREFUSED' ? 'not' : 'perhaps';
}
