import type { IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';
import type { Status } from '../domain';
import { unansweredCount, whenAnswered } from '../n8n';
import { EarlyReply, REPLIES } from '../notification';
import { BoundedMap, jsonObject, processState } from '../shared';

/* What this process has handed over to n8n, so that a repeated webhook costs neither a read nor an execution. */

/** What a webhook hands over to its execution: a sale with its item, a claim to look for, or a fault. */
export const handoverSchema = z.object({
	hash: z.string(),
	/** Of a sale, what was read. Of a claim, what the webhook named, or what was read if a second read failed. */
	status: z.string().nullish(),
	item: jsonObject.optional(),
	/**
	 * Of a sale: the status that the webhook named, if its order to the read one is not known. The execution looks for it only
	 * if another execution has the sale.
	 */
	awaited: z.string().optional(),
	fault: z.object({ message: z.string(), description: z.string() }).optional(),
	hint: z.string().optional(),
});
export type Handover = z.output<typeof handoverSchema>;

/** To store 80 executions takes n8n at least six seconds, and a sender waits about ten. */
const MOST_UNANSWERED = 80;
/** Of executions that may still look: a status leaves when this process has recorded it, else after 20 minutes. */
const MOST_CLAIMS = 200;
const CLAIM_KEPT_MS = 20 * 60_000;

type Stored = { isStored: boolean };

/** By trigger and {@link statusKey}. The ledger drops the repeats that these maps miss. */
const sales = processState(new BoundedMap<Stored>({ most: 10_000 }));
const claims = processState(new BoundedMap<Stored>({ most: MOST_CLAIMS, keptMs: CLAIM_KEPT_MS }));

export function statusKey(hash: string, status: Status): string {
	return JSON.stringify([hash, status?.toLowerCase()]);
}

/** @throws EarlyReply if n8n is still storing too many executions */
export function declineIfBacklogged(): void {
	if (unansweredCount() >= MOST_UNANSWERED) throw new EarlyReply(REPLIES.backlogged);
}

/** The statuses of a transaction that this process has handed over for a trigger. */
export class Handovers {
	private readonly trigger: string;

	constructor(
		context: IExecuteFunctions | IWebhookFunctions,
		private readonly hash: string,
	) {
		// A test has keys that nobody adds, so it is no repeat. Not the mode itself, because a Retry has a mode of its own.
		const isTest = context.getMode() === 'manual';
		this.trigger = `${context.getWorkflow().id} ${context.getNode().id} ${isTest}`;
	}

	hasSale(status: Status): boolean {
		return sales.get(this.keyOf(status)) !== undefined;
	}

	/** @throws EarlyReply if the status was handed over */
	declineRepeat(status: Status): void {
		const sale = sales.get(this.keyOf(status));
		if (sale) throw new EarlyReply(sale.isStored ? REPLIES.duplicate : REPLIES.inFlight);
	}

	/**
	 * Has no await, so that only the first of two repeats passes.
	 *
	 * @throws EarlyReply if the status was handed over or is looked for, or too many executions wait
	 */
	add(context: IWebhookFunctions, { status, item }: Handover): void {
		const key = this.keyOf(status);
		if (item) this.declineRepeat(status);
		else if (claims.get(key)) throw new EarlyReply(REPLIES.outdated);
		// Again, because others were handed over during the reads.
		declineIfBacklogged();
		if (!item && claims.size >= MOST_CLAIMS) throw new EarlyReply(REPLIES.busy);

		const all = item ? sales : claims;
		const stored = { isStored: false };
		all.set(key, stored);

		whenAnswered(context, (isStored) => {
			stored.isStored = isStored;
			// The next webhook must start the workflow.
			if (!isStored) all.delete(key);
		});
	}

	/** The ledger has the status, by this execution or another. */
	settle(status: Status): void {
		claims.delete(this.keyOf(status));
		sales.set(this.keyOf(status), { isStored: true });
	}

	private keyOf(status: Status): string {
		return `${this.trigger} ${statusKey(this.hash, status)}`;
	}
}
