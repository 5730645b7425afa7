import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { chargesAt } from '../charge';
import type { RecordedRequest } from '../../sandbox/parts';
import { postJson } from '../http';
import { until } from '../until';
import {
	addressOf,
	cartOf,
	chainOf,
	createPix,
	type Downstream,
	type NodeSketch,
	publish,
	split,
	trigger,
	waitForPayment,
	webStart,
} from '../e2e/workflows';
import type { ExecutionSummary } from '../n8n/execution';
import type { Member, N8n } from '../n8n/n8n';
import type { Cluster } from '../queue/cluster';
import type { ChargeRequest, Delivery, Wait } from './checker';
import { READ, countOperations, type Plan, type Step, type WaitKind } from './plan';

const WEBHOOK_ID = 'histories-sale';
const REPEAT_AFTER_MS = 1_000;
const ACCEPTED_WITHIN_MS = 120_000;
const RESTARTED_WITHIN_MS = 600_000;
/** As many executions as the workers run at a time, and some in the queue. */
const MOST_OPEN_EXECUTIONS = 30;
const LONGEST_QUEUE_MS = 20_000;
/** n8n ends the executions of a dead worker after 90 seconds; a single process ends them when it starts. */
const STUCK_AFTER_MS = { queue: 110_000, single: 8_000 };
/** After a 429 there are few looks for 15 minutes, and looks that failed are up to 18 minutes apart. */
const WAITS_END_WITHIN_MS = 35 * 60_000;
const SLOW_READ_MS = 6_000;
const CHARGED_WITHIN_MS = 60_000;
const FAILED = ['error', 'crashed'];
/** An execution that was killed before n8n's event log had an entry keeps such a status. */
const OPEN = ['new', 'running'];
/** Reports an item that reached the node after ours. */
const REPORT_BODY =
	'={{ JSON.stringify({ hash: $json.hash, status: $json.payment_status, paid: $json.paid, at: Date.now(), execution: $execution.id }) }}';
const reportSchema = z.object({
	hash: z.string(),
	status: z.string(),
	/** Only items of a wait have it. */
	paid: z.boolean().optional(),
	at: z.number(),
	execution: z.string(),
});
export type Report = z.infer<typeof reportSchema>;

const EACH_REQUEST = split('Each', 'requests');
const LOOP: NodeSketch = {
	name: 'Loop',
	type: 'n8n-nodes-base.splitInBatches',
	typeVersion: 3,
	parameters: { batchSize: 1, options: {} },
};
/** Runs after our node, so that some crashes come when our node has already finished. */
const BUSY: NodeSketch = {
	name: 'Busy',
	type: 'n8n-nodes-base.wait',
	typeVersion: 1.1,
	parameters: { resume: 'timeInterval', amount: 0.3, unit: 'seconds' },
};

const openSchema = z.object({ count: z.number(), results: z.array(z.object({ id: z.string() })) });

/** How executions wait, with the time limit in minutes. */
const WAIT_KINDS: Record<WaitKind, { webhooksGoTo: 'automatic' | 'none'; minutes: number }> = {
	notified: { webhooksGoTo: 'automatic', minutes: 24 * 60 },
	unnotified: { webhooksGoTo: 'none', minutes: 24 * 60 },
	shortLimit: { webhooksGoTo: 'automatic', minutes: 2 },
};

/** A request that was sent to n8n, accepted or not. */
export interface SentRequest {
	request: ChargeRequest;
	sentAt: number;
}

/** Carries out a plan on an n8n of one or more processes, and records requests and answers. */
export class Recorder {
	readonly sent: SentRequest[] = [];
	readonly deliveries: Delivery[] = [];
	/** How often a process of n8n ended without a kill. */
	deaths = 0;
	/** The number of charges in progress at each kill. */
	readonly chargesAtKills: number[] = [];
	/** The number of reads by waiting executions in progress at the kills. */
	readsAtKills = 0;
	/** The final status of each payment, by hash. */
	readonly decisions = new Map<string, NonNullable<Wait['decided']>>();
	/** The operations carried out. A Retry without a failed execution does not count. */
	operations = 0;
	private saleHashes: string[] = [];
	private readonly background: Array<Promise<void>> = [];
	private readonly stopped = new Set<Member>();

