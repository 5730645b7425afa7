import { z } from 'zod';
import type { Execution } from '../n8n/execution';
import { IN_DOUBT } from '../queue/shop';
import type {
	ChargeRequest,
	Attempt,
	AttemptOutcome,
	StartedSale,
	History,
	CreatedCharge,
	Wait,
	WaitResult,
} from './checker';
import type { Recorder } from './recorder';

const VOID = ['refused', 'canceled', 'expired'];
/** The errors of Create PIX. All other errors are n8n's own and say nothing about the charge. */
const OUTCOMES: Array<[error: RegExp, outcome: AttemptOutcome]> = [
	[/may already have been charged: /, 'unknown'],
	[IN_DOUBT, 'unresolved'],
	[/was already charged/, 'charged'],
	[/could not record the charge/, 'notRecorded'],
	[/did not accept the request|still limiting requests/, 'notCreated'],
];

const requestSchema = z.object({
	slot: z.string(),
	customer: z.string(),
	order: z.string().optional(),
});
const startSchema = z.object({ body: z.object({ requests: z.array(requestSchema) }) });
const orderSchema = z.object({ customer: z.object({ document: z.string() }) });
const soldSchema = z.object({ hash: z.string(), payment_status: z.string() });

/** Builds the history of a run from the records of the recorder, n8n and the sandbox. */
export class HistoryBuilder {
	/** Executions whose data n8n has lost, because the worker that ran them died. */
	readonly lostExecutions: Execution[];
	private readonly endedAt = Date.now();
	private readonly byId: Map<string, Execution>;
	/** The hashes that reached the node after ours, by execution. */
	private readonly reported = new Map<string, string[]>();
	/** The customer's document, by the hash of the transaction. */
	private readonly documents: ReadonlyMap<string, string>;

	private constructor(
		private readonly recorder: Recorder,
		private readonly executions: Execution[],
	) {
		this.byId = new Map(executions.map((execution) => [execution.summary.id, execution]));
		for (const { execution, hash } of recorder.reports) {
			this.reported.set(execution, [...(this.reported.get(execution) ?? []), hash]);
		}
		this.documents = new Map(
			recorder.n8n.sandbox.transactions.map(({ hash, customer }) => [hash, customer.document]),
		);
		this.lostExecutions = executions.filter((execution) => execution.isForgotten);
	}

	static async from(recorder: Recorder): Promise<HistoryBuilder> {
		return new HistoryBuilder(recorder, await recorder.n8n.rest.everyExecution());
	}

	build(): History {
		const { sent, deliveries } = this.recorder;
		return {
			requests: sent.map(({ request }) => request),
			attempts: [...this.recordedAttempts(), ...this.unrecordedAttempts()],
			charges: this.createdCharges(),
			deliveries,
			startedSales: this.startedSales(),
			lostExecutionsAt: this.lostExecutions
				.filter(({ summary }) => summary.workflowId === this.recorder.salesWorkflow)
				.map(({ summary }) => Date.parse(summary.createdAt ?? '')),
			waits: this.waits(),
			endedAt: this.endedAt,
		};
	}

	/** Errors that say nothing about a charge, for a person to read. */
	get otherErrors(): string[] {
		return this.chargingExecutions().flatMap(({ error }) =>
			error === undefined || OUTCOMES.some(([text]) => text.test(error)) ? [] : [error],
		);
	}

	/** The executions of waits that put out nothing, for a person to read. */
	get executionsWithoutResult(): object[] {
		const waiting = this.waits().filter(({ results }) => results.length === 0);
		const hashes = new Set(waiting.map(({ hash }) => hash));
		return this.executions
			.filter((execution) => hashesIn(execution).some((hash) => hashes.has(hash)))
			.map((execution) => {
				const { summary, lastNode, complaint, pending } = execution;
				const runs = { charge: execution.runs('Charge'), wait: execution.runs('Wait') };
				return { ...summary, hashes: hashesIn(execution), lastNode, complaint, pending, runs };
			});
	}

	/** Successful executions that put out transactions of customers other than the requested. */
	get mixedUpExecutions(): string[] {
		return this.chargingExecutions()
			.filter(({ summary }) => summary.status === 'success')
			.filter((execution) => {
				const charged = hashesIn(execution).map((hash) => this.documents.get(hash));
				const requested = this.requestsOf(execution).map(({ customer }) => customer);
				return charged.join() !== requested.join();
			})
			.map(({ summary }) => summary.id);
	}

	private chargingExecutions(): Execution[] {
		const { charging } = this.recorder;
		return this.executions.filter(({ summary }) => charging.includes(summary.workflowId));
	}

	private recordedAttempts(): Attempt[] {
		return this.chargingExecutions().flatMap((execution) => {
			const { startedAt, stoppedAt } = execution.summary;
			const begunAt = startedAt === null ? 0 : Date.parse(startedAt);
			const endedAt = stoppedAt === null ? Infinity : Date.parse(stoppedAt);
			return this.requestsOf(execution).map((request, _nth, requests): Attempt => {
				const outcome = this.outcomeOf(execution, request, requests.length === 1);
				return { slot: request.slot, begunAt, endedAt, outcome };
			});
		});
	}

