import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import type { Transaction } from '../api/schemas/transaction';
import { whenAnswered } from '../n8n/answered';
import { type Notification, readNotification } from '../notification/parse';
import { Declined, handleWebhook, REPLIES } from '../notification/reply';
import {
	ANSWER_WITHIN_MS,
	type ReadResult,
	SHORTEST_READ_MS,
	verifyTransaction,
} from '../notification/verify';
import { transactionOutput } from '../output/transaction';
import { clock } from '../shared/clock';
import { BoundedMap, processState } from '../shared/processState';
import { dedupeKey } from './dedupe';
import { isBehind, isSameStatus, rejectionReason } from './filters';
import { readTriggerForm, type TriggerForm } from './form';

/** The pause between two reads of a transaction, because forged webhooks cost reads. A read without news doubles it. */
const REREAD_AFTER_MS = 3_000;
const LONGEST_PAUSE_MS = 60_000;
const FORGOTTEN_AFTER_MS = 600_000;

interface ReadRecord {
	/** On `clock.elapsed()`. */
	startedAt: number;
	/** The status claimed by the webhook that caused it, and since when reads have been behind that claim. */
	claimedStatus: string | undefined;
	claimedSince: number;
	/** Whether it answered a webhook, so that the same claim may be about another change from now on. */
	isUsed?: boolean;
	result: Promise<ReadResult>;
	/** The result of the read before, in case this read fails. */
	previous: ReadResult | undefined;
}

/**
 * The latest read of each transaction, by trigger and hash. It may be in progress.
 *
 * @internal
 */
export const reads = processState(
	new BoundedMap<ReadRecord>({
		most: 10_000,
		isExpired: ({ startedAt }) => startedAt + FORGOTTEN_AFTER_MS <= clock.elapsed(),
	}),
);

/** n8n takes at least 75 ms for each webhook in a burst, and a sender waits about ten seconds. */
const MOST_UNANSWERED = 80;

/**
 * Notifications that were handed over to n8n, by trigger and {@link dedupeKey}. True after n8n has stored the execution.
 * Declines repeats within this process; the ledger drops repeats in other processes and after a restart.
 *
 * @internal
 */
export const handedOver = processState(new BoundedMap<boolean>({ most: 10_000 }));

/**
 * Receives a webhook. Reads its transaction back before the workflow starts, because anybody can send a webhook. n8n
 * answers after it has stored the execution. Never throws.
 */
export async function receiveWebhook(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	return await handleWebhook(context, 'A webhook could not be handled', async () => {
		if (context.getRequestObject().method !== 'POST') throw new Declined(REPLIES.listening);
		const json = await new Delivery(context).receive();
		return { workflowData: [[{ json }]] };
	});
}

class Delivery {
	private readonly calledAt = clock.elapsed();
	private readonly answerBy = this.calledAt + ANSWER_WITHIN_MS;
	private readonly form: TriggerForm;
	/** Whether the webhook came to the test URL, which n8n closes after the first webhook that starts the workflow. */
	private readonly isTest: boolean;
	private readonly triggerKey: string;

	constructor(private readonly context: IWebhookFunctions) {
		const mode = context.getMode();
		this.form = readTriggerForm(context);
		this.isTest = mode === 'manual';
		this.triggerKey = `${context.getWorkflow().id} ${context.getNode().id} ${mode}`;
	}

	/** Returns the item for the workflow: the transaction that the service returned. */
	async receive(): Promise<IDataObject> {
		const { context, form } = this;
		const notification = await readNotification(context);
		// A status that was handed over has been read before, so a repeat needs no read.
		if (notification.status !== undefined) this.declineDuplicate(notification);
		declineIfBacklogged();
		const transaction = await this.readUntilCurrent(notification);
		// Anybody may send a webhook, so the reply does not describe the transaction.
		if (rejectionReason(form, transaction) !== undefined) throw new Declined(REPLIES.filtered);
		const { simplify, options } = form;
		const status = transaction.payment_status ?? undefined;
		// The event of a late webhook belongs to an earlier status.
		const event = isSameStatus(notification.status, status) ? notification.event : undefined;
		this.handOver({ hash: transaction.hash, status, event });
		return {
			...transactionOutput(transaction, { simplify, fields: options.fields }),
			...(event !== undefined && { webhook_event: event }),
		};
	}

