import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { N8n } from '../../n8n/n8n';
import { until } from '../../../support/until';
import { postJson } from '../../../support/http';
import type { Execution } from '../../n8n/execution';
import {
	type Chance,
	chargedIn,
	chargeWorkflow,
	eachOf,
	type Order,
	ordersOf,
	PATHS,
} from './orders';

const LONGEST_BATCH = 4;
const ENDPOINT = 'POST /transactions';
const REGISTERED_WITHIN_MS = 60_000;
/** What the errors about an unknown outcome and about a second charge have in common. */
const SAYS_CHARGED = /charged?\b/i;
const FAILED = ['error', 'crashed'];

const bodySchema = z.object({ customer: z.object({ document: z.string() }) });

/** What became of the orders, seen from the service and from the executions of n8n. */
export interface Verdict {
	/** How often each order was charged that was charged at all. */
	charges: Map<string, number>;
	/** Orders whose transaction came out of an execution that ended well. */
	known: Set<string>;
	/**
	 * Charged, but neither known nor said to be possibly charged by the error of any execution; or
	 * taken by n8n, but in no execution at all.
	 */
	lost: string[];
	/** Executions that ended well with other transactions than those of their orders. */
	mixedUp: string[];
}

/** Customers who order, a service that falters, and an n8n that is killed meanwhile. */
export class OrderDrill {
	readonly kills: number[] = [];
	readonly retries: string[] = [];
	askedAgain = 0;
	/** Orders that n8n has answered for. */
	private readonly taken = new Set<string>();

	constructor(
		private readonly n8n: N8n,
		private readonly chance: Chance,
	) {}

	async publish(): Promise<void> {
		const { rest, credential, sandbox } = this.n8n;
		for (const path of PATHS) {
			const workflow = chargeWorkflow(path, credential, sandbox);
			await rest.publish(await rest.createWorkflow(workflow));
		}
	}

	/**
	 * Has orders charged in executions of several, and then all of it tried again. n8n is killed once
	 * while it charges, and a second time while it tries again; or not at all, since what it knows of
	 * the charges is then not only in the database.
	 */
	async round(orders: readonly Order[], kills: 0 | 1 | 2): Promise<void> {
		const { rest } = this.n8n;
		const [newest] = (await rest.executionsSince()).slice(-1);
		const before = Number(newest?.summary.id ?? 0);
		this.falter();
		const asked = Promise.all(
			this.batches(orders).map(async (batch) => {
				await pause(this.chance.within(0, 1_500));
				await this.ask(batch);
			}),
		);
		const inDoubt = kills > 0 ? await this.killDuring(asked) : new Set<string>();
		await asked;
		await this.n8n.rest.settled();

		const again = this.chance.shuffled([
			...this.chance.some(orders, 0.5).filter(({ reference }) => reference !== undefined),
			// A customer in doubt must not be charged by another execution either.
			...orders.filter(({ document, reference }) => !reference && inDoubt.has(document)),
		]);
		this.falter();
		const tries = Promise.all([this.askAgain(again), this.retryAll(before, 2)]);
		if (kills > 1) await this.killDuring(tries);
		await tries;
		this.n8n.sandbox.clearFaults();
	}

	/** With the service in good order: every reference once more, and Retry of all that has failed. */
	async settle(orders: readonly Order[]): Promise<void> {
		await this.askAgain(orders.filter(({ reference }) => reference !== undefined));
		await this.n8n.rest.settled();
		await this.retryAll(0, 1);
	}

	async verdict(orders: readonly Order[]): Promise<Verdict> {
		await this.n8n.rest.settled();
		const executions = await this.n8n.rest.executionsSince();
		const { transactions } = this.n8n.sandbox;
		const customers = new Map(transactions.map(({ hash, customer }) => [hash, customer.document]));
		const charges = new Map<string, number>();
		for (const document of customers.values()) {
			charges.set(document, (charges.get(document) ?? 0) + 1);
		}
		const succeeded = executions.filter(({ summary }) => summary.status === 'success');
		const known = new Set(succeeded.flatMap(chargedIn).map((hash) => customers.get(hash) ?? hash));
		const begun = documentsIn(executions);
		const reported = documentsIn(
			executions.filter(({ complaint }) => SAYS_CHARGED.test(complaint)),
		);
		const isLost = (document: string): boolean =>
			charges.has(document)
				? !known.has(document) && !reported.has(document)
				: this.taken.has(document) && !begun.has(document);
		return {
			charges,
			known,
			lost: orders.map(({ document }) => document).filter(isLost),
			mixedUp: succeeded
				.filter((execution) => {
					const charged = chargedIn(execution).map((hash) => customers.get(hash));
					return (
						charged.join() !==
						ordersOf(execution)
							.map((order) => order.document)
							.join()
					);
				})
				.map(({ summary }) => summary.id),
		};
	}