	private constructor(
		readonly n8n: N8n & Partial<Cluster>,
		private readonly downstream: Downstream,
		/** The workflows that create charges. */
		readonly charging: string[],
		/** The workflows that wait for the payment, with their time limits in milliseconds. */
		readonly timeLimits: ReadonlyMap<string, number>,
		/** The workflow that a sale starts. */
		readonly salesWorkflow: string,
	) {}

	/** Publishes the workflows. */
	static async open(n8n: N8n & Partial<Cluster>, downstream: Downstream): Promise<Recorder> {
		const { node } = downstream;
		const report = { ...node, parameters: { ...node.parameters, jsonBody: REPORT_BODY } };
		const isSingle = n8n.members.length === 1;
		const after = isSingle ? [BUSY, report] : [report];
		const add = async (name: string, ...nodes: NodeSketch[]): Promise<string> =>
			(await publish(n8n, name, [...nodes, ...after])).id;
		const addLoop = async (name: string, charge: NodeSketch): Promise<string> => {
			const chain = [webStart(name), EACH_REQUEST, LOOP, charge, ...after];
			const workflow = chainOf(name, n8n.credential, chain);
			const to = (node: string): object[] => [{ node, type: 'main', index: 0 }];
			Object.assign(workflow.connections, {
				[LOOP.name]: { main: [[], to(charge.name)] },
				[report.name]: { main: [to(LOOP.name)] },
			});
			const saved = await n8n.rest.createWorkflow(workflow);
			await n8n.rest.publish(saved);
			return saved.id;
		};
		const charge = (more: Record<string, string>): NodeSketch =>
			createPix({
				webhooksGoTo: 'none',
				cart: cartOf(n8n.sandbox),
				customerName: '={{ $json.name }}',
				customerDocument: '={{ $json.customer }}',
				...more,
			});
		const chargesByName = {
			referenced: charge({ orderReference: '={{ $json.order }}' }),
			plain: charge({}),
		};
		const charging: string[] = [];
		for (const [name, node] of Object.entries(chargesByName)) {
			charging.push(await add(name, webStart(name), EACH_REQUEST, node));
			if (isSingle) charging.push(await addLoop(`${name}-loop`, node));
		}
		const timeLimits = new Map<string, number>();
		for (const [name, { webhooksGoTo, minutes }] of Object.entries(WAIT_KINDS)) {
			const node = charge({ orderReference: '={{ $json.order }}', webhooksGoTo });
			const wait = waitForPayment({ timeLimit: minutes, timeLimitUnit: 'minutes' });
			timeLimits.set(await add(name, webStart(name), EACH_REQUEST, node, wait), minutes * 60_000);
		}
		charging.push(...timeLimits.keys());
		const parameters = { triggerOn: ['paid', 'reversed'] };
		const sale = { ...trigger(WEBHOOK_ID, parameters), name: 'Sale' };
		const salesWorkflow = await add('sales', sale);
		const recorder = new Recorder(n8n, downstream, charging, timeLimits, salesWorkflow);
		for (const member of n8n.members) {
			member.onDeath = () => {
				recorder.deaths += 1;
				recorder.background.push(recorder.restartMember(member));
			};
		}
		return recorder;
	}

	/** Whether n8n is one process. */
	private get isSingle(): boolean {
		return this.n8n.members.length === 1;
	}

	get reports(): Report[] {
		return this.downstream.reports.map((report) => reportSchema.parse(report));
	}

	/** Carries out the whole plan, and waits until nothing runs any more. */
	async carryOut(plan: Plan): Promise<void> {
		const { sandbox, main } = this.n8n;
		this.saleHashes = await chargesAt(sandbox, plan.sales.length);
		for (const [nth, hash] of this.saleHashes.entries()) {
			await sandbox.setStatus(hash, plan.sales[nth] ?? 'paid');
		}
		const isAnyUp = (): boolean => this.stopped.size < this.n8n.members.length;
		for (const { step, afterMs } of plan.steps) {
			await pause(afterMs);
			await this.waitForShortQueue();
			await until('a process is up', isAnyUp, { withinMs: RESTARTED_WITHIN_MS });
			await this.carryOutStep(step, plan);
		}
		await Promise.all(this.background);
		sandbox.clearFaults();
		await this.waitUntilQuiet();
		// n8n looks for lost executions only when it starts.
		await main.kill();
		await this.restartMember(main);
		await this.waitUntilQuiet();
		await this.retryFailedExecutions();
		await this.waitForEndedWaits();
		// The processes die when their servers are stopped.
		for (const member of this.n8n.members) member.onDeath = () => undefined;
	}

