import {
	type IWebhookFunctions,
	type IWebhookResponseData,
	NodeOperationError,
} from 'n8n-workflow';
import {
	type Account,
	CredentialError,
	lastReadBack,
	listFields,
	loadRecentAccount,
	looksLikeSale,
	type Notification,
	parseNotification,
	READ_AGAIN_MS,
	readBack,
	ServiceError,
	type Transaction,
} from '../api';
import { isLater, isSameStatus, isSettled, quoteText, unreachableHint } from '../domain';
import { isChargeKnown } from '../idempotency';
import { isEngine2 } from '../n8n';
import {
	EarlyReply,
	handleWebhook,
	logRarely,
	readBody,
	REPLIES,
	safeReason,
} from '../notification';
import { BoundedMap, clock, processState } from '../shared';
import {
	canLookFor,
	isExcludedForGood,
	isWantedStatus,
	mayFollow,
	rejectionReason,
} from './filters';
import { readTriggerForm, saleItem, type TriggerForm } from './form';
import { declineIfBacklogged, type Handover, Handovers } from './handovers';

/** A sender waits about ten seconds. */
const ANSWER_WITHIN_MS = 9_500;

/** Reads the transaction back before the workflow starts, because anybody can send a webhook. Never throws. */
export async function receiveWebhook(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	return await handleWebhook(context, async () => {
		if (context.getRequestObject().method !== 'POST') throw new EarlyReply(REPLIES.listening);

		const notification = await readNotification(context);
		// The constructor may throw, too.
		const receive = async () => await new Delivery(context, notification).receive();
		const handover = await receive().catch((error: unknown) => {
			const fault = handOverFault(context, notification, error);
			if (!fault) throw error;
			throw new EarlyReply(REPLIES.unread, error, { ...fault });
		});

		return { workflowData: [[{ json: { ...handover } }]] };
	});
}

/** @throws EarlyReply if the webhook names no transaction, or is too large */
async function readNotification(context: IWebhookFunctions): Promise<Notification> {
	const body = await readBody(context);
	const notification = parseNotification(body);
	if (notification) return notification;
	if (!looksLikeSale(body)) throw new EarlyReply(REPLIES.noSale);

	const shown = listFields(body).join(', ') || 'none that can be read';
	const message = `A webhook was refused because it does not contain the hash of its transaction. Its fields: ${shown}`;
	logRarely(context, 'no hash', () => context.logger.warn(message));
	throw new EarlyReply(REPLIES.noHash);
}

class Delivery {
	private readonly calledAt = clock.elapsed();
	private readonly form: TriggerForm;
	private readonly handovers: Handovers;

	constructor(
		private readonly context: IWebhookFunctions,
		private readonly webhook: Notification,
	) {
		this.form = readTriggerForm(context);
		this.handovers = new Handovers(context, webhook.hash);
	}

	async receive(): Promise<Handover> {
		const { context, form, webhook, handovers, calledAt } = this;
		if (webhook.status !== undefined) handovers.declineRepeat(webhook.status);
		declineIfBacklogged();

		const account = await loadRecentAccount(context);
		const first = await this.readFirst(account);
		if (first && (this.showsNamed(first) || isExcludedForGood(form, first))) {
			return this.decide(first);
		}

		// Reads may lag.
		const second = await this.read(account, calledAt + READ_AGAIN_MS).catch((error: unknown) => {
			if (!first) throw error;
			return undefined;
		});
		if (second) return this.decide(second);
		if (!first) throw new EarlyReply(webhook.isTestOrCart ? REPLIES.noSale : REPLIES.unknown);

		// The second read failed or found nothing, and no other webhook may come. A settled status that the first read shows is
		// most likely the one that the webhook reports. Otherwise the execution looks for what the webhook names, else for what
		// was read.
		if (isSettled(first.payment_status) && this.isNews(first)) return this.decide(first);
		const status = canLookFor(form, webhook.status) ? webhook.status : first.payment_status;
		return this.handOver({ hash: first.hash, status });
	}

	private async readFirst(account: Account): Promise<Transaction | undefined> {
		const { form, webhook, calledAt } = this;
		// Webhooks about statuses that nobody waits for are the most frequent.
		const latest = lastReadBack(account, webhook.hash);
		if (latest && this.showsNamed(latest) && !isWantedStatus(form, webhook.status)) return latest;
		// A read that began shortly before the webhook counts. If it is too old, the second read shows more.
		return await this.read(account, calledAt - READ_AGAIN_MS);
	}

	private async read(account: Account, earliest: number): Promise<Transaction | undefined> {
		const { context, calledAt } = this;
		const { hash } = this.webhook;
		const answerBy = calledAt + ANSWER_WITHIN_MS;
		const isKnown = isChargeKnown(hash);
		return await readBack({ context, account, hash, earliest, answerBy, isKnown });
	}

	private showsNamed(read: Transaction): boolean {
		const { status } = this.webhook;
		return status !== undefined && isSameStatus(status, read.payment_status);
	}

	private isNews(read: Transaction): boolean {
		return !rejectionReason(this.form, read) && !this.handovers.hasSale(read.payment_status);
	}

	private decide(read: Transaction): Handover {
		const { form, webhook, handovers } = this;
		const { hash, payment_status: status } = read;
		const isNews = this.isNews(read);
		const awaited = mayFollow(form, webhook.status, read) ? webhook.status : undefined;

		// The status that was read has webhooks of its own. This may be the only one about the later status.
		if (awaited !== undefined && (!isNews || isLater(awaited, status))) {
			return this.handOver({ hash, status: awaited });
		}
		if (isNews) return this.handOver({ hash, status, item: saleItem(form, read), awaited });

		handovers.declineRepeat(status);
		// The reply must not describe the transaction to strangers.
		throw new EarlyReply(REPLIES.filtered);
	}

	private handOver(handover: Handover): Handover {
		const { context } = this;
		if (context.getMode() === 'manual') {
			return { ...handover, hint: unreachableHint(context.getNodeWebhookUrl('default') ?? '') };
		}

		// n8n counts the limit from the start of the execution, and cancels one that waits.
		const { executionTimeout = 0 } = context.getWorkflowSettings();
		if (!handover.item && executionTimeout > 0) throw new EarlyReply(REPLIES.outdated);
		this.handovers.add(context, handover);
		return handover;
	}
}

/** The triggers whose owner was told within the hour. */
const told = processState(new BoundedMap<true>({ most: 1_000, keptMs: 3_600_000 }));

/**
 * Once an hour, a fault that only the owner can correct starts an execution that fails, so that n8n's Error Workflow
 * tells the owner. The platform still gets 503.
 */
function handOverFault(
	context: IWebhookFunctions,
	{ hash, status }: Notification,
	error: unknown,
): Handover | undefined {
	const key = `${context.getWorkflow().id} ${context.getNode().id}`;
	if (!isOwnersFault(error) || told.get(key)) return undefined;
	// Engine 2.0 would pass the item on.
	if (context.getMode() === 'manual' || isEngine2(context)) return undefined;

	told.set(key, true);
	const advice = error instanceof ServiceError ? error.advice : 'Correct it.';
	const description = `Until then, no sale starts this workflow. ${advice} Then choose Retry with currently saved workflow, which looks at transaction ${quoteText(hash)}.`;
	return { hash, status, fault: { message: safeReason(error), description } };
}

function isOwnersFault(error: unknown): boolean {
	if (error instanceof ServiceError) return error.isTokenRefused;
	return error instanceof NodeOperationError || error instanceof CredentialError;
}
