import { z } from 'zod';
import type { Execution } from '../n8n/execution';
import { IN_DOUBT } from '../queue/shop';
import type {
	Asked,
	Attempt,
	AttemptOutcome,
	Emitted,
	History,
	Made,
	Wait,
	WentOn,
} from './checker';
import type { Recorder } from './recorder';

const VOID = ['refused', 'canceled', 'expired'];
/** The errors of Create PIX; any other is n8n's own, and tells nothing of the charge. */
const OUTCOMES: Array<[error: RegExp, outcome: AttemptOutcome]> = [
	[/may already have been charged: /, 'unknown'],
	[IN_DOUBT, 'inDoubt'],
	[/was already charged/, 'charged'],
	[/could not record the charge/, 'notRecorded'],
	[/did not accept the request|still limiting requests/, 'notMade'],
];

const askSchema = z.object({
	place: z.string(),
	customer: z.string(),
	order: z.string().optional(),
});
const startSchema = z.object({ body: z.object({ asks: z.array(askSchema) }) });
const orderSchema = z.object({ customer: z.object({ document: z.string() }) });
const soldSchema = z.object({ hash: z.string(), payment_status: z.string() });

/** What a recorder, n8n and the sandbox know, put together. */
export class Records {
	/** Executions of which n8n has kept nothing, since the worker died that ran them. */
	readonly forgotten: Execution[];
	private readonly endedAt = Date.now();
	private readonly byId: Map<string, Execution>;
	/** The hashes that an execution has handed on. */
	private readonly reported = new Map<string, string[]>();
	/** Who was charged, by the hash of the transaction. */
	private readonly customers: ReadonlyMap<string, string>;

	private constructor(
		private readonly recorder: Recorder,
		private readonly executions: Execution[],
	) {
		this.byId = new Map(executions.map((execution) => [execution.summary.id, execution]));
		for (const { execution, hash } of recorder.reports) {
			this.reported.set(execution, [...(this.reported.get(execution) ?? []), hash]);
		}
		this.customers = new Map(
			recorder.n8n.sandbox.transactions.map(({ hash, customer }) => [hash, customer.document]),
		);
		this.forgotten = executions.filter((execution) => execution.isForgotten);
	}

	static async of(recorder: Recorder): Promise<Records> {
		return new Records(recorder, await recorder.n8n.rest.everyExecution());
	}

	get history(): History {
		const { sent, noticed } = this.recorder;
		return {
			asked: sent.map(({ ask }) => ask),
			attempts: [...this.attempts(), ...this.untold()],
			made: this.made(),
			noticed,
			emitted: this.emitted(),
			forgotten: this.forgotten
				.filter(({ summary }) => summary.workflowId === this.recorder.selling)
				.map(({ summary }) => Date.parse(summary.createdAt ?? '')),
			waits: this.waits(),
			endedAt: this.endedAt,
		};
	}

	/** The errors that say nothing of a charge, to be read by a person. */
	get otherErrors(): string[] {
		return this.ofCharges().flatMap(({ error }) =>
			error === undefined || OUTCOMES.some(([text]) => text.test(error)) ? [] : [error],
		);
	}

	/** Executions that ended well with other transactions than those of their orders. */
	get mixedUp(): string[] {
		return this.ofCharges()
			.filter(({ summary }) => summary.status === 'success')
			.filter((execution) => {
				const charged = hashesIn(execution).map((hash) => this.customers.get(hash));
				return (
					charged.join() !==
					this.asksOf(execution)
						.map((ask) => ask.customer)
						.join()
				);
			})
			.map(({ summary }) => summary.id);
	}

	private ofCharges(): Execution[] {
		const { charging } = this.recorder;
		return this.executions.filter(({ summary }) => charging.includes(summary.workflowId));
	}

	private attempts(): Attempt[] {
		return this.ofCharges().flatMap((execution) => {
			const { startedAt, stoppedAt } = execution.summary;
			const begunAt = startedAt === null ? 0 : Date.parse(startedAt);
			const endedAt = stoppedAt === null ? Infinity : Date.parse(stoppedAt);
			return this.asksOf(execution).map((ask, _nth, asks): Attempt => {
				const outcome = this.outcomeOf(execution, ask, asks.length === 1);
				return { place: ask.place, begunAt, endedAt, outcome };
			});
		});
	}

	/** An ask whose execution n8n has forgotten, or of which nobody knows whether it began. */
	private untold(): Attempt[] {
		// A Retry tells the place of an execution, and nothing of how that ended.
		const first = this.ofCharges().filter(({ summary }) => !summary.retryOf);
		const told = new Set(first.flatMap((one) => this.asksOf(one)).map(({ place }) => place));
		return this.recorder.sent
			.filter(({ ask }) => !told.has(ask.place))
			.map(({ ask: { place }, sentAt }) => {
				return { place, begunAt: sentAt, endedAt: Infinity, outcome: 'unknown' };
			});
	}

