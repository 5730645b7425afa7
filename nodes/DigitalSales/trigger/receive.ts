import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import type { Transaction } from '../api/schemas/transaction';
import { type Notice, takeNotice } from '../notification/parse';
import { Declined, REPLIES, answering } from '../notification/reply';
import {
	ANSWER_WITHIN_MS,
	SHORTEST_READ_MS,
	accountOf,
	verifyTransaction,
} from '../notification/verify';
import { hasSenderLeft, whenAnswered } from '../n8n/answered';
import { transactionOutput } from '../output/transaction';
import { clock } from '../shared/clock';
import { BoundedMap, processState } from '../shared/processState';
import { type TriggerForm, readTriggerForm } from './form';
import { dedupeKey } from './dedupe';
import { isBehind, isSameStatus, whyUnwanted } from './filters';

/** Between two reads of a transaction; a forged notice costs reads, too. Each read without news doubles it. */
const REREAD_AFTER_MS = 3_000;
const LONGEST_PAUSE_MS = 60_000;
const FORGOTTEN_AFTER_MS = 600_000;

interface Read {
	/** When it began, on `clock.elapsed()`. */
	at: number;
	shows: Promise<Shown>;
	before: Shown | undefined;
}

/** A transaction, none if the service does not know it, and how many reads in a row before have shown the same. */
interface Shown {
	transaction?: Transaction;
	repeats: number;
}

/**
 * The latest reads, in progress or over, by trigger and hash.
 *
 * @internal
 */
export const reads = processState(
	new BoundedMap<Read>({
		most: 10_000,
		isExpired: ({ at }) => at + FORGOTTEN_AFTER_MS <= clock.elapsed(),
	}),
);

/**
 * Takes a notification in. It is a hint, not a fact: the transaction is read back before anything
 * starts. A notice that starts the workflow is answered by n8n once it has stored the execution, every
 * other one here. Never throws, whatever is sent.
 */
export async function receiveNotification(
	context: IWebhookFunctions,
): Promise<IWebhookResponseData> {
	return await answering(context, 'A webhook could not be handled', async () => {
		if (context.getRequestObject().method !== 'POST') throw new Declined(REPLIES.listening);
		const item = await new Delivery(context).receive();
		return { workflowData: [[{ json: item }]] };
	});
}

class Delivery {
	private readonly calledAt = clock.elapsed();
	private readonly answerBy = this.calledAt + ANSWER_WITHIN_MS;
	private readonly form: TriggerForm;
	/** Whether it came to the test URL, which n8n closes after the first notice that starts the workflow. */
	private readonly isTest: boolean;
	private readonly triggerKey: string;

	constructor(private readonly context: IWebhookFunctions) {
		const mode = context.getMode();
		this.form = readTriggerForm(context);
		this.isTest = mode === 'manual';
		this.triggerKey = `${context.getWorkflow().id} ${context.getNode().id} ${mode}`;
	}

	/** The item for the workflow: the transaction as the service has it. */
	async receive(): Promise<IDataObject> {
		const { context, form } = this;
		const notice = await takeNotice(context);
		// If the service said this before, it was handed over: a repeated notice needs no read.
		if (notice.status !== undefined) this.declineDuplicate(notice);
		if (isBacklogged()) throw new Declined(REPLIES.backlogged);
		const transaction = await this.readUntilFresh(notice);
		// Anybody may ask, so the answer does not say what the transaction is like.
		if (whyUnwanted(form, transaction) !== undefined) throw new Declined(REPLIES.filtered);
		const { simplify, options } = form;
		const status = transaction.payment_status ?? undefined;
		// One that came late, of a status that is past, tells of nothing beside the present one.
		const event = isSameStatus(notice.status, status) ? notice.event : undefined;
		this.enter({ hash: transaction.hash, status, event });
		return {
			...transactionOutput(transaction, { simplify, fields: options.fields }),
			...(event !== undefined && { webhook_event: event }),
		};
	}

