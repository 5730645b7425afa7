import { uniq } from 'lodash';
import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import type { Transaction } from '../api';
import { senderAddress, whenAnswered } from '../n8n';
import {
	Declined,
	handleWebhook,
	isAbandonedCart,
	readBackTransaction,
	readNotification,
	type ReadResult,
	REPLIES,
	LEFT_FOR_READ_MS,
	type Webhook,
} from '../notification';
import { transactionOutput } from '../output';
import { BoundedMap, clock, processState } from '../shared';
import { type Change, dedupeKeys } from './dedupe';
import { isExcludedForGood, isSameStatus, isWantedStatus, rejectionReason } from './filters';
import { isAhead, LONGEST_LAG_MS, mayBeOutdated } from './lag';
import { readTriggerForm, type TriggerForm } from './form';

/** A sender waits about ten seconds. */
const ANSWER_WITHIN_MS = 9_500;
/** Each read without news doubles the pause, because forged webhooks cost reads. */
const REREAD_AFTER_MS = 3_000;
const LONGEST_PAUSE_MS = 60_000;
/** Then the pause is short again. A flood never leaves so long a gap. */
const QUIET_MS = 2 * LONGEST_PAUSE_MS;
/** Several changes within minutes, each in the account's webhook and the charge's own. */
const MOST_SOURCES = 16;

interface ReadRecord {
	/** On `clock.elapsed()`. */
	startedAt: number;
	/** How many reads came before, each within `QUIET_MS`. */
	streak: number;
	/** By sender and body of a webhook: when it first came. Another body may report a later change. */
	sources: Map<string, number>;
	result: Promise<ReadResult>;
	/** The last result before this read, used if it fails. */
	previous: ReadResult | undefined;
}

/**
 * The latest read of each transaction, by trigger and hash.
 *
 * @internal
 */
export const reads = processState(new BoundedMap<ReadRecord>({ most: 10_000, keptMs: 3_600_000 }));

/** To store 80 executions takes n8n at least six seconds, and a sender waits about ten. */
const MOST_UNANSWERED = 80;

interface Handover {
	/** Whether n8n has stored the execution. */
	isStored: boolean;
	/** Whether the webhook named a status that may follow. Then a webhook that names this one may have to bring that one. */
	isAhead: boolean;
}

/**
 * Webhooks passed to n8n, by trigger and {@link dedupeKeys}. `emitOnce` drops the repeats that this map misses.
 *
 * @internal
 */
export const handedOver = processState(new BoundedMap<Handover>({ most: 10_000 }));