	/** Requests whose execution n8n has lost, or may not have started. */
	private unrecordedAttempts(): Attempt[] {
		// The data of a Retry shows the request of its first execution, but not how the first execution ended.
		const first = this.chargingExecutions().filter(({ summary }) => !summary.retryOf);
		const recorded = new Set(
			first.flatMap((execution) => this.requestsOf(execution)).map(({ slot }) => slot),
		);
		return this.recorder.sent
			.filter(({ request }) => !recorded.has(request.slot))
			.map(({ request: { slot }, sentAt }) => {
				return { slot, begunAt: sentAt, endedAt: Infinity, outcome: 'unknown' };
			});
	}

	/** The charges that an execution was to create, wherever the execution stopped. */
	private requestsOf(execution: Execution): ChargeRequest[] {
		const items = [...execution.items('Start'), ...execution.pending];
		const started = items.map(({ json }) => startSchema.safeParse(json).data);
		const requests = started.find((data) => data !== undefined)?.body.requests;
		if (requests) return requests;
		const pending = items.flatMap(({ json }) => requestSchema.safeParse(json).data ?? []);
		const original = this.byId.get(execution.summary.retryOf ?? '');
		return pending.length > 0 || !original ? pending : this.requestsOf(original);
	}

	/** The error of an execution with several requests does not say which of them failed. */
	private outcomeOf(
		execution: Execution,
		request: ChargeRequest,
		isOnlyRequest: boolean,
	): AttemptOutcome {
		const { error = '', summary } = execution;
		const hashes = [...hashesIn(execution), ...(this.reported.get(summary.id) ?? [])];
		if (hashes.some((hash) => this.documents.get(hash) === request.customer)) return 'charged';
		const ofError = OUTCOMES.find(([text]) => text.test(error))?.[1];
		return (isOnlyRequest && ofError) || 'unknown';
	}

	/** The customer's name contains the slot and the order of the request. */
	private createdCharges(): CreatedCharge[] {
		return this.recorder.n8n.sandbox.transactions.flatMap((transaction) => {
			const { hash, customer, payment_status: status } = transaction;
			const [, slot, order] = /^(p\S+) (\S+)$/.exec(customer.name) ?? [];
			if (slot === undefined || order === undefined) return [];
			const { document } = customer;
			const charge = { hash, slot, customer: document, isPayable: !VOID.includes(status) };
			return [{ ...charge, ...(order !== '-' && { order }) }];
		});
	}

	/** The sales that passed the trigger, once for each first execution. */
	private startedSales(): StartedSale[] {
		const { reports, salesWorkflow } = this.recorder;
		const sales = new Map<string, StartedSale>();
		const add = (id: string, { hash, status }: StartedSale): void => {
			sales.set(`${this.firstExecutionOf(id)} ${hash} ${status}`, { hash, status });
		};
		for (const execution of this.executions) {
			const { id, workflowId, status } = execution.summary;
			if (workflowId !== salesWorkflow || status !== 'success') continue;
			for (const { json } of execution.items('Sale')) {
				const sold = soldSchema.safeParse(json).data;
				if (sold) add(id, { hash: sold.hash, status: sold.payment_status });
			}
		}
		for (const report of reports) {
			if (this.byId.get(report.execution)?.summary.workflowId === salesWorkflow) {
				add(report.execution, report);
			}
		}
		return [...sales.values()];
	}

	/** Once for each first execution. An execution that ended in Create PIX has not waited. */
	private waits(): Wait[] {
		const { reports, timeLimits } = this.recorder;
		const waits = new Map<string, Wait & { results: WaitResult[] }>();
		const waitOf = (id: string, hash: string): { results: WaitResult[] } => {
			const key = `${this.firstExecutionOf(id)} ${hash}`;
			const limitMs = timeLimits.get(this.byId.get(id)?.summary.workflowId ?? '') ?? 0;
			const wait = waits.get(key) ?? { ...this.waitFor(hash, limitMs), results: [] };
			waits.set(key, wait);
			return wait;
		};
		for (const execution of this.executions) {
			const { id, workflowId } = execution.summary;
			if (timeLimits.has(workflowId)) hashesIn(execution).forEach((hash) => waitOf(id, hash));
		}
		// An item that passed the node without a read has no `paid`.
		for (const { execution, hash, paid = false, status, at } of reports) {
			const { workflowId = '' } = this.byId.get(execution)?.summary ?? {};
			if (timeLimits.has(workflowId))
				waitOf(execution, hash).results.push({ execution, paid, status, at });
		}
		return [...waits.values()];
	}

	/** The time limit counts from the node's first read of the payment, which comes after the charge and may fail. */
	private waitFor(hash: string, limitMs: number): Omit<Wait, 'results'> {
		const { decisions, n8n } = this.recorder;
		const { payment_status: status = '', customer } =
			n8n.sandbox.transactions.find((transaction) => transaction.hash === hash) ?? {};
		const chargeRequest = n8n.sandbox.requests.find(({ method, body }) => {
			return (
				method === 'POST' &&
				orderSchema.safeParse(body).data?.customer.document === customer?.document
			);
		});
		const refused = status === 'refused' ? { status, at: 0 } : undefined;
		const decided = decisions.get(hash) ?? refused;
		return {
			hash,
			limitAt: (chargeRequest?.at ?? Infinity) + limitMs,
			...(decided && { decided }),
		};
	}

	private firstExecutionOf(id: string): string {
		const retryOf = this.byId.get(id)?.summary.retryOf;
		return retryOf ? this.firstExecutionOf(retryOf) : id;
	}
}

/** The hashes that Create PIX put out, in order. After a crash some items have no hash. */
function hashesIn(execution: Execution): string[] {
	return execution
		.items('Charge')
		.flatMap(({ json }) => (typeof json.hash === 'string' ? [json.hash] : []));
}
