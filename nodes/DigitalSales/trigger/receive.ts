import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import type { Transaction } from '../api/schemas/transaction';
import { isBehind } from '../domain/paymentStatus';
import { accountOf } from '../notice/accountOf';
import { readBody } from '../notice/body';
import { readNotice, type Notice } from '../notice/parse';
import { answering, Declined, filteredInTest, REPLIES } from '../notice/reply';
import { SingleFlight } from '../notice/singleFlight';
import { ANSWER_WITHIN_MS, SHORTEST_READ_MS, verifyTransaction } from '../notice/verify';
import { transactionOutput } from '../output/transaction';
import { clock } from '../shared/clock';
import { processWide } from '../shared/processWide';
import { readTriggerForm, type TriggerForm } from './form';
import { dedupeKey, handedOver, handOver, isBacklogged } from './handOver';
import { whyUnwanted } from './wanted';

/** Pauses before more reads of one that is behind its notice; a forged notice costs them, too. */
const REREAD_AFTER_MS = [1_000, 3_000];

/**
 * Reads in progress or done a moment ago, by trigger and hash. A failed read leaves no pause: the next
 * notice must be read.
 *
 * @internal
 */
export const readsInFlight = processWide(
	new SingleFlight<Transaction>({ pausesAfterFailure: false }),
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
		const item = await new Delivery(context).receive();
		return { workflowData: [[{ json: item }]] };
	});
}

/** One notice on its way through the trigger. */
class Delivery {
	private readonly answerBy = clock.elapsed() + ANSWER_WITHIN_MS;
	private readonly form: TriggerForm;
	/** Whether it came to the test URL, which is open for one notice only. */
	private readonly isTest: boolean;
	/** Tells this trigger from all others, and its tests from production. */
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
		const notice = readNotice(await readBody(context));
		if (!notice) throw new Declined(REPLIES.noHash);
		// If the service said this before, it was handed over: a repeated notice needs no read.
		if (notice.status !== undefined) this.declineDuplicate(notice);
		if (isBacklogged()) throw new Declined(REPLIES.backlogged);
		const transaction = await this.readOnce(notice);
		const reason = whyUnwanted(form, transaction);
		if (reason !== undefined) {
			// Only the person who tests in the editor may learn what the transaction is like.
			throw new Declined(this.isTest ? filteredInTest(reason) : REPLIES.filtered);
		}
		const { simplify, options } = form;
		const status = transaction.payment_status ?? undefined;
		// One that came late, of a status that is past, tells of nothing beside the present one.
		const event = notice.status === status ? notice.event : undefined;
		this.enter({ hash: transaction.hash, status, event });
		return {
			...transactionOutput(transaction, { simplify, fields: options.fields }),
			...(event !== undefined && { webhook_event: event }),
		};
	}

	private async readOnce({ hash, status }: Notice): Promise<Transaction> {
		const caller = { key: `${this.triggerKey} ${hash}`, content: status };
		const transaction = await readsInFlight.run(caller, async () => {
			const result = await this.read(hash, status);
			// A notice of the status that was just read needs no read of its own.
			const resultFor = (claimed?: string) =>
				claimed !== undefined && claimed === result.payment_status ? result : undefined;
			return { result, resultFor };
		});
		if (!transaction || isBehind(transaction.payment_status, status)) {
			throw new Declined(REPLIES.inFlight);
		}
		return transaction;
	}

	/** Reads it, and again after these pauses while it is behind the notice and there is time. */
	private async read(
		hash: string,
		claimed: string | undefined,
		[pauseMs = Infinity, ...pauses] = REREAD_AFTER_MS,
	): Promise<Transaction> {
		const { context, answerBy } = this;
		const account = await accountOf(context);
		const read = await verifyTransaction(context, account, { hash, answerBy });
		if (read.outcome !== 'found') throw new Declined(REPLIES[read.outcome]);
		const isLate = clock.elapsed() + pauseMs > answerBy - SHORTEST_READ_MS;
		if (isLate || !isBehind(read.transaction.payment_status, claimed)) return read.transaction;
		await clock.sleep(pauseMs);
		return await this.read(hash, claimed, pauses);
	}

	/** Checks and enters without an await in between: of two notices at once only one may pass. */
	private enter(notice: Notice): void {
		this.declineDuplicate(notice);
		// Nobody would hear the answer, and n8n would seem to be still storing the execution.
		if (this.context.getResponseObject().destroyed) throw new Declined(REPLIES.inFlight);
		if (isBacklogged()) throw new Declined(REPLIES.backlogged);
		// A test must not swallow the real notice, nor the next test.
		handOver(this.context, this.keyOf(notice), this.isTest);
	}

	private declineDuplicate(notice: Notice): void {
		const state = handedOver(this.keyOf(notice));
		if (state === 'answered') throw new Declined(REPLIES.duplicate);
		if (state === 'unanswered') throw new Declined(REPLIES.inFlight);
	}

	private keyOf(notice: Notice): string {
		return `${this.triggerKey} ${dedupeKey(notice)}`;
	}
}
