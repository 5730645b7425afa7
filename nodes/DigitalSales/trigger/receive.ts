import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import type { Transaction } from '../api/schemas/transaction';
import { accountOf } from '../notice/accountOf';
import { cleanNotification, isTooLarge, readBody } from '../notice/body';
import { readNotice, toNotice, type Notice } from '../notice/parse';
import { answering, decline, filteredInTest, REPLIES } from '../notice/reply';
import { SingleFlight } from '../notice/singleFlight';
import { ANSWER_WITHIN_MS, verifyTransaction } from '../notice/verify';
import { reportOutput } from '../output/transaction';
import { clock } from '../shared/clock';
import { processWide } from '../shared/processWide';
import { dedupeKey, dedupeStore, type Emission } from './dedupe';
import { readTriggerForm, readWanted, whyUnwanted, type TriggerForm } from './form';
import { handOver, isBacklogged } from './handOver';
import { deriveUrlSecret, opensLock, urlSecretOf } from './urlSecret';

/** What is known about the transaction of a notice, and the item that says so. */
interface Report {
	facts: Notice & Emission;
	/** Called only if the item is emitted: cleaning a large notice takes time. */
	toItem: () => IDataObject;
}

/**
 * Reads in progress or done a moment ago, by trigger and hash. A failed read leaves no pause: the next
 * notice must be read.
 *
 * @internal
 */
export const readsInFlight = processWide(new SingleFlight<Transaction>(false));

/**
 * Takes a notification in. It is a hint, not a fact: the transaction is read back before anything
 * starts. A notice that starts the workflow is answered by n8n once it has stored the execution, every
 * other one here. Never throws, whatever is sent.
 */
export async function receiveNotification(
	context: IWebhookFunctions,
): Promise<IWebhookResponseData> {
	return await answering(context, 'A notification could not be handled', async () => {
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
	/** Whether its URL must carry the secret. A test URL has none: its static data is not kept. */
	private readonly isLocked: boolean;
	/** Tells this trigger from all others, and its tests from production. */
	private readonly triggerKey: string;

	constructor(private readonly context: IWebhookFunctions) {
		const mode = context.getMode();
		this.form = readTriggerForm(context);
		this.isTest = mode === 'manual';
		this.isLocked = this.form.options.urlSecret && !this.isTest;
		this.triggerKey = `${context.getWorkflow().id} ${context.getNode().id} ${mode}`;
	}

	async receive(): Promise<IDataObject> {
		const { context } = this;
		if (this.isLocked && !(await this.bringsSecret())) decline(REPLIES.locked);
		if (isTooLarge(context)) decline(REPLIES.tooLarge);
		const body = readBody(context);
		const notice = readNotice(body) ?? decline(REPLIES.noHash);
		const isVerified = this.form.options.verify;
		const report = isVerified
			? await this.reportOfService(notice, body)
			: await this.reportOfNotice(notice, body);
		const reason = whyUnwanted(readWanted(context), report.facts);
		if (reason === undefined) return this.emit(report);
		// Only the person who tests in the editor may learn what the transaction is like.
		return decline(this.isTest ? filteredInTest(reason) : REPLIES.filtered);
	}

	/** Whether the URL carries the secret. A trigger that has lost its own derives it again. */
	private async bringsSecret(): Promise<boolean> {
		const { context } = this;
		const stored = urlSecretOf(context.getWorkflowStaticData('node'));
		const secret = stored ?? deriveUrlSecret(context, await accountOf(context));
		return opensLock(context.getQueryData(), secret);
	}

	/** What the service says about the transaction. */
	private async reportOfService(notice: Notice, body: unknown): Promise<Report> {
		// If the service said this before, it was handed over: a repeated notice needs no read.
		if (notice.status !== undefined) this.declineDuplicate({ ...notice, verified: true });
		if (isBacklogged()) decline(REPLIES.backlogged);
		const transaction = await this.readOnce(notice);
		const { simplify, options } = this.form;
		const redact = options.includeNotification ? (await accountOf(this.context)).redact : undefined;
		return {
			facts: { ...toNotice(transaction), verified: true },
			toItem: () => ({
				...reportOutput(transaction, simplify, options.outputUnit),
				verified: true,
				...(redact ? { notification: cleanNotification(redact, body) } : {}),
			}),
		};
	}

	private async readOnce({ hash, status }: Notice): Promise<Transaction> {
		const { context, answerBy, isLocked: hasSecret } = this;
		const asking = { subject: `${this.triggerKey} ${hash}`, claim: status };
		const transaction = await readsInFlight.run(asking, async () => {
			const account = await accountOf(context);
			const read = await verifyTransaction(context, account, { hash, hasSecret, answerBy });
			if (read.outcome !== 'found') return decline(REPLIES[read.outcome]);
			const result = read.transaction;
			// A notice that claims what was just read needs no read of its own.
			const share = (claim?: string) =>
				claim !== undefined && claim === result.payment_status ? result : undefined;
			return { result, share };
		});
		return transaction ?? decline(REPLIES.inFlight);
	}

	/** What the notice claims, with Verify With the Service off. */
	private async reportOfNotice(notice: Notice, body: unknown): Promise<Report> {
		const { redact } = await accountOf(this.context);
		return {
			facts: { ...notice, verified: false },
			toItem: () => ({ ...cleanNotification(redact, body), verified: false }),
		};
	}

	/** Checks and enters without an await in between: of two notices at once only one may pass. */
	private emit({ facts, toItem }: Report): IDataObject {
		this.declineDuplicate(facts);
		// Nobody would hear the answer, and n8n would seem to be still storing the execution.
		if (this.context.getResponseObject().destroyed) decline(REPLIES.inFlight);
		if (isBacklogged()) decline(REPLIES.backlogged);
		const item = toItem();
		handOver(this.context, this.keyOf(facts));
		return item;
	}

	private declineDuplicate(emission: Emission): void {
		const state = dedupeStore.get(this.keyOf(emission) ?? '');
		if (state === 'answered') decline(REPLIES.duplicate);
		if (state === 'unanswered') decline(REPLIES.inFlight);
	}

	/** In the dedupe store; undefined if it may be repeated. A test must not swallow the real notice. */
	private keyOf(emission: Emission): string | undefined {
		if (this.isTest || !this.form.options.deduplicate) return undefined;
		return `${this.triggerKey} ${dedupeKey(emission)}`;
	}
}