	/** Reads the transaction, again after a pause, until the read is not older than the webhook. */
	private async readUntilCurrent(notification: Notification): Promise<Transaction> {
		const key = `${this.triggerKey} ${notification.hash}`;
		for (;;) {
			const last = reads.get(key);
			// If the read for another webhook failed, for example in a flood from its sender, this webhook reads itself.
			const result = await last?.result.catch(() => undefined);
			const pauseMs = Math.min(REREAD_AFTER_MS * 2 ** (result?.repeats ?? 0), LONGEST_PAUSE_MS);
			const dueAt = result && last ? last.startedAt + pauseMs : -Infinity;
			const isDue = dueAt <= clock.elapsed();
			const transaction = result?.transaction;
			if (last && transaction && this.isCurrent(last, transaction, notification, isDue)) {
				last.isUsed = true;
				return transaction;
			}
			if (isDue) {
				// Another webhook may have begun a read during the await. This webhook then waits for that read.
				const isFirst = reads.get(key) === last || (last && !result);
				if (isFirst) await this.beginRead(key, notification, result ?? last?.previous);
				continue;
			}
			if (dueAt > this.answerBy - SHORTEST_READ_MS) {
				throw new Declined(REPLIES[transaction ? 'inFlight' : 'unknown']);
			}
			await clock.sleep(dueAt - clock.elapsed());
		}
	}

	private isCurrent(
		{ startedAt, claimedStatus: claimedAtRead, claimedSince }: ReadRecord,
		{ payment_status: read }: Transaction,
		{ hash, status: claimed }: Notification,
		isDue: boolean,
	): boolean {
		// A read from before the webhook counts, too. Otherwise a stranger who causes reads all the time could block a sale.
		if (!isDue && claimed !== undefined && isSameStatus(claimed, read)) return true;
		if (startedAt < this.calledAt) return false;
		const claimedForMs = claimed === claimedAtRead ? startedAt - claimedSince : 0;
		const key = this.handoverKey({ hash, status: read ?? undefined });
		const isHandedOver = handedOver.get(key) !== undefined;
		return !isBehind(this.form, { read, claimed, claimedForMs, isHandedOver });
	}

	private async beginRead(
		key: string,
		{ hash, status: claimed }: Notification,
		previous: ReadResult | undefined,
	): Promise<void> {
		const { context, answerBy } = this;
		const last = reads.get(key);
		const startedAt = clock.elapsed();
		const isSameClaim = last?.claimedStatus === claimed && !last?.isUsed;
		const claimedSince = last && isSameClaim ? last.claimedSince : startedAt;
		const result = verifyTransaction(context, hash, { answerBy, previous });
		reads.set(key, { startedAt, claimedStatus: claimed, claimedSince, result, previous });
		await result.catch((error: unknown) => {
			// Only successful reads are kept.
			if (last) reads.set(key, last);
			else reads.delete(key);
			throw error;
		});
	}

	/** Hands a notification over to n8n. Has no await between check and set, so only the first of two repeats passes. */
	private handOver(notification: Notification): void {
		// A test must not make the next test a duplicate.
		if (this.isTest) return;
		this.declineDuplicate(notification);
		declineIfBacklogged();
		const key = this.handoverKey(notification);
		handedOver.set(key, false);
		whenAnswered(this.context, (isStored) => {
			if (isStored) handedOver.set(key, true);
			// If n8n has not stored the execution, the next webhook must start the workflow.
			else handedOver.delete(key);
		});
	}

	private declineDuplicate(notification: Notification): void {
		const isStored = handedOver.get(this.handoverKey(notification));
		if (isStored === undefined) return;
		throw new Declined(isStored ? REPLIES.duplicate : REPLIES.inFlight);
	}

	private handoverKey(notification: Notification): string {
		return `${this.triggerKey} ${dedupeKey(notification)}`;
	}
}

/**
 * Declines a webhook that n8n would answer too late, because it is still storing many others. The limit leaves room for
 * executions that n8n has stored and answers only when they begin, under its limit of concurrent executions.
 */
function declineIfBacklogged(): void {
	const unanswered = handedOver.list().filter(([, isStored]) => !isStored);
	if (unanswered.length >= MOST_UNANSWERED) throw new Declined(REPLIES.backlogged);
}