	private async carryOutStep(step: Step, plan: Plan): Promise<void> {
		const runInBackground = (work: Promise<void>): void => void this.background.push(work);
		const { webhooks, sandbox, redis, postgres } = this.n8n;
		const webhookAt = (share: number): number => Math.floor(share * webhooks.length);
		switch (step.kind) {
			case 'charge':
				if (step.fault) sandbox.addFault(step.fault);
				if (step.together) {
					runInBackground(
						this.sendRequests(
							step.requests,
							workflowFor(step.requests, step.together),
							webhookAt(step.at),
						),
					);
				} else {
					step.requests.forEach((request, nth) =>
						runInBackground(
							this.sendRequests([request], workflowFor(step.requests), webhookAt(step.at) + nth),
						),
					);
				}
				break;
			case 'wait':
				if (step.fault) sandbox.addFault(step.fault);
				runInBackground(this.sendRequests([step.request], step.wait, webhookAt(step.at)));
				break;
			case 'settle':
				if (step.fault) sandbox.addFault(step.fault);
				runInBackground(this.settlePayment(step));
				break;
			case 'claimPaid':
				runInBackground(this.claimPaid(step.customer));
				break;
			case 'notify': {
				if (step.isSlow) {
					sandbox.addFault({ endpoint: 'GET /transactions/{hash}', kind: 'delay', ms: 3_000 });
				}
				const sale = {
					hash: this.saleHashes[step.sale] ?? '',
					status: plan.sales[step.sale] ?? '',
				};
				for (let nth = 0; nth < step.times; nth++)
					runInBackground(this.notifyOfSale(sale, webhookAt(step.at) + nth));
				break;
			}
			case 'retry':
				return await this.retryFailed(step);
			case 'kill':
				return await this.killMember(step);
			case 'restart':
				// An n8n that loses its database while it starts neither starts nor ends.
				while (this.stopped.size > 0) await pause(500);
				return await { redis, postgres }[step.server]?.restart();
		}
		this.operations += countOperations(step);
	}

	/** Posts requests to a webhook process, and repeats them at the next process until they are accepted. */
	private async sendRequests(
		requests: ChargeRequest[],
		path: string,
		first: number,
	): Promise<void> {
		const deadline = Date.now() + ACCEPTED_WITHIN_MS;
		for (let nth = 0; Date.now() < deadline; nth++) {
			// A request that was not accepted may have started an execution, unless its workflow is not published (404).
			const attempted = requests.map((request) => ({ ...request, slot: `${request.slot}.${nth}` }));
			const sent = attempted.map((request) => ({ request, sentAt: Date.now() }));
			const url = `${this.webhookUrl(first + nth)}/webhook/${path}`;
			const named = attempted.map((request) => ({
				...request,
				name: `${request.slot} ${request.order ?? '-'}`,
			}));
			const answer = postJson(url, { requests: named });
			const status = await answer.then((received) => received.status, wasSent);
			if (status !== 'no' && status !== 404) this.sent.push(...sent);
			if (status === 200 || status === 'perhaps') return;
			await pause(REPEAT_AFTER_MS);
		}
	}

	/** Notifies the trigger of a sale until it answers 200, as the service does. */
	private async notifyOfSale({ hash, status }: { hash: string; status: string }, first: number) {
		const deadline = Date.now() + ACCEPTED_WITHIN_MS;
		for (let nth = first; Date.now() < deadline; nth++) {
			const url = addressOf({ url: this.webhookUrl(nth) }, WEBHOOK_ID);
			const sentAt = Date.now();
			const answer = await postJson(url, { hash, payment_status: status }).catch(() => undefined);
			const delivery = { hash, status, isWanted: status !== 'canceled', sentAt };
			// While n8n starts, it answers 200 to everything. The service would stop here, and the sale would be lost.
			const isStarting = answer?.text.startsWith('n8n is starting up') ?? false;
			const answered = answer && !isStarting && { answered: answer.status };
			this.deliveries.push({ ...delivery, answeredAt: Date.now(), ...answered });
			if (answer?.status === 200 && !isStarting) return;
			await pause(REPEAT_AFTER_MS);
		}
	}

