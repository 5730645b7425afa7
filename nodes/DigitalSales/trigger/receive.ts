import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import type { Transaction } from '../api/schemas/transaction';
import { cleanNotification, isTooLarge, readBody } from '../notice/body';
import { readNotice, toNotice, type Notice } from '../notice/parse';
import { answering, decline, filteredInTest, REPLIES } from '../notice/reply';
import { SingleFlight } from '../notice/singleFlight';
import { verifyTransaction } from '../notice/verify';
import { reportOutput } from '../output/transaction';
import { processWide } from '../shared/processWide';
import { dedupeStore, type Emission } from './dedupe';
import { Delivery } from './delivery';
import { readWanted, whyUnwanted } from './form';
import { handOver, isBacklogged } from './handOver';
import { deriveUrlSecret, opensLock, urlSecretOf } from './urlSecret';

interface ParsedNotice {
	notice: Notice;
	body: unknown;
}

/** What is known about the transaction of a notice, and the item that says so. */
interface Report {
	facts: Notice & Emission;
	/** Called only if the item is emitted: cleaning a large notice takes time. */
	toItem: () => IDataObject;
}

/**
 * Reads in progress or just done, by trigger and hash. What could not be verified leaves no trace, or
 * it would swallow the next notice.
 *
 * @internal
 */
export const readsInFlight = processWide(new SingleFlight<Transaction>(false));

/**
 * Takes a notification in. A notice is a hint, not a fact: the transaction is read back before
 * anything starts. n8n answers a notice that starts the workflow, once it has stored the execution;
 * every other one is answered here. Never throws, whatever is sent.
 */
export async function receiveNotification(
	context: IWebhookFunctions,
): Promise<IWebhookResponseData> {
	return await answering(context, 'A notification could not be handled', async () => {
		const item = await receive(new Delivery(context));
		return { workflowData: [[{ json: item }]] };
	});
}

async function receive(delivery: Delivery): Promise<IDataObject> {
	await guard(delivery);
	const parsed = parse(delivery);
	const report = await (delivery.verifies ? verify(delivery, parsed) : trust(delivery, parsed));
	filter(delivery, report);
	return emit(delivery, report);
}

async function guard(delivery: Delivery): Promise<void> {
	if (delivery.isLocked && !(await bringsSecret(delivery))) decline(REPLIES.locked);
	if (isTooLarge(delivery.context)) decline(REPLIES.tooLarge);
}

/** A trigger that has lost its secret derives it again. */
async function bringsSecret(delivery: Delivery): Promise<boolean> {
	const { context } = delivery;
	const stored = urlSecretOf(context.getWorkflowStaticData('node'));
	const secret =
		stored ??
		deriveUrlSecret({
			account: await delivery.account(),
			workflowId: context.getWorkflow().id,
			nodeId: context.getNode().id,
		});
	return opensLock(context.getQueryData(), secret);
}

function parse({ context }: Delivery): ParsedNotice {
	const body = readBody(context);
	return { notice: readNotice(body) ?? decline(REPLIES.noHash), body };
}

/** Reports what the service says about the transaction. */
async function verify(delivery: Delivery, { notice, body }: ParsedNotice): Promise<Report> {
	// A claim that was already handed over is believed without a read, since nothing follows from it.
	if (notice.status !== undefined) declineDuplicate(delivery, { ...notice, verified: true });
	if (isBacklogged()) decline(REPLIES.backlogged);
	const transaction = await readOnce(delivery, notice);
	const { simplify, options } = delivery.form;
	const redact = options.includeNotification ? (await delivery.account()).redact : undefined;
	return {
		facts: { ...toNotice(transaction), verified: true },
		toItem: () => ({
			...reportOutput(transaction, simplify, options.outputUnit),
			verified: true,
			...(redact ? { notification: cleanNotification(redact, body) } : {}),
		}),
	};
}

async function readOnce(delivery: Delivery, { hash, status }: Notice): Promise<Transaction> {
	const { context, answerBy, isLocked: hasSecret } = delivery;
	const asking = { subject: `${delivery.triggerKey} ${hash}`, claim: status };
	const transaction = await readsInFlight.run(asking, async () => {
		const account = await delivery.account();
		const read = await verifyTransaction(context, account, { hash, hasSecret, answerBy });
		if (read.outcome !== 'found') return decline(REPLIES[read.outcome]);
		const result = read.transaction;
		const share = (claim?: string) =>
			claim !== undefined && claim === result.payment_status ? result : undefined;
		return { result, share };
	});
	return transaction ?? decline(REPLIES.inFlight);
}

/** Reports what the notice claims, with verification switched off. */
async function trust(delivery: Delivery, { notice, body }: ParsedNotice): Promise<Report> {
	const { redact } = await delivery.account();
	return {
		facts: { ...notice, verified: false },
		toItem: () => ({ ...cleanNotification(redact, body), verified: false }),
	};
}

/** A stranger must not learn what a transaction is like; the person who tests in the editor may. */
function filter({ context, isTest }: Delivery, { facts }: Report): void {
	const reason = whyUnwanted(readWanted(context), facts);
	if (reason !== undefined) decline(isTest ? filteredInTest(reason) : REPLIES.filtered);
}

/** Checks and enters without an await in between: of two notices at once only one may pass. */
function emit(delivery: Delivery, { facts, toItem }: Report): IDataObject {
	declineDuplicate(delivery, facts);
	// Nobody would hear the answer, and n8n would seem to be still storing the execution.
	if (delivery.context.getResponseObject().destroyed) decline(REPLIES.inFlight);
	if (isBacklogged()) decline(REPLIES.backlogged);
	const item = toItem();
	handOver(delivery.context, delivery.dedupeKey(facts));
	return item;
}

function declineDuplicate(delivery: Delivery, emission: Emission): void {
	const key = delivery.dedupeKey(emission);
	const state = key === undefined ? undefined : dedupeStore.get(key);
	if (state === 'answered') decline(REPLIES.duplicate);
	if (state === 'unanswered') decline(REPLIES.inFlight);
}
