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
import type { Asked, Noticed, Wait } from './checker';
import { READ, timesOf, type Plan, type Step, type Way } from './plan';

const WEBHOOK_ID = 'histories-sale';
const AGAIN_MS = 1_000;
const TAKEN_WITHIN_MS = 120_000;
const REVIVED_WITHIN_MS = 600_000;
/** As many as the workers run at a time, and some in the queue. */
const MOST_OPEN = 30;
const CROWDED_FOR_MS = 20_000;
/** n8n ends the executions of a dead worker after a minute and a half; alone, when it starts. */
const QUIET_AFTER_MS = { queue: 110_000, alone: 8_000 };
/** n8n's timer comes within minutes as long as a wait is young. */
const WAITS_OVER_WITHIN_MS = 12 * 60_000;
const LONG_LOOK_MS = 6_000;
const CHARGED_WITHIN_MS = 60_000;
const FAILED = ['error', 'crashed'];
/** One that was killed before its event log knew of it stays so. */
const OPEN = ['new', 'running'];
/** What an execution has handed on to the node behind ours. */
const TOLD =
	'={{ JSON.stringify({ hash: $json.hash, status: $json.payment_status, paid: $json.paid, at: Date.now(), execution: $execution.id }) }}';
const reportSchema = z.object({
	hash: z.string(),
	status: z.string(),
	/** Of a wait. */
	paid: z.boolean().optional(),
	at: z.number(),
	execution: z.string(),
});
export type Report = z.infer<typeof reportSchema>;

const EACH = split('Each', 'asks');
const LOOP: NodeSketch = {
	name: 'Loop',
	type: 'n8n-nodes-base.splitInBatches',
	typeVersion: 3,
	parameters: { batchSize: 1, options: {} },
};
/** A node after the one that counts: a crash in it comes when that one has done its work. */
const BUSY: NodeSketch = {
	name: 'Busy',
	type: 'n8n-nodes-base.wait',
	typeVersion: 1.1,
	parameters: { resume: 'timeInterval', amount: 0.3, unit: 'seconds' },
};

const openSchema = z.object({ count: z.number(), results: z.array(z.object({ id: z.string() })) });

/** How the executions wait, with their time limits in minutes. */
const WAYS: Record<Way, { webhooksGoTo: 'automatic' | 'none'; minutes: number }> = {
	told: { webhooksGoTo: 'automatic', minutes: 24 * 60 },
	untold: { webhooksGoTo: 'none', minutes: 24 * 60 },
	brief: { webhooksGoTo: 'automatic', minutes: 2 },
};

/** An ask that n8n was sent, whether it took it or not. */
export interface Sent {
	ask: Asked;
	sentAt: number;
}

/** Carries out a plan on an n8n of one or more processes, and writes down what is asked and answered. */
export class Recorder {
	readonly sent: Sent[] = [];
	readonly noticed: Noticed[] = [];
	/** How often n8n has ended by itself. */
	deaths = 0;
	/** How many charges were under way at each kill. */
	readonly openAtKills: number[] = [];
	/** How many reads of payments that are waited for were under way at the kills. */
	looksAtKills = 0;
	/** What was made of the payments, by hash. */
	readonly decisions = new Map<string, NonNullable<Wait['decided']>>();
	/** What was done, without the Retries for which there was nothing to retry. */
	operations = 0;
	private hashes: string[] = [];
	private readonly background: Array<Promise<void>> = [];
	private readonly down = new Set<Member>();

	private constructor(
		readonly n8n: N8n & Partial<Cluster>,
		private readonly downstream: Downstream,
		/** The workflows that charge, and the one that a sale starts. */
		readonly charging: string[],
		/** Those of them that wait for the payment, with their time limits in milliseconds. */
		readonly waiting: ReadonlyMap<string, number>,
		readonly selling: string,
	) {}