	/** Sets the final status of a customer's payments as soon as they exist. The service refuses some at once. */
	private async settlePayment({
		customer,
		status,
	}: Extract<Step, { kind: 'settle' }>): Promise<void> {
		for (const { hash, payment_status: before } of await this.chargesOf(customer)) {
			if (before !== 'waiting_payment') continue;
			this.decisions.set(hash, { status, at: Date.now() });
			await this.n8n.sandbox.setStatus(hash, status);
		}
	}

	private async claimPaid(customer: string): Promise<void> {
		for (const { hash, postback_url: url } of await this.chargesOf(customer)) {
			await postJson(url, { hash, payment_status: 'paid' }).catch(() => undefined);
		}
	}

	private async chargesOf(customer: string) {
		const find = () => {
			const { transactions } = this.n8n.sandbox;
			const made = transactions.filter((transaction) => transaction.customer.document === customer);
			return made.length > 0 && made;
		};
		const options = { withinMs: CHARGED_WITHIN_MS };
		return await until(`${customer} is charged`, find, options).catch(() => []);
	}

	private webhookUrl(nth: number): string {
		const { webhooks } = this.n8n;
		return webhooks[nth % webhooks.length]?.url ?? '';
	}

	/** Presses Retry on one of the failed executions, if there are any and n8n answers. */
	private async retryFailed(step: Extract<Step, { kind: 'retry' }>): Promise<void> {
		const failed = await this.failedExecutions().catch(() => []);
		const chosen = failed[Math.floor(step.which * failed.length)];
		if (!chosen) return;
		this.operations += step.times;
		// With the current workflow, n8n skips a wait that was killed during a read. The guide says which Retry to use.
		const loadWorkflow = step.loadWorkflow && !this.timeLimits.has(chosen.workflowId);
		for (let nth = 0; nth < step.times; nth++) {
			this.background.push(this.pressRetry(chosen.id, loadWorkflow));
		}
	}

	/** Ignores the answer, because the outcome is read from n8n at the end. */
	private async pressRetry(id: string, loadWorkflow: boolean): Promise<void> {
		await this.n8n.rest.retry(id, loadWorkflow).catch(() => undefined);
	}

	private async failedExecutions(): Promise<ExecutionSummary[]> {
		const lists = await Promise.all(
			[...this.charging, this.salesWorkflow].map(async (id) => await this.n8n.rest.executions(id)),
		);
		return lists.flat().filter(({ status }) => FAILED.includes(status));
	}

	private async killMember({
		which,
		downMs,
		readingFor,
	}: Extract<Step, { kind: 'kill' }>): Promise<void> {
		const isReading = readingFor !== undefined && (await this.startSlowRead(readingFor));
		const { members, workers } = this.n8n;
		const isUp = (member: Member): boolean => !this.stopped.has(member);
		const readers = isReading ? workers.filter(isUp) : [];
		const alive = readers.length > 0 ? readers : members.filter(isUp);
		const member = alive[Math.floor(which * alive.length)];
		if (!member) throw new Error('No process is left to kill.');
		this.stopped.add(member);
		await member.kill();
		const inProgress = this.n8n.sandbox.requests.filter(isInProgress);
		this.chargesAtKills.push(inProgress.filter(({ method }) => method === 'POST').length);
		const reads = inProgress.filter(
			({ path }) => !this.saleHashes.some((hash) => path.endsWith(hash)),
		);
		this.readsAtKills += reads.filter(({ method }) => method === 'GET').length;
		this.background.push(pause(downMs).then(async () => await this.restartMember(member)));
	}

	/** Wakes the execution that waits for a payment, and returns whether it started a read. The read is slow. */
	private async startSlowRead(customer: string): Promise<boolean> {
		const { sandbox } = this.n8n;
		const { hash } =
			sandbox.transactions.find((transaction) => transaction.customer.document === customer) ?? {};
		if (hash === undefined) return false;
		sandbox.addFault({ endpoint: READ, kind: 'delay', ms: SLOW_READ_MS });
		this.background.push(this.claimPaid(customer));
		const isReading = (): boolean => {
			return sandbox.requests.some(
				(request) => isInProgress(request) && request.path.endsWith(hash),
			);
		};
		return await until(`${hash} is read`, isReading, { withinMs: SLOW_READ_MS }).catch(() => false);
	}