/** Reads the transaction back before the workflow starts, because anybody can send a webhook. Never throws. */
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
	private readonly triggerKey: string;

	constructor(private readonly context: IWebhookFunctions) {
		this.form = readTriggerForm(context);
		this.triggerKey = `${context.getWorkflow().id} ${context.getNode().id} ${context.getMode()}`;
	}

	async receive(): Promise<IDataObject> {
		const { simplify, options } = this.form;
		const notification = await readNotification(this.context);
		if (notification.status !== undefined) {
			declineDuplicate(this.handovers(notification).filter((one) => !one.isAhead));
		}
		declineIfBacklogged();
		const transaction = await this.readUntilCurrent(notification);
		// The reply must not describe the transaction to strangers.
		if (rejectionReason(this.form, transaction)) throw new Declined(REPLIES.filtered);
		const { hash, payment_status: status } = transaction;
		const isOwnEvent = isSameStatus(notification.status, status);
		const event = notification.event && (isOwnEvent ? notification.event : null);
		this.handOver({ hash, status, event }, isAhead(this.form, notification.status, status));
		return {
			...transactionOutput(transaction, { simplify, fields: options.fields }),
			...(event !== undefined && { webhook_event: event }),
		};
	}

	private async readUntilCurrent(notification: Webhook): Promise<Transaction> {
		const key = `${this.triggerKey} ${notification.hash}`;
		for (;;) {
			const last = reads.get(key);
			if (last) rememberSource(last.sources, this.sourceOf(notification), this.calledAt);
			const result = await last?.result.catch(() => undefined);
			const dueAt = last && result ? last.startedAt + pauseAfter(last, result) : -Infinity;
			const isDue = dueAt <= clock.elapsed();
			const transaction = result?.transaction;
			if (result && !transaction && isAbandonedCart(notification)) {
				throw new Declined(REPLIES.noSale);
			}
			const found = result && transaction && { ...result, transaction };
			if (last && found && this.isCurrent(last, found, notification, isDue)) {
				// If this body comes again, it may report a new change.
				last.sources.delete(this.sourceOf(notification));
				return found.transaction;
			}
			if (isDue) {
				const hasFailed = last !== undefined && result === undefined;
				// After a failure, each webhook reads for itself. Otherwise webhooks share the next read.
				if (hasFailed || reads.get(key) === last) {
					await this.readBack(key, notification, result ?? last?.previous);
				}
				continue;
			}
			if (dueAt > this.answerBy - LEFT_FOR_READ_MS) {
				throw new Declined(REPLIES[transaction ? 'outdated' : 'unknown']);
			}
			await clock.sleep(dueAt - clock.elapsed());
		}
	}

	private isCurrent(
		{ startedAt, sources }: ReadRecord,
		{ transaction, shownSince }: Required<ReadResult>,
		webhook: Webhook,
		isDue: boolean,
	): boolean {
		const { hash, status: claimed } = webhook;
		const { payment_status: read } = transaction;
		const handovers = this.handovers({ hash, status: read, event: null });
		const isHandedOver = handovers.length > 0;
		const isConfirmed = claimed !== undefined && isSameStatus(claimed, read);
		// An earlier read that shows the claimed status is enough, because strangers could delay a new one too long. If that
		// status has started the workflow, a new read is needed for the item of another event.
		if (!isDue && isConfirmed && !isHandedOver) return true;
		// Other webhooks report the changes that the workflow waits for.
		const isUnwanted = isConfirmed && !isWantedStatus(this.form, read);
		if (isUnwanted || isExcludedForGood(this.form, transaction)) return true;
		const shownForMs = startedAt - shownSince;
		if (isConfirmed && handovers.some((one) => one.isAhead)) return shownForMs >= LONGEST_LAG_MS;
		if (startedAt < this.calledAt) return false;
		const claimedForMs = startedAt - (sources.get(this.sourceOf(webhook)) ?? this.calledAt);
		return !mayBeOutdated(this.form, { read, claimed, claimedForMs, shownForMs, isHandedOver });
	}

	private sourceOf({ bodyDigest }: Webhook): string {
		return `${senderAddress(this.context)} ${bodyDigest}`;
	}

	private async readBack(
		key: string,
		webhook: Webhook,
		previous: ReadResult | undefined,
	): Promise<void> {
		const last = reads.get(key);
		const startedAt = clock.elapsed();
		const sources = last?.sources ?? new Map<string, number>();
		rememberSource(sources, this.sourceOf(webhook), this.calledAt);
		const result = readBackTransaction(this.context, webhook.hash, {
			answerBy: this.answerBy,
			previous,
		});
		const isQuiet = !last || startedAt - last.startedAt >= QUIET_MS;
		const streak = isQuiet ? 0 : last.streak + 1;
		reads.set(key, { startedAt, streak, sources, result, previous });
		await result.catch((error: unknown) => {
			if (last) reads.set(key, last);
			else reads.delete(key);
			throw error;
		});
	}

	/** Has no await between check and set, so only the first of two repeats passes. */
	private handOver(change: Change, isAhead: boolean): void {
		// A test must not make the next test a duplicate.
		if (this.context.getMode() === 'manual') return;
		declineDuplicate(this.handovers(change));
		declineIfBacklogged();
		const keys = this.handoverKeys(change);
		const handover: Handover = { isStored: false, isAhead };
		for (const key of keys) handedOver.set(key, handover);
		whenAnswered(this.context, (isStored) => {
			handover.isStored = isStored;
			if (isStored) return;
			// The next webhook must start the workflow.
			for (const key of keys) handedOver.delete(key);
		});
	}

	private handovers(change: Change): Handover[] {
		return this.handoverKeys(change).flatMap((key) => handedOver.get(key) ?? []);
	}

	private handoverKeys(change: Change): string[] {
		return dedupeKeys(change).map((key) => `${this.triggerKey} ${key}`);
	}
}

function declineDuplicate(known: Handover[]): void {
	if (known.length === 0) return;
	throw new Declined(REPLIES[known.some(({ isStored }) => isStored) ? 'duplicate' : 'inFlight']);
}

function pauseAfter({ streak }: ReadRecord, { repeats }: ReadResult): number {
	return Math.min(REREAD_AFTER_MS * 2 ** Math.min(streak, repeats), LONGEST_PAUSE_MS);
}

function rememberSource(sources: Map<string, number>, source: string, at: number): void {
	if (sources.has(source)) return;
	const [oldest = ''] = sources.keys();
	if (sources.size === MOST_SOURCES) sources.delete(oldest);
	sources.set(source, at);
}

function declineIfBacklogged(): void {
	const unanswered = handedOver.listEntries().flatMap(([, one]) => (one.isStored ? [] : one));
	if (uniq(unanswered).length >= MOST_UNANSWERED) throw new Declined(REPLIES.backlogged);
}