	/** Takes a read that shows what the notice says, or that began after it; again while that is behind. */
	private async readUntilFresh(notice: Notice): Promise<Transaction> {
		const key = `${this.triggerKey} ${notice.hash}`;
		for (;;) {
			const last = reads.get(key);
			// Of another notice: what keeps that waiting, such as a flood from its sender, fails this one not.
			const shown = await last?.shows.catch(() => undefined);
			const pauseMs = Math.min(REREAD_AFTER_MS * 2 ** (shown?.repeats ?? 0), LONGEST_PAUSE_MS);
			const at = (shown && last?.at) ?? -Infinity;
			const isDue = at + pauseMs <= clock.elapsed();
			if (shown?.transaction && this.isFresh(shown.transaction, { at, isDue, notice })) {
				return shown.transaction;
			}
			if (isDue) {
				const isFirst = reads.get(key) === last || (last && !shown);
				if (isFirst) await this.beginRead(key, notice.hash, shown ?? last?.before);
				continue;
			}
			if (at + pauseMs > this.answerBy - SHORTEST_READ_MS) {
				throw new Declined(REPLIES[shown?.transaction ? 'inFlight' : 'unknown']);
			}
			await clock.sleep(at + pauseMs - clock.elapsed());
		}
	}

	private isFresh(
		{ payment_status: read }: Transaction,
		{ at, isDue, notice }: { at: number; isDue: boolean; notice: Notice },
	): boolean {
		const { hash, status: claimed } = notice;
		// Also of a read before the notice, so that nobody keeps it out by having the transaction read all the time.
		if (!isDue && claimed !== undefined && isSameStatus(claimed, read)) return true;
		if (at < this.calledAt) return false;
		const isHandedOver =
			handedOver.get(this.keyOf({ hash, status: read ?? undefined })) !== undefined;
		return !isBehind(this.form, { read, claimed, isHandedOver });
	}

	private async beginRead(key: string, hash: string, before: Shown | undefined): Promise<void> {
		const kept = reads.get(key);
		const read = { at: clock.elapsed(), shows: this.read(hash, before), before };
		reads.set(key, read);
		await read.shows.catch((error: unknown) => {
			// A failure is not kept.
			if (kept) reads.set(key, kept);
			else reads.delete(key);
			throw error;
		});
	}

	private async read(hash: string, before: Shown | undefined): Promise<Shown> {
		const { context, answerBy } = this;
		const repeats = (found?: Transaction): number =>
			before?.transaction?.payment_status === found?.payment_status
				? (before?.repeats ?? -1) + 1
				: 0;
		// One read without news is free: a genuine notice may be ahead of what the service gives to readers.
		const isFree = (found: Transaction): boolean => repeats(found) < 2;
		const account = await accountOf(context);
		const transaction = await verifyTransaction(context, account, { hash, answerBy, isFree });
		return { transaction, repeats: repeats(transaction) };
	}

	/** Checks and enters without an await in between: of two notices at once only one may pass. */
	private enter(notice: Notice): void {
		// A test must not swallow the next one.
		if (this.isTest) return;
		this.declineDuplicate(notice);
		// Nobody would hear the answer, and n8n would seem to be still storing the execution.
		if (hasSenderLeft(this.context)) throw new Declined(REPLIES.inFlight);
		if (isBacklogged()) throw new Declined(REPLIES.backlogged);
		handOver(this.context, this.keyOf(notice));
	}

	private declineDuplicate(notice: Notice): void {
		const key = this.keyOf(notice);
		const isStored = handedOver.get(key);
		if (isStored === undefined) return;
		throw new Declined(isStored ? REPLIES.duplicate : REPLIES.inFlight);
	}

	private keyOf(notice: Notice): string {
		return `${this.triggerKey} ${dedupeKey(notice)}`;
	}
}

/** A sender waits about ten seconds, and n8n takes at least 75 ms for each in a burst. */
const MOST_UNANSWERED = 80;

/**
 * Notices handed over to n8n, by trigger and {@link dedupeKey}, and whether it has answered: then it has stored
 * them. A repeat ends here; between processes, and after a restart, the ledger decides.
 *
 * @internal
 */
export const handedOver = processState(new BoundedMap<boolean>({ most: 10_000 }));

/**
 * Whether n8n, still storing earlier notices, would answer the next one too late. Not if a few wait for long:
 * under a limit of executions at once n8n has stored them, and answers when they begin.
 */
function isBacklogged(): boolean {
	return handedOver.list().filter(([, isStored]) => !isStored).length >= MOST_UNANSWERED;
}

/**
 * Hands a notice over to n8n, which answers it. If no 200 goes out, since n8n cannot store the
 * execution or the sender has left, the notice must start the workflow when it comes again.
 */
function handOver(context: IWebhookFunctions, key: string): void {
	handedOver.set(key, false);
	whenAnswered(context, (isStored) => {
		if (isStored) handedOver.set(key, true);
		else handedOver.delete(key);
	});
}
