import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import countBy from 'lodash/countBy';
import { eachLimit } from '../../../../nodes/DigitalSales/shared/eachLimit';
import { pauseUntilNextLook } from '../../../../nodes/DigitalSales/wait/schedule';
import {
	cartOf,
	chainOf,
	createPix,
	Downstream,
	waitForPayment,
	webStart,
} from '../../../helpers/e2e/workflows';
import type { Sandbox, StoredTransaction } from '../../../sandbox';
import { cpf } from '../../../helpers/charge';
import { until } from '../../../helpers/until';
import { type Bench, post } from '../bench';
import { type Outcome, sampleOf } from '../outcome';
import { floorTrigger } from '../workflows';

/** Fewer during work on the benchmark itself. */
const OPEN = Number(process.env.BENCH_WAITS ?? 250);
const CROWD = 4 * OPEN;
/** The number of waits that are paid while the others go on waiting. */
const PAID = Math.ceil(OPEN / 10);
const OPENED_AT_ONCE = 8;
const FIRST_MS = 20 * 60_000;
const BEGUN_WITHIN_MS = 120_000;
const QUIET_MS = 60_000;
const PAID_WITHIN_MS = 170_000;
const SECOND_MS = 1_000;
const FIRST_CPF = 400_000_000;
const SIMULATED = 10_000;
/** Nothing is sent to this address, because the sandbox notifies only this machine. */
const PUBLIC_ADDRESS = { N8N_WEBHOOK_URL: 'https://n8n.example.com/' };

/** CPU time in milliseconds, and the number of looks that used it. */
interface Used {
	cpuMs: number;
	looks: number;
	ms: number;
}

/** Executions that wait for a payment. */
export async function waits(bench: Bench): Promise<Outcome[]> {
	const sandbox = await bench.sandbox({
		requestsPerMinute: null,
		qrImage: 'absent',
		resendAfterSeconds: [],
	});
	const downstream = await Downstream.open();
	const stage = await Stage.publish(bench, sandbox, downstream);
	try {
		const idle = await stage.used(async () => await pause(QUIET_MS));
		const told = await webhooksExpected(stage, idle);
		const untold = await noWebhooks(stage, idle);
		return [...told, ...untold, await crowd(stage)];
	} finally {
		await downstream.close();
		await bench.restart(stage.elsewhere);
	}
}

async function webhooksExpected(stage: Stage, idle: Used): Promise<Outcome[]> {
	const opened = await stage.open('told', OPEN);
	const lost = opened.slice(0, PAID);
	const seen = lost.map(async (hash) => await stage.seenAfter(hash, 0));
	const between = await stage.used(async () => await pause(2 * QUIET_MS));
	// The first look comes 2 to 5.5 minutes after a wait began. All waits began within two minutes.
	const timed = await stage.used(async () => {
		await until('every wait is looked at once', () => stage.areLookedAt(opened), {
			withinMs: 15 * 60_000,
			everyMs: SECOND_MS,
		});
		await pause(SECOND_MS);
	});
	const seenMs = await Promise.all(seen);
	const open = opened.slice(PAID);
	const woken = await stage.used(async () => {
		await eachLimit(open.slice(0, 100), 1, async (hash) => await stage.wake(hash));
		await pause(SECOND_MS);
	});
	const paidMs: number[] = [];
	for (const hash of open) paidMs.push(await stage.payAndTell(hash));
	const perLook = cpuOfLook(timed, idle);
	const isWebhookExpected = true;
	return [
		aMinute('where webhooks are expected', perLook, isWebhookExpected, 6_000),
		{
			what: `CPU time of n8n a minute between looks, ${OPEN} open waits`,
			unit: 'ms',
			ours: sampleOf([aMinuteOf(between)]),
			floor: sampleOf([aMinuteOf(idle)]),
			goal: { of: 'floor', bound: 'atMost', value: 1.25 },
		},
		{
			what: 'CPU time of n8n for a look after a webhook that the service does not confirm',
			unit: 'ms',
			ours: sampleOf([cpuOfLook(woken, idle)]),
			goal: { of: 'ours', bound: 'atMost', value: 240 },
		},
		longest('from a webhook to the next node', paidMs, 2_000),
		longest('from a payment whose webhook is lost to the next node', seenMs, 6 * 60_000),
	];
}