	/** Publishes what charges, and what a sale starts. */
	static async open(n8n: N8n & Partial<Cluster>, downstream: Downstream): Promise<Recorder> {
		const { node } = downstream;
		const report = { ...node, parameters: { ...node.parameters, jsonBody: TOLD } };
		const isAlone = n8n.members.length === 1;
		const after = isAlone ? [BUSY, report] : [report];
		const add = async (name: string, ...nodes: NodeSketch[]): Promise<string> =>
			(await publish(n8n, name, [...nodes, ...after])).id;
		const addLoop = async (name: string, charge: NodeSketch): Promise<string> => {
			const chain = [webStart(name), EACH, LOOP, charge, ...after];
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
		const ways = {
			referenced: charge({ orderReference: '={{ $json.order }}' }),
			plain: charge({}),
		};
		const charging: string[] = [];
		for (const [name, node] of Object.entries(ways)) {
			charging.push(await add(name, webStart(name), EACH, node));
			if (isAlone) charging.push(await addLoop(`${name}-loop`, node));
		}
		const waiting = new Map<string, number>();
		for (const [name, { webhooksGoTo, minutes }] of Object.entries(WAYS)) {
			const node = charge({ orderReference: '={{ $json.order }}', webhooksGoTo });
			const wait = waitForPayment({ timeLimit: minutes, timeLimitUnit: 'minutes' });
			waiting.set(await add(name, webStart(name), EACH, node, wait), minutes * 60_000);
		}
		charging.push(...waiting.keys());
		const parameters = { triggerOn: ['paid', 'reversed'] };
		const sale = { ...trigger(WEBHOOK_ID, parameters), name: 'Sale' };
		const selling = await add('sales', sale);
		const recorder = new Recorder(n8n, downstream, charging, waiting, selling);
		for (const member of n8n.members) {
			member.onDeath = () => {
				recorder.deaths += 1;
				recorder.background.push(recorder.revive(member));
			};
		}
		return recorder;
	}

	/** Whether n8n is one process. */
	private get isAlone(): boolean {
		return this.n8n.members.length === 1;
	}

	get reports(): Report[] {
		return this.downstream.reports.map((report) => reportSchema.parse(report));
	}

	/** Does all of it, and waits until nothing is under way any more. */
	async carryOut(plan: Plan): Promise<void> {
		const { sandbox, main } = this.n8n;
		this.hashes = await chargesAt(sandbox, plan.sales.length);
		for (const [nth, hash] of this.hashes.entries()) {
			await sandbox.setStatus(hash, plan.sales[nth] ?? 'paid');
		}
		const someIsUp = (): boolean => this.down.size < this.n8n.members.length;
		for (const { step, afterMs } of plan.steps) {
			await pause(afterMs);
			await this.crowdIsGone();
			await until('a process is up', someIsUp, { withinMs: REVIVED_WITHIN_MS });
			await this.take(step, plan);
		}
		await Promise.all(this.background);
		sandbox.clearFaults();
		await this.quiet();
		// Only when it starts does n8n look for executions that were lost without anybody to tell.
		await main.kill();
		await this.revive(main);
		await this.quiet();
		await this.retryLost();
		await this.waitsAreOver();
	}

	private async take(step: Step, plan: Plan): Promise<void> {
		const begin = (work: Promise<void>): void => void this.background.push(work);
		const { webhooks, sandbox, redis, postgres } = this.n8n;
		const from = (share: number): number => Math.floor(share * webhooks.length);
		switch (step.kind) {
			case 'ask':
				if (step.fault) sandbox.addFault(step.fault);
				if (step.together) {
					begin(this.ask(step.asks, wayOf(step.asks, step.together), from(step.at)));
				} else {
					step.asks.forEach((ask, nth) =>
						begin(this.ask([ask], wayOf(step.asks), from(step.at) + nth)),
					);
				}
				break;
			case 'await':
				if (step.fault) sandbox.addFault(step.fault);
				begin(this.ask([step.ask], step.way, from(step.at)));
				break;
			case 'decide':
				if (step.fault) sandbox.addFault(step.fault);
				begin(this.decide(step));
				break;
			case 'claim':
				begin(this.claim(step));
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
				return await { redis, postgres }[step.server]?.restart();
		}
		this.operations += timesOf(step);
	}

	/** Posts asks to a webhook process, and again to the other one while they are not taken. */
	private async ask(asks: Asked[], path: string, first: number): Promise<void> {
		const deadline = Date.now() + TAKEN_WITHIN_MS;
		for (let nth = 0; Date.now() < deadline; nth++) {
			// What is not taken may have begun an execution all the same, except where none is published.
			const renamed = asks.map((ask) => ({ ...ask, place: `${ask.place}.${nth}` }));
			const sent = renamed.map((ask) => ({ ask, sentAt: Date.now() }));
			const url = `${this.webhook(first + nth)}/webhook/${path}`;
			const named = renamed.map((ask) => ({ ...ask, name: `${ask.place} ${ask.order ?? '-'}` }));
			const answer = postJson(url, { asks: named });
			const status = await answer.then((one) => one.status, whetherSent);
			if (status !== 'not' && status !== 404) this.sent.push(...sent);
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
			// While it starts, n8n answers 200 to everything: the service would stop here, and the sale be lost.
			const isStarting = answer?.text.startsWith('n8n is starting up') ?? false;
			const answered = answer && !isStarting && { answered: answer.status };
			this.noticed.push({ ...notice, answeredAt: Date.now(), ...answered });
			if (answer?.status === 200 && !isStarting) return;
			await pause(AGAIN_MS);
		}
	}

	/** Decides the payments of a customer as soon as there are any; the service refuses some at once. */
	private async decide({ customer, status }: Extract<Step, { kind: 'decide' }>): Promise<void> {
		for (const { hash, payment_status: before } of await this.chargesOf(customer)) {
			if (before !== 'waiting_payment') continue;
			this.decisions.set(hash, { status, at: Date.now() });
			await this.n8n.sandbox.setStatus(hash, status);
		}
	}

	private async claim({ customer }: Extract<Step, { kind: 'claim' }>): Promise<void> {
		for (const { hash, postback_url: url } of await this.chargesOf(customer)) {
			await postJson(url, { hash, payment_status: 'paid' }).catch(() => undefined);
		}
	}

	private async chargesOf(customer: string) {
		const find = () => {
			const { transactions } = this.n8n.sandbox;
			const made = transactions.filter((one) => one.customer.document === customer);
			return made.length > 0 && made;
		};
		const options = { withinMs: CHARGED_WITHIN_MS };
		return await until(`${customer} is charged`, find, options).catch(() => []);
	}

	private webhook(nth: number): string {
		const { webhooks } = this.n8n;
		return webhooks[nth % webhooks.length]?.url ?? '';
	}

	/** Presses Retry on one of the failed executions; nothing is done if there is none, or nobody to ask. */
	private async retry(step: Extract<Step, { kind: 'retry' }>): Promise<void> {
		const failed = await this.failed().catch(() => []);
		const chosen = failed[Math.floor(step.which * failed.length)];
		if (!chosen) return;
		this.operations += step.times;
		// With the current workflow n8n skips a wait that was killed during a look: the guide says which Retry to use.
		const loadWorkflow = step.loadWorkflow && !this.waiting.has(chosen.workflowId);
		for (let nth = 0; nth < step.times; nth++) {
			this.background.push(this.press(chosen.id, loadWorkflow));
		}
	}

	/** The outcome is read from n8n in the end. */
	private async press(id: string, loadWorkflow: boolean): Promise<void> {
		await this.n8n.rest.retry(id, loadWorkflow).catch(() => undefined);
	}

	private async failed(): Promise<ExecutionSummary[]> {
		const lists = await Promise.all(
			[...this.charging, this.selling].map(async (id) => await this.n8n.rest.executions(id)),
		);
		return lists.flat().filter(({ status }) => FAILED.includes(status));
	}

	private async kill({ which, downMs, looking }: Extract<Step, { kind: 'kill' }>): Promise<void> {
		const isLooking = looking !== undefined && (await this.makeLook(looking));
		const { members, workers } = this.n8n;
		const isUp = (member: Member): boolean => !this.down.has(member);
		const lookers = isLooking ? workers.filter(isUp) : [];
		const alive = lookers.length > 0 ? lookers : members.filter(isUp);
		const member = alive[Math.floor(which * alive.length)];
		if (!member) throw new Error('No process is left to kill.');
		this.down.add(member);
		await member.kill();
		const open = this.n8n.sandbox.requests.filter(isOpen);
		this.openAtKills.push(open.filter(({ method }) => method === 'POST').length);
		const looks = open.filter(({ path }) => !this.hashes.some((hash) => path.endsWith(hash)));
		this.looksAtKills += looks.filter(({ method }) => method === 'GET').length;
		this.background.push(pause(downMs).then(async () => await this.revive(member)));
	}

	/** Has a webhook wake the execution that waits for a payment, and says whether it looks, which takes a while. */
	private async makeLook(customer: string): Promise<boolean> {
		const { sandbox } = this.n8n;
		const { hash } = sandbox.transactions.find((one) => one.customer.document === customer) ?? {};
		if (hash === undefined) return false;
		sandbox.addFault({ endpoint: READ, kind: 'delay', ms: LONG_LOOK_MS });
		this.background.push(this.claim({ kind: 'claim', customer }));
		const isLooking = (): boolean => {
			return sandbox.requests.some((request) => isOpen(request) && request.path.endsWith(hash));
		};
		return await until(`${hash} is looked at`, isLooking, { withinMs: LONG_LOOK_MS }).catch(
			() => false,
		);
	}

	/** Starts it, again and again while what it needs is away. */
	private async revive(member: Member): Promise<void> {
		this.down.add(member);
		const isUp = async (): Promise<boolean> =>
			await member.start().then(
				() => true,
				() => false,
			);
		await until(`${member.name} starts again`, isUp, { withinMs: REVIVED_WITHIN_MS });
		this.down.delete(member);
	}

	/** How many executions are open, and the first hundred; undefined while nobody tells. */
	private async open(): Promise<z.infer<typeof openSchema> | undefined> {
		const filter = encodeURIComponent(JSON.stringify({ status: OPEN }));
		const path = `/executions?filter=${filter}&limit=100`;
		return await this.n8n.rest.call(openSchema, 'GET', path).catch(() => undefined);
	}

	/** Waits while more is open than the workers get through; what was killed stays open for long. */
	private async crowdIsGone(): Promise<void> {
		const deadline = Date.now() + CROWDED_FOR_MS;
		while (Date.now() < deadline && ((await this.open())?.count ?? 0) > MOST_OPEN) await pause(500);
	}

	/** Waits until nothing is open, or what is open will stay so; waits look now and then meanwhile. */
	private async quiet(): Promise<void> {
		const stuckAfterMs = QUIET_AFTER_MS[this.isAlone ? 'alone' : 'queue'];
		let since = new Map<string, number>();
		for (;;) {
			const open = (await this.open())?.results;
			if (open) {
				since = new Map(open.map(({ id }) => [id, since.get(id) ?? Date.now()]));
				if ([...since.values()].every((at) => Date.now() - at > stuckAfterMs)) return;
			}
			await pause(1_000);
		}
	}

	/** Waits until no execution waits for a payment that is decided, or beyond its time limit. */
	private async waitsAreOver(): Promise<void> {
		const isOver = async (): Promise<boolean> => !(await this.someAreDue());
		const options = { withinMs: WAITS_OVER_WITHIN_MS, everyMs: 5_000 };
		await until('the waits are over', isOver, options).catch(() => undefined);
		await this.quiet();
	}

	private async someAreDue(): Promise<boolean> {
		const { rest } = this.n8n;
		for (const [workflow, limitMs] of this.waiting) {
			for (const { id, status } of await rest.executions(workflow)) {
				if (status !== 'waiting') continue;
				const hash = (await rest.execution(id)).items('Charge')[0]?.json.hash;
				if (limitMs < WAITS_OVER_WITHIN_MS || this.decisions.has(String(hash))) return true;
			}
		}
		return false;
	}

	/**
	 * Presses Retry once on each execution of a sale or of a wait that has failed, unless a Retry went well; in one
	 * process, where n8n keeps what a crash has ended, on those that charge as well.
	 */
	private async retryLost(): Promise<void> {
		const lost = this.isAlone ? [...FAILED, ...OPEN] : FAILED;
		const executions = (await this.n8n.rest.everyExecution())
			.map(({ summary }) => summary)
			.filter(({ workflowId }) => {
				return this.isAlone || workflowId === this.selling || this.waiting.has(workflowId);
			});
		for (const { id, status, retryOf } of executions) {
			if (!lost.includes(status) || retryOf) continue;
			const wentOn = ['success', 'waiting'];
			if (executions.some((other) => other.retryOf === id && wentOn.includes(other.status)))
				continue;
			await this.press(id, false);
		}
		await this.quiet();
	}
}

/** Whether a request is under way. */
function isOpen({ status, durationMs }: RecordedRequest): boolean {
	return status === null && durationMs === null;
}

/** The workflow that charges orders with a reference, or without. */
function wayOf(asks: readonly Asked[], together?: 'items' | 'loop'): string {
	const way = asks[0]?.order === undefined ? 'plain' : 'referenced';
	return together === 'loop' ? `${way}-loop` : way;
}

/** Nothing was sent to a process that is not there. */
function whetherSent(error: unknown): 'not' | 'perhaps' {
	const code = z.object({ code: z.string() }).safeParse(error).data?.code;
	return code === 'ECONNREFUSED' ? 'not' : 'perhaps';
}
