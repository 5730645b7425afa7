import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import type { Transaction } from '../api/schemas/transaction';
import { hasSenderLeft, whenAnswered } from '../n8n/answered';
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

/** Between two reads of a transaction: a forged webhook costs reads, too. Each read that shows nothing new doubles it. */
const REREAD_AFTER_MS = 3_000;
const LONGEST_PAUSE_MS = 60_000;
const FORGOTTEN_AFTER_MS = 600_000;

interface PendingRead {
	/** When it began, on `clock.elapsed()`. */
	startedAt: number;
	/** The status claimed by the webhook that caused it, and when the reads for that claim began. */
	claimedStatus: string | undefined;
	claimedSince: number;
	result: Promise<ReadResult>;
	previous: ReadResult | undefined;
}

/**
 * The latest reads, in progress or over, by trigger and hash.
 *
 * @internal
 */
export const reads = processState(
	new BoundedMap<PendingRead>({
		most: 10_000,
		isExpired: ({ startedAt }) => startedAt + FORGOTTEN_AFTER_MS <= clock.elapsed(),
	}),
);

/** n8n takes at least 75 ms for each webhook in a burst, and a sender waits about ten seconds. */
const MOST_UNANSWERED = 80;

/**
 * Notifications handed over to n8n, by trigger and {@link dedupeKey}: true once n8n has answered, because it
 * has stored them by then. A repeat ends here; between processes, and after a restart, the ledger decides.
 *
 * @internal
 */
export const handedOver = processState(new BoundedMap<boolean>({ most: 10_000 }));

/**
 * Receives a webhook. It is a hint, not a fact: the transaction is read back before anything starts. If it
 * starts the workflow, n8n answers once it has stored the execution. Never throws, whatever is sent.
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
	/** Whether it came to the test URL, which n8n closes after the first webhook that starts the workflow. */
	private readonly isTest: boolean;
	private readonly triggerKey: string;

	constructor(private readonly context: IWebhookFunctions) {
		const mode = context.getMode();
		this.form = readTriggerForm(context);
		this.isTest = mode === 'manual';
		this.triggerKey = `${context.getWorkflow().id} ${context.getNode().id} ${mode}`;
	}

	/** Returns the item for the workflow: the transaction as the service has it. */
	async receive(): Promise<IDataObject> {
		const { context, form } = this;
		const claim = await readNotification(context);
		// A status that was handed over has been read before, so its repeat needs no read.
		if (claim.status !== undefined) this.declineDuplicate(claim);
		declineIfBacklogged();
		const transaction = await this.readUntilCurrent(claim);
		// Anybody may send a webhook, so the reply does not describe the transaction.
		if (rejectionReason(form, transaction) !== undefined) throw new Declined(REPLIES.filtered);
		const { simplify, options } = form;
		const status = transaction.payment_status ?? undefined;
		// A webhook that comes late, about an earlier status, is no event of the present one.
		const event = isSameStatus(claim.status, status) ? claim.event : undefined;
		this.handOver({ hash: transaction.hash, status, event });
		return {
			...transactionOutput(transaction, { simplify, fields: options.fields }),
			...(event !== undefined && { webhook_event: event }),
		};
	}

	/** Reads the transaction until the read is not behind the claim; the next read waits for its pause. */
	private async readUntilCurrent(claim: Notification): Promise<Transaction> {
		const key = `${this.triggerKey} ${claim.hash}`;
		for (;;) {
			const last = reads.get(key);
			// A read for another webhook may fail, for example in a flood from its sender. This one then reads itself.
			const reading = await last?.result.catch(() => undefined);
			const pauseMs = Math.min(REREAD_AFTER_MS * 2 ** (reading?.repeats ?? 0), LONGEST_PAUSE_MS);
			const dueAt = reading && last ? last.startedAt + pauseMs : -Infinity;
			const isDue = dueAt <= clock.elapsed();
			if (last && reading?.transaction && this.isCurrent(last, reading.transaction, claim, isDue)) {
				return reading.transaction;
			}
			if (isDue) {
				const isFirst = reads.get(key) === last || (last && !reading);
				if (isFirst) await this.beginRead(key, claim, reading ?? last?.previous);
				continue;
			}
			if (dueAt > this.answerBy - SHORTEST_READ_MS) {
				throw new Declined(REPLIES[reading?.transaction ? 'inFlight' : 'unknown']);
			}
			await clock.sleep(dueAt - clock.elapsed());
		}
	}

	private isCurrent(
		{ startedAt, claimedStatus: claimedAtRead, claimedSince }: PendingRead,
		{ payment_status: read }: Transaction,
		{ hash, status: claimed }: Notification,
		isDue: boolean,
	): boolean {
		// Also if it was read before the webhook came, so that a stranger who causes reads all the time keeps no sale out.
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
		before: ReadResult | undefined,
	): Promise<void> {
		const { context, answerBy } = this;
		const last = reads.get(key);
		const startedAt = clock.elapsed();
		const claimedSince = last && last.claimedStatus === claimed ? last.claimedSince : startedAt;
		const reading = verifyTransaction(context, hash, { answerBy, before });
		reads.set(key, {
			startedAt,
			claimedStatus: claimed,
			claimedSince,
			result: reading,
			previous: before,
		});
		await reading.catch((error: unknown) => {
			// A failure is not kept.
			if (last) reads.set(key, last);
			else reads.delete(key);
			throw error;
		});
	}

	/** Hands a notification over to n8n. Checks and sets without an await in between: of two at once only one passes. */
	private handOver(notification: Notification): void {
		// A test must not swallow the next one.
		if (this.isTest) return;
		this.declineDuplicate(notification);
		// Nobody would hear the answer, and n8n would seem to be still storing the execution.
		if (hasSenderLeft(this.context)) throw new Declined(REPLIES.inFlight);
		declineIfBacklogged();
		const key = this.handoverKey(notification);
		handedOver.set(key, false);
		whenAnswered(this.context, (isStored) => {
			if (isStored) handedOver.set(key, true);
			// n8n could not store it, or the sender has left: it must start the workflow when it comes again.
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
 * Declines while n8n, still storing earlier webhooks, would answer the next one too late. A few that wait for long
 * do not count: under a limit of executions at once n8n has stored them, and answers when they begin.
 */
function declineIfBacklogged(): void {
	const unanswered = handedOver.list().filter(([, isStored]) => !isStored);
	if (unanswered.length >= MOST_UNANSWERED) throw new Declined(REPLIES.backlogged);
}