async function noWebhooks(stage: Stage, idle: Used): Promise<Outcome[]> {
	const opened = await stage.open('untold', OPEN);
	// The last waits are paid within their first three minutes.
	const paid = opened.slice(-PAID);
	const seen = paid.map(async (hash, nth) => {
		return await stage.seenAfter(hash, (nth / PAID) * PAID_WITHIN_MS);
	});
	const timed = await stage.used(async () => {
		await pause(4 * 60_000);
		await Promise.all(seen);
	});
	await stage.stopAll();
	const perLook = cpuOfLook(timed, idle);
	return [
		aMinute('without webhooks', perLook, false, 15_000),
		{
			what: 'CPU time of n8n for a look at its time',
			unit: 'ms',
			ours: sampleOf([perLook]),
			goal: { of: 'ours', bound: 'atMost', value: 200 },
		},
		longest('from a payment without a webhook to the next node', await Promise.all(seen), 75_000),
	];
}

/** A webhook comes each second, from before the first look to after the last look. */
async function crowd(stage: Stage): Promise<Outcome> {
	const opened = await stage.open('told', CROWD);
	const answersMs: number[] = [];
	while (!stage.areLookedAt(opened)) {
		const start = performance.now();
		await stage.postElsewhere();
		answersMs.push(performance.now() - start);
		await pause(SECOND_MS);
	}
	await stage.stopAll();
	const what = `from another webhook to its answer, ${CROWD} open waits (of ${answersMs.length})`;
	return longest(what, answersMs, 1_000);
}

function longest(what: string, values: readonly number[], goalMs: number): Outcome {
	const most = Math.max(...values);
	return {
		what: `the longest ${what}`,
		unit: 'ms',
		ours: sampleOf([most]),
		goal: { of: 'ours', bound: 'atMost', value: goalMs },
	};
}

/** The cost of the looks of the first 20 minutes, for each minute. */
function aMinute(
	how: string,
	perLook: number,
	isWebhookExpected: boolean,
	goalMs: number,
): Outcome {
	const looks = looksWithin(FIRST_MS, isWebhookExpected);
	return {
		what: `CPU time of n8n a minute, ${OPEN} open waits ${how} in their first 20 minutes (${looks.toFixed(1)} looks each)`,
		unit: 'ms',
		ours: sampleOf([(perLook * looks * OPEN) / 20]),
		goal: { of: 'ours', bound: 'atMost', value: (goalMs * OPEN) / 250 },
	};
}

/** The average number of looks after the first look. */
function looksWithin(ms: number, isWebhookExpected: boolean): number {
	let count = 0;
	for (let wait = 0; wait < SIMULATED; wait++) {
		const next = (looks: number): number =>
			pauseUntilNextLook({ looks, backoffStep: 0, isWebhookExpected });
		let at = next(1);
		for (let looks = 2; at <= ms; looks++) {
			count += 1;
			at += next(looks);
		}
	}
	return count / SIMULATED;
}

function aMinuteOf({ cpuMs, ms }: Used): number {
	return (cpuMs * 60_000) / ms;
}

/** Without the CPU time of an idle n8n. */
function cpuOfLook({ cpuMs, looks, ms }: Used, idle: Used): number {
	return (cpuMs - (aMinuteOf(idle) * ms) / 60_000) / looks;
}

async function postTo(url: string, body: object): Promise<void> {
	const { status, text } = await post(url, body);
	if (status !== 200) throw new Error(`n8n answered ${status}: ${text}`);
}

/** Workflows that charge, wait and report, in an n8n whose settings name a public address. */
class Stage {
	private customers = 0;

	private constructor(
		private readonly bench: Bench,
		private readonly sandbox: Sandbox,
		private readonly downstream: Downstream,
		/** The address of a workflow that does nothing. */
		readonly elsewhere: string,
	) {}