	/** Starts a process, and repeats that while its servers are down. */
	private async restartMember(member: Member): Promise<void> {
		this.stopped.add(member);
		const isUp = async (): Promise<boolean> =>
			await member.start().then(
				() => true,
				() => false,
			);
		await until(`${member.name} starts again`, isUp, { withinMs: RESTARTED_WITHIN_MS });
		this.stopped.delete(member);
	}

	/** The number of open executions, and the first hundred; undefined while n8n does not answer. */
	private async openExecutions(): Promise<z.infer<typeof openSchema> | undefined> {
		const filter = encodeURIComponent(JSON.stringify({ status: OPEN }));
		const path = `/executions?filter=${filter}&limit=100`;
		return await this.n8n.rest.call(openSchema, 'GET', path).catch(() => undefined);
	}

	/** Waits while the workers cannot keep up. Gives up after a while, because killed executions stay open for long. */
	private async waitForShortQueue(): Promise<void> {
		const deadline = Date.now() + LONGEST_QUEUE_MS;
		while (
			Date.now() < deadline &&
			((await this.openExecutions())?.count ?? 0) > MOST_OPEN_EXECUTIONS
		)
			await pause(500);
	}

	/** Waits until no execution is open, or the open executions will never end. A waiting execution is open only during a look. */
	private async waitUntilQuiet(): Promise<void> {
		const stuckAfterMs = STUCK_AFTER_MS[this.isSingle ? 'single' : 'queue'];
		let since = new Map<string, number>();
		for (;;) {
			const open = (await this.openExecutions())?.results;
			if (open) {
				since = new Map(open.map(({ id }) => [id, since.get(id) ?? Date.now()]));
				if ([...since.values()].every((at) => Date.now() - at > stuckAfterMs)) return;
			}
			await pause(1_000);
		}
	}

	/** Waits until no execution waits for a settled payment, or beyond its time limit. */
	private async waitForEndedWaits(): Promise<void> {
		const isOver = async (): Promise<boolean> => !(await this.hasDueWaits());
		const options = { withinMs: WAITS_END_WITHIN_MS, everyMs: 5_000 };
		await until('the waits have ended', isOver, options).catch(() => undefined);
		await this.waitUntilQuiet();
	}

	private async hasDueWaits(): Promise<boolean> {
		const { rest } = this.n8n;
		for (const [workflow, limitMs] of this.timeLimits) {
			for (const { id, status } of await rest.executions(workflow)) {
				if (status !== 'waiting') continue;
				const hash = (await rest.execution(id)).items('Charge')[0]?.json.hash;
				if (limitMs < WAITS_END_WITHIN_MS || this.decisions.has(String(hash))) return true;
			}
		}
		return false;
	}

	/**
	 * Presses Retry once on each failed execution of a sale or a wait, unless a Retry succeeded. In a single process n8n
	 * keeps the data of crashed executions, so executions that charge are retried, too.
	 */
	private async retryFailedExecutions(): Promise<void> {
		const statuses = this.isSingle ? [...FAILED, ...OPEN] : FAILED;
		const executions = (await this.n8n.rest.everyExecution())
			.map(({ summary }) => summary)
			.filter(({ workflowId }) => {
				return (
					this.isSingle || workflowId === this.salesWorkflow || this.timeLimits.has(workflowId)
				);
			});
		for (const { id, status, retryOf } of executions) {
			if (!statuses.includes(status) || retryOf) continue;
			const isRetried = executions.some(
				(other) => other.retryOf === id && ['success', 'waiting'].includes(other.status),
			);
			if (isRetried) continue;
			await this.pressRetry(id, false);
		}
		await this.waitUntilQuiet();
	}
}

/** Whether the sandbox has not answered a request yet. */
function isInProgress({ status, durationMs }: RecordedRequest): boolean {
	return status === null && durationMs === null;
}

/** The workflow for orders with or without a reference. */
function workflowFor(requests: readonly ChargeRequest[], together?: 'items' | 'loop'): string {
	const name = requests[0]?.order === undefined ? 'plain' : 'referenced';
	return together === 'loop' ? `${name}-loop` : name;
}

/** A refused connection means that nothing was sent. */
function wasSent(error: unknown): 'no' | 'perhaps' {
	const code = z.object({ code: z.string() }).safeParse(error).data?.code;
	return code === 'ECONNREFUSED' ? 'no' : 'perhaps';
}
