import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { CREDENTIAL_NAME, readAccount } from '../api/account';
import { processState } from '../api/processState';
import { readNotice, type Notice } from '../api/schemas/notification';
import { isJsonObject, toDataObject } from '../api/schemas/json';
import { transactionSchema } from '../api/schemas/transaction';
import { simplifyTransaction } from '../api/simplify/transaction';
import { EmittedNotices } from './emittedNotices';
import { passesFilters, readTriggerForm, type TriggerForm } from './triggerForm';
import { verifyTransaction } from './verify';

/** What the sender is told. */
interface Reply {
	status: number;
	body: IDataObject;
	retryAfterSeconds?: number;
}

type Outcome = { reply: Reply; item?: IDataObject };

const LARGEST_NOTICE_BYTES = 256 * 1024;

const ACCEPTED: Reply = { status: 200, body: { received: true } };
const DUPLICATE: Reply = { status: 200, body: { received: true, ignored: 'already known' } };
const FILTERED: Reply = { status: 200, body: { received: true, ignored: 'not wanted here' } };
const NO_HASH: Reply = { status: 400, body: { received: false, reason: 'no transaction hash' } };
const UNKNOWN: Reply = { status: 404, body: { received: false, reason: 'unknown transaction' } };
const TOO_LARGE: Reply = { status: 413, body: { received: false, reason: 'too large' } };
const IN_HAND: Reply = {
	status: 503,
	body: { received: false, reason: 'this transaction is being looked at' },
	retryAfterSeconds: 5,
};
const UNREACHABLE: Reply = {
	status: 503,
	body: { received: false, reason: 'the transaction cannot be verified now' },
	retryAfterSeconds: 30,
};

/**
 * Takes a notification in and answers it, always and by itself. A notice is a hint, not a fact: the
 * transaction is read back before anything starts. Nothing that is sent here can make it throw.
 */
export async function receiveNotification(
	context: IWebhookFunctions,
): Promise<IWebhookResponseData> {
	let outcome: Outcome;
	try {
		outcome = await judge(context);
	} catch (error) {
		context.logger.error('A notification could not be handled', {
			reason: error instanceof Error ? error.name : typeof error,
		});
		outcome = { reply: UNREACHABLE };
	}
	const { reply, item } = outcome;
	const response = context.getResponseObject();
	if (reply.retryAfterSeconds !== undefined) {
		response.setHeader('Retry-After', String(reply.retryAfterSeconds));
	}
	response.status(reply.status).json(reply.body);
	return {
		noWebhookResponse: true,
		...(item === undefined ? {} : { workflowData: [[{ json: item }]] }),
	};
}

async function judge(context: IWebhookFunctions): Promise<Outcome> {
	if (isTooLarge(context)) return { reply: TOO_LARGE };
	const body = readBody(context.getBodyData());
	const notice = readNotice(body);
	if (!notice) return { reply: NO_HASH };
	const inHand = `${triggerKey(context)} ${notice.hash}`;
	// Checked and entered before the first await: two notices at once must not both pass.
	if (processState.noticesInHand.has(inHand)) return { reply: IN_HAND };
	processState.noticesInHand.add(inHand);
	try {
		return await judgeNotice(context, notice, body);
	} finally {
		processState.noticesInHand.delete(inHand);
	}
}

async function judgeNotice(
	context: IWebhookFunctions,
	notice: Notice,
	body: unknown,
): Promise<Outcome> {
	const form = readTriggerForm(context);
	if (!form.options.verify) {
		return emitOnce(context, form, notice, await unverifiedItem(context, body));
	}
	const verification = await verifyTransaction(context, notice.hash);
	if (verification.outcome === 'unknown') return { reply: UNKNOWN };
	if (verification.outcome === 'unreachable') return { reply: UNREACHABLE };
	const { transaction } = verification;
	const facts = factsOf(notice.hash, transaction);
	const shown = form.simplify ? withoutQrCode(simplifyTransaction(transaction)) : transaction;
	const item: IDataObject = { ...shown, verified: true };
	if (form.options.includeNotification) item.notification = await cleanNotification(context, body);
	return emitOnce(context, form, facts, item);
}

function emitOnce(
	context: IWebhookFunctions,
	form: TriggerForm,
	facts: Notice,
	item: IDataObject,
): Outcome {
	if (!passesFilters(form, facts)) return { reply: FILTERED };
	const status = facts.status ?? '';
	// A test in the editor may be repeated, and leaves no trace that would swallow the real notice.
	if (form.options.deduplicate && context.getMode() !== 'manual') {
		const emitted = new EmittedNotices(context.getWorkflowStaticData('node'), triggerKey(context));
		if (emitted.has(facts.hash, status)) return { reply: DUPLICATE };
		emitted.add(facts.hash, status);
	}
	return { reply: ACCEPTED, item };
}

function factsOf(hash: string, transaction: IDataObject): Notice {
	const { data } = transactionSchema.safeParse(transaction);
	return {
		hash,
		status: data?.payment_status ?? undefined,
		paymentMethod: data?.payment_method ?? undefined,
		productHash: data?.product?.hash ?? undefined,
	};
}

/** The code to pay with is of no use once a trigger reports, and ten fields are enough. */
function withoutQrCode({ pix_qr_code: _dropped, ...fields }: IDataObject): IDataObject {
	return fields;
}

async function unverifiedItem(context: IWebhookFunctions, body: unknown): Promise<IDataObject> {
	return { ...(await cleanNotification(context, body)), verified: false };
}

/** A notification without the tokens that some shapes carry. */
async function cleanNotification(context: IWebhookFunctions, body: unknown): Promise<IDataObject> {
	const account = readAccount(await context.getCredentials(CREDENTIAL_NAME));
	const clean: unknown = JSON.parse(account.redact(JSON.stringify(body)));
	if (!isJsonObject(clean)) return {};
	const { token: _token, api_token: _apiToken, ...fields } = clean;
	return toDataObject(fields);
}

function isTooLarge(context: IWebhookFunctions): boolean {
	const stated = Number(context.getHeaderData()['content-length'] ?? 0);
	const { rawBody } = context.getRequestObject();
	return stated > LARGEST_NOTICE_BYTES || (rawBody?.length ?? 0) > LARGEST_NOTICE_BYTES;
}

/** n8n gives an object for JSON and forms, a text for other types, and nothing for an empty body. */
function readBody(body: unknown): unknown {
	if (typeof body !== 'string') return body;
	try {
		return JSON.parse(body);
	} catch {
		return undefined;
	}
}

function triggerKey(context: IWebhookFunctions): string {
	return `${context.getWorkflow().id ?? ''} ${context.getNode().id} ${context.getMode()}`;
}