	static async publish(bench: Bench, sandbox: Sandbox, downstream: Downstream): Promise<Stage> {
		const account = await bench.account(sandbox);
		for (const [path, webhooksGoTo] of Object.entries({ told: 'automatic', untold: 'none' })) {
			const charge = createPix({
				webhooksGoTo,
				customerName: '={{ $json.body.customer }}',
				customerDocument: '={{ $json.body.document }}',
				cart: cartOf(sandbox),
				qrCodeImage: false,
			});
			const chain = [webStart(path), charge, waitForPayment(), downstream.node];
			await bench.publish(chainOf(path, account.ours, chain));
		}
		const id = randomUUID();
		await bench.publish(chainOf('elsewhere', account.ours, [floorTrigger(id)]));
		const elsewhere = `${bench.n8n.url}/webhook/${id}/floor`;
		await bench.restart(elsewhere, PUBLIC_ADDRESS);
		return new Stage(bench, sandbox, downstream, elsewhere);
	}

	/** Begins waits, and returns the hashes that they wait for. */
	async open(way: 'told' | 'untold', count: number): Promise<string[]> {
		const begun = Array.from({ length: count }, () => (this.customers += 1));
		await eachLimit(begun, OPENED_AT_ONCE, async (nth) => {
			const body = { customer: `${way} ${nth}`, document: cpf(FIRST_CPF + nth) };
			await postTo(`${this.bench.n8n.url}/webhook/${way}`, body);
			const isBegun = (): boolean | undefined => {
				const made = this.sandbox.transactions.find(
					({ customer }) => customer.name === body.customer,
				);
				return made && this.looksAt(made.hash) > 0;
			};
			await until(`${body.customer} is waited for`, isBegun, { withinMs: BEGUN_WITHIN_MS });
		});
		const names = new Set(begun.map((nth) => `${way} ${nth}`));
		const made = this.sandbox.transactions.filter(({ customer }) => names.has(customer.name));
		await pause(SECOND_MS);
		return made.map(({ hash }) => hash);
	}

	/** The number of reads of a transaction. */
	looksAt(hash: string): number {
		return this.reads().filter((path) => path.endsWith(`/${hash}`)).length;
	}

	/** Whether each was read again after the first read of its wait. */
	areLookedAt(hashes: readonly string[]): boolean {
		const counts = countBy(this.reads(), (path) => path.replace(/.*\//, ''));
		return hashes.every((hash) => (counts[hash] ?? 0) > 1);
	}

	async used(work: () => Promise<void>): Promise<Used> {
		const [cpu, looks, start] = [this.bench.cpuMs(), this.reads().length, performance.now()];
		await work();
		return {
			cpuMs: this.bench.cpuMs() - cpu,
			looks: this.reads().length - looks,
			ms: performance.now() - start,
		};
	}

	/** Sends a webhook that falsely claims that a transaction is paid. */
	async wake(hash: string): Promise<void> {
		const looks = this.looksAt(hash);
		await this.tell(hash);
		await until('the wait looks', () => this.looksAt(hash) > looks, { everyMs: 5 });
	}

	/** Pays with a webhook, and returns the milliseconds until the next node ran. */
	async payAndTell(hash: string): Promise<number> {
		await this.sandbox.setStatus(hash, 'paid');
		const start = Date.now();
		await this.tell(hash);
		return (await this.downstream.reportOn(hash)).at - start;
	}

	/** Pays later without a webhook, and returns the milliseconds until the next node ran. */
	async seenAfter(hash: string, ms: number): Promise<number> {
		await pause(ms);
		await this.sandbox.setStatus(hash, 'paid');
		const start = Date.now();
		return (await this.downstream.reportOn(hash, 15 * 60_000)).at - start;
	}

	async postElsewhere(): Promise<void> {
		await postTo(this.elsewhere, {});
	}

	async stopAll(): Promise<void> {
		const body = { filter: { status: ['waiting'], workflowId: 'all' } };
		const { ok, status } = await this.bench.n8n.rest.send('POST', '/executions/stopMany', body);
		if (!ok) throw new Error(`n8n did not stop the waits (${status}).`);
	}

	private async tell(hash: string): Promise<void> {
		const { postback_url: told } = this.transaction(hash);
		const { pathname, search } = new URL(told);
		const body = { event: 'transaction', hash, payment_status: 'paid' };
		await postTo(`${this.bench.n8n.url}${pathname}${search}`, body);
	}

	private transaction(hash: string): StoredTransaction {
		const found = this.sandbox.transactions.find((one) => one.hash === hash);
		if (!found) throw new Error(`There is no transaction ${hash}.`);
		return found;
	}

	private reads(): string[] {
		return this.sandbox.requests.flatMap(({ method, path }) => (method === 'GET' ? path : []));
	}
}
