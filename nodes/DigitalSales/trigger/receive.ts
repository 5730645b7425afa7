import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { clock } from '../shared/clock';
import { readNotice, toNotice, type Notice } from '../notice/parse';
import { accountOf } from '../notice/accountOf';
import { reportOutput } from '../output/transaction';
import { handedOver, handOver, isBacklogged } from './handOver';
import { cleanNotification, isTooLarge, readBody } from '../notice/body';
import { noticeName, type Emission } from './noticeName';
import { ANSWER_WITHIN_MS } from '../notice/readBack';
import { answer, filteredInTest, REPLIES, type Reply } from '../notice/reply';
import { whyUnwanted } from './filter';
import { readTriggerForm, readWanted, type TriggerForm } from './form';
import { askForTurn, type Found } from '../notice/singleFlight';
import { deriveUrlSecret, opensLock, urlSecretOf } from './urlSecret';
import { verifyTransaction } from '../notice/verify';

/** The answer to give, or the item to hand over; n8n then gives the answer. */
type Outcome = { reply: Reply } | { item: IDataObject };

/**
 * Takes a notification in. A notice is a hint, not a fact: the transaction is read back before
 * anything starts. What starts the workflow is handed over, and n8n answers once it has stored the
 * execution; everything else is answered here. Nothing that is sent here can make it throw.
 */
export async function receiveNotification(
	context: IWebhookFunctions,
): Promise<IWebhookResponseData> {
	let outcome: Outcome;
	try {
		outcome = await judge(context);
	} catch (error) {
		context.logger.error('A notification could not be handled', {
			reason: reasonOf(error),
		});
		outcome = { reply: REPLIES.unreachable };
	}
	if ('item' in outcome) return { workflowData: [[{ json: outcome.item }]] };
	answer(context, outcome.reply);
	return { noWebhookResponse: true };
}

/** Any other error may hold what somebody else has sent; this one is about the form. */
function reasonOf(error: unknown): string {
	if (error instanceof NodeOperationError) return error.message;
	return error instanceof Error ? error.name : typeof error;
}

async function judge(context: IWebhookFunctions): Promise<Outcome> {
	const answerBy = clock.elapsed() + ANSWER_WITHIN_MS;
	const form = readTriggerForm(context);
	const isLocked = hasLock(context, form);
	if (isLocked && !(await bringsSecret(context))) return { reply: REPLIES.locked };
	if (isTooLarge(context)) return { reply: REPLIES.tooLarge };
	const body = readBody(context);
	const notice = readNotice(body);
	if (!notice) return { reply: REPLIES.noHash };
	if (!form.options.verify) {
		const { redact } = await accountOf(context);
		return emit(context, form, { ...notice, verified: false }, () => ({
			...cleanNotification(redact, body),
			verified: false,
		}));
	}
	const repeated = repeatedReply(context, form, { ...notice, verified: true });
	if (repeated && notice.status !== undefined) return { reply: repeated };
	if (isBacklogged()) return { reply: REPLIES.backlogged };
	const subject = `${triggerKey(context)} ${notice.hash}`;
	const turn = await askForTurn({ subject, claim: notice.status });
	if (!turn.granted) {
		return turn.found
			? await emitVerified(context, form, turn.found, body)
			: { reply: REPLIES.inHand };
	}
	let found: Found | undefined;
	try {
		const verification = await verifyTransaction(context, {
			hash: notice.hash,
			hasSecret: isLocked,
			answerBy,
		});
		if (verification.outcome !== 'found') return { reply: REPLIES[verification.outcome] };
		const { transaction } = verification;
		found = { transaction };
		return await emitVerified(context, form, found, body);
	} finally {
		// What could not be verified leaves no trace, or it would swallow the next notice.
		turn.end({ pause: found !== undefined, found });
	}
}

/** A test URL is open for one notice only, and has no secret: its static data is not kept. */
function hasLock(context: IWebhookFunctions, form: TriggerForm): boolean {
	return form.options.urlSecret && context.getMode() !== 'manual';
}

async function bringsSecret(context: IWebhookFunctions): Promise<boolean> {
	const stored = urlSecretOf(context.getWorkflowStaticData('node'));
	return opensLock(context.getQueryData(), stored ?? (await derivedSecret(context)));
}

/** What a trigger that has lost its secret has to ask for. */
async function derivedSecret(context: IWebhookFunctions): Promise<string> {
	return deriveUrlSecret({
		account: await accountOf(context),
		workflowId: context.getWorkflow().id,
		nodeId: context.getNode().id,
	});
}

/**
 * The answer to a notice that claims nothing but what was handed over before; undefined otherwise.
 * That is believed unread, since nothing follows from it.
 */
function repeatedReply(
	context: IWebhookFunctions,
	form: TriggerForm,
	emission: Emission,
): Reply | undefined {
	if (!isRemembered(context, form)) return undefined;
	switch (handedOver(noticeKey(context, emission))) {
		case 'answered':
			return REPLIES.duplicate;
		case 'unanswered':
			return REPLIES.inHand;
		case undefined:
			return undefined;
	}
}

async function emitVerified(
	context: IWebhookFunctions,
	form: TriggerForm,
	{ transaction }: Found,
	body: unknown,
): Promise<Outcome> {
	const { includeNotification, outputUnit } = form.options;
	const redact = includeNotification ? (await accountOf(context)).redact : undefined;
	return emit(context, form, { ...toNotice(transaction), verified: true }, () => ({
		...reportOutput(transaction, form.simplify, outputUnit),
		verified: true,
		...(redact ? { notification: cleanNotification(redact, body) } : {}),
	}));
}

/** @param toItem makes the item; a large notice is not cleaned for nothing */
function emit(
	context: IWebhookFunctions,
	form: TriggerForm,
	emission: Notice & Emission,
	toItem: () => IDataObject,
): Outcome {
	const unwanted = whyUnwanted(readWanted(context), emission);
	if (unwanted !== undefined) return { reply: filteredReply(context, unwanted) };
	// Looked up and entered without an await between: two notices at once must not both pass.
	const repeated = repeatedReply(context, form, emission);
	if (repeated) return { reply: repeated };
	// Nobody would hear the answer, and it would look as if n8n still had it to give.
	if (context.getResponseObject().destroyed) return { reply: REPLIES.inHand };
	if (isBacklogged()) return { reply: REPLIES.backlogged };
	const item = toItem();
	handOver(context, isRemembered(context, form) ? noticeKey(context, emission) : undefined);
	return { item };
}

/** A test in the editor may be repeated, and leaves no trace that would swallow the real notice. */
function isRemembered(context: IWebhookFunctions, form: TriggerForm): boolean {
	return form.options.deduplicate && context.getMode() !== 'manual';
}

/** A stranger must not learn what a transaction is like; whoever tests has to know. */
function filteredReply(context: IWebhookFunctions, reason: string): Reply {
	return context.getMode() === 'manual' ? filteredInTest(reason) : REPLIES.filtered;
}

function noticeKey(context: IWebhookFunctions, emission: Emission): string {
	return `${triggerKey(context)} ${noticeName(emission)}`;
}

function triggerKey(context: IWebhookFunctions): string {
	return `${context.getWorkflow().id} ${context.getNode().id} ${context.getMode()}`;
}