	/** The service takes its time in different ways, refuses now and then, or hangs up. */
	private falter(): void {
		const { sandbox } = this.n8n;
		const { chance } = this;
		sandbox.clearFaults();
		for (let nth = 0; nth < 30; nth++) {
			const kind = chance.is(0.5) ? 'delay' : 'delayAfterProcessing';
			sandbox.addFault({ endpoint: ENDPOINT, kind, ms: chance.within(20, 900) });
		}
		for (let nth = chance.within(1, 2); nth > 0; nth--) {
			sandbox.addFault({
				endpoint: ENDPOINT,
				kind: 'status',
				status: 422,
				after: chance.within(0, 6),
			});
		}
		if (chance.is(0.5)) {
			const after = chance.within(0, 6);
			sandbox.addFault({ endpoint: ENDPOINT, kind: 'resetAfterProcessing', after });
		}
	}

	/** What is posted at once, to the workflow of each path; some with a reference go out twice. */
	private batches(orders: readonly Order[]): Order[][] {
		const { chance } = this;
		const twice = chance.some(orders, 0.3).filter(({ reference }) => reference !== undefined);
		return [orders, twice].flatMap((list) =>
			PATHS.flatMap((path) => {
				const ofPath = list.filter((order) => order.path === path);
				return chance.pieces(chance.shuffled(ofPath), LONGEST_BATCH);
			}),
		);
	}

	private async askAgain(orders: readonly Order[]): Promise<void> {
		this.askedAgain += orders.length;
		// One each: an order that is refused keeps those after it from being sent.
		await eachOf(orders, 4, async (order) => await this.ask([order]));
	}

	/** Posts orders to the workflow that charges them; a killed n8n does not answer. */
	private async ask(batch: readonly Order[]): Promise<void> {
		const url = `${this.n8n.url}/webhook/${batch[0]?.path}`;
		const answer = await postJson(url, { orders: batch }).catch(() => undefined);
		if (answer?.status !== 200) return;
		for (const { document } of batch) this.taken.add(document);
	}

	/** Retry of everything since an execution that has failed, some of it several times or at once. */
	private async retryAll(since: number, mostPresses: number): Promise<void> {
		const { rest } = this.n8n;
		// A killed n8n lists nothing.
		const executions = await rest.executionsSince(since).catch((): Execution[] => []);
		const presses = executions
			.filter(({ summary }) => FAILED.includes(summary.status))
			.flatMap(({ summary }) =>
				Array.from({ length: this.chance.within(1, mostPresses) }, () => ({
					id: summary.id,
					withCurrentWorkflow: this.chance.is(0.5),
				})),
			);
		await eachOf(presses, 3, async ({ id, withCurrentWorkflow }) => {
			const outcome = await rest.retry(id, withCurrentWorkflow).then(
				({ status }) => status,
				(error: unknown) => (String(error).includes('refused') ? String(error) : 'cut off'),
			);
			this.retries.push(outcome);
		});
	}

	/** Kills n8n and starts it again; gives the customers whose charge had not been answered by then. */
	private async killDuring(work: Promise<unknown>): Promise<Set<string>> {
		await pause(this.chance.within(200, 2_500));
		await this.n8n.kill();
		const open = this.n8n.sandbox.requests.filter(
			({ method, status, durationMs }) =>
				method === 'POST' && status === null && durationMs === null,
		);
		this.kills.push(open.length);
		await work;
		await this.comeBack();
		return new Set(
			open.flatMap(({ body }) => bodySchema.safeParse(body).data?.customer.document ?? []),
		);
	}

	/** Starts n8n again and waits until it takes orders. */
	private async comeBack(): Promise<void> {
		await this.n8n.startAgain();
		for (const path of PATHS) {
			const url = `${this.n8n.url}/webhook/${path}`;
			const isThere = async () => (await postJson(url, { orders: [] })).status !== 404;
			await until(`${path} is published`, isThere, { withinMs: REGISTERED_WITHIN_MS });
		}
	}
}

function documentsIn(executions: readonly Execution[]): Set<string> {
	return new Set(
		executions.flatMap((execution) => ordersOf(execution).map(({ document }) => document)),
	);
}