	/** What an execution was asked to charge, wherever it has stopped. */
	private asksOf(execution: Execution): Asked[] {
		const items = [...execution.items('Start'), ...execution.pending];
		const started = items.map(({ json }) => startSchema.safeParse(json).data);
		const asked = started.find((data) => data !== undefined)?.body.asks;
		if (asked) return asked;
		const pending = items.flatMap(({ json }) => askSchema.safeParse(json).data ?? []);
		const original = this.byId.get(execution.summary.retryOf ?? '');
		return pending.length > 0 || !original ? pending : this.asksOf(original);
	}

	/** The error of an execution with several asks does not tell the outcome of each. */
	private outcomeOf(execution: Execution, ask: Asked, isAlone: boolean): AttemptOutcome {
		const { error = '', summary } = execution;
		const hashes = [...hashesIn(execution), ...(this.reported.get(summary.id) ?? [])];
		if (hashes.some((hash) => this.customers.get(hash) === ask.customer)) return 'charged';
		const told = OUTCOMES.find(([text]) => text.test(error))?.[1];
		return (isAlone && told) || 'unknown';
	}

	/** The name of the customer tells which ask it was. */
	private made(): Made[] {
		return this.recorder.n8n.sandbox.transactions.flatMap((transaction) => {
			const { hash, customer, payment_status: status } = transaction;
			const [, place, order] = /^(p\S+) (\S+)$/.exec(customer.name) ?? [];
			if (place === undefined || order === undefined) return [];
			const { document } = customer;
			const made = { hash, place, customer: document, isPayable: !VOID.includes(status) };
			return [{ ...made, ...(order !== '-' && { order }) }];
		});
	}

	/** What went on behind the trigger, once for each execution as it first began. */
	private emitted(): Emitted[] {
		const { reports, selling } = this.recorder;
		const all = new Map<string, Emitted>();
		const add = (id: string, { hash, status }: Emitted): void => {
			all.set(`${this.originalOf(id)} ${hash} ${status}`, { hash, status });
		};
		for (const execution of this.executions) {
			const { id, workflowId, status } = execution.summary;
			if (workflowId !== selling || status !== 'success') continue;
			for (const { json } of execution.items('Sale')) {
				const sold = soldSchema.safeParse(json).data;
				if (sold) add(id, { hash: sold.hash, status: sold.payment_status });
			}
		}
		for (const report of reports) {
			if (this.byId.get(report.execution)?.summary.workflowId === selling) {
				add(report.execution, report);
			}
		}
		return [...all.values()];
	}

	/** Once for each execution as it first began; one that ended in Create PIX has not waited. */
	private waits(): Wait[] {
		const { reports, waiting } = this.recorder;
		const waits = new Map<string, Wait & { wentOn: WentOn[] }>();
		const waitOf = (id: string, hash: string): { wentOn: WentOn[] } => {
			const key = `${this.originalOf(id)} ${hash}`;
			const limitMs = waiting.get(this.byId.get(id)?.summary.workflowId ?? '') ?? 0;
			const wait = waits.get(key) ?? { ...this.awaited(hash, limitMs), wentOn: [] };
			waits.set(key, wait);
			return wait;
		};
		for (const execution of this.executions) {
			const { id, workflowId } = execution.summary;
			if (waiting.has(workflowId)) hashesIn(execution).forEach((hash) => waitOf(id, hash));
		}
		// An item that passed the wait without a look does not say whether it is paid.
		for (const { execution, hash, paid = false, status, at } of reports) {
			const { workflowId = '' } = this.byId.get(execution)?.summary ?? {};
			if (waiting.has(workflowId))
				waitOf(execution, hash).wentOn.push({ execution, paid, status, at });
		}
		return [...waits.values()];
	}

	/** The time limit counts from the first look, which comes after the charge, and may not get as far as a read. */
	private awaited(hash: string, limitMs: number): Omit<Wait, 'wentOn'> {
		const { decisions, n8n } = this.recorder;
		const { payment_status: status = '', customer } =
			n8n.sandbox.transactions.find((one) => one.hash === hash) ?? {};
		const asked = n8n.sandbox.requests.find(({ method, body }) => {
			return (
				method === 'POST' &&
				orderSchema.safeParse(body).data?.customer.document === customer?.document
			);
		});
		const refused = status === 'refused' ? { status, at: 0 } : undefined;
		const decided = decisions.get(hash) ?? refused;
		return { hash, limitAt: (asked?.at ?? Infinity) + limitMs, ...(decided && { decided }) };
	}

	private originalOf(id: string): string {
		const retryOf = this.byId.get(id)?.summary.retryOf;
		return retryOf ? this.originalOf(retryOf) : id;
	}
}

/** The hashes that Create PIX has put out, in their order; a crash leaves items that have none. */
function hashesIn(execution: Execution): string[] {
	return execution
		.items('Charge')
		.flatMap(({ json }) => (typeof json.hash === 'string' ? [json.hash] : []));
}
