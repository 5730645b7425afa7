import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod/v3';
import type { Client } from '../api/client';
import { retryDecision } from '../api/retryTable';
import { ServiceError } from '../api/serviceError';
import type { Transaction } from '../api/schemas/transaction';
import { getTransaction } from '../api/transactions';
import { isSettled } from '../domain/paymentStatus';
import { isPrivateAddress, parseWebAddress } from '../domain/webAddress';
import { parkExecution, readParkedState } from '../n8n/parking';
import { resumeUrl } from '../n8n/resumeUrl';
import { waitOutput, type OutputChoice } from '../output/transaction';
import { clock } from '../shared/clock';
import { eachLimit, READS_AT_ONCE } from '../shared/eachLimit';
import { jsonObject } from '../shared/json';
import { pauseUntilNextLook } from './schedule';

/** For unknown hashes, and failed reads at the end. */
const PATIENCE_MS = 15 * 60_000;

const paymentSchema = z.object({
	hash: z.string(),
	triedAt: z.number(),
	read: z.object({ at: z.number(), status: z.string().nullish(), json: jsonObject }).optional(),
	unknownSince: z.number().optional(),
});
type Payment = z.output<typeof paymentSchema>;

const stateSchema = z.object({
	deadline: z.number(),
	/** When a look first found all payments decided, or the time limit over. */
	endingSince: z.number().optional(),
	nextLookAt: z.number(),
	looks: z.number(),
	failures: z.number(),
	/** Null if the form could not be read. */
	payments: z.array(paymentSchema.nullish()),
});

export type AwaitedPayment = OutputChoice & { hash: string };
type Entry = {
	item: INodeExecutionData;
	awaited: AwaitedPayment;
	payment: Payment;
	wasDone: boolean;
};

/** Each run of the node is a look at all open payments. All items share the longest time limit. */
export class PaymentWait {
	private readonly now = clock.now();
	private readonly previous: z.output<typeof stateSchema> | undefined;
	private readonly payments: Array<Payment | null | undefined>;
	private readonly entries: Entry[] = [];
	private deadline: number;
	private hasAnswer = false;
	private hasFailedRead = false;
	private isWebhookExpected = true;

	constructor(private readonly context: IExecuteFunctions) {
		this.previous = stateSchema.safeParse(readParkedState(context)).data;
		this.deadline = this.previous?.deadline ?? this.now;
		this.payments = [...(this.previous?.payments ?? [])];
	}

	/** The payment that was tried longest ago goes first, because permits may run out. */
	lastTriedAt(itemIndex: number): number {
		return this.previous?.payments[itemIndex]?.triedAt ?? 0;
	}

	get isLastLook(): boolean {
		return this.now >= (this.previous?.endingSince ?? Infinity) + PATIENCE_MS;
	}

	setTimeLimit(milliseconds: number): void {
		if (!this.previous) this.deadline = Math.max(this.deadline, this.now + milliseconds);
	}

	/**
	 * @returns the item, empty until {@link finishLook}
	 * @throws ServiceError if no later look can read the payment
	 */
	async lookAtPayment(
		client: Client,
		itemIndex: number,
		awaited: AwaitedPayment,
	): Promise<INodeExecutionData> {
		const { hash } = awaited;
		const stored = this.payments[itemIndex];
		// A Retry may have another hash.
		const payment = stored?.hash === hash ? stored : { hash, triedAt: 0 };
		this.payments[itemIndex] = payment;
		const entry: Entry = { item: { json: {} }, awaited, payment, wasDone: this.isDone(payment) };
		if (!entry.wasDone) await this.readPayment(client, entry);
		this.entries.push(entry);
		return entry.item;
	}

	async finishLook(
		newClient: () => Client,
		items: INodeExecutionData[],
	): Promise<INodeExecutionData[]> {
		if (this.isEnding) {
			// A decided payment may have been refunded after the earlier look.
			const endingSince = this.previous?.endingSince ?? this.now;
			const isEarlier = ({ wasDone, payment }: Entry) =>
				wasDone && (payment.read?.at ?? 0) <= endingSince;
			const readAgain = async (entry: Entry) => await this.readPayment(newClient(), entry);
			await eachLimit(this.entries.filter(isEarlier), READS_AT_ONCE, readAgain);
		}
		const isComplete = this.entries.every(({ payment }) => this.isRecent(payment));
		if (!isComplete && !(this.isEnding && this.isLastLook)) {
			await this.parkUntilNextLook();
			return [];
		}
		for (const { item, payment, awaited } of this.entries) {
			item.json = this.buildItemJson(payment, awaited);
		}
		return items;
	}

	private get isEnding(): boolean {
		return this.now >= this.deadline || this.entries.every(({ payment }) => this.isDone(payment));
	}

	private isDone({ read }: Payment): boolean {
		return read !== undefined && (isSettled(read.status) || read.at >= this.deadline);
	}

	private isRecent(payment: Payment): boolean {
		return this.isDone(payment) && (payment.read?.at ?? 0) >= this.now - PATIENCE_MS;
	}

	private async readPayment(client: Client, { payment, awaited }: Entry): Promise<void> {
		const at = clock.now();
		const transaction = await getTransaction(client, awaited.hash).catch((error: unknown) => {
			if (!(error instanceof ServiceError) || !this.mayRecover(payment, error, at)) throw error;
			if (error.outcome.kind !== 'rateLimited') payment.triedAt = at;
			this.hasFailedRead = true;
			this.isWebhookExpected = false;
		});
		if (!transaction) return;
		payment.triedAt = at;
		this.hasAnswer = true;
		const { payment_status: status } = transaction;
		payment.read = { at, status, json: waitOutput(transaction, awaited) };
		this.isWebhookExpected &&= isSettled(status) || this.isNotifiedHere(transaction);
	}

	private mayRecover(payment: Payment, { outcome }: ServiceError, at: number): boolean {
		if (payment.read) return true;
		const { kind, status, isWebPage = false } = outcome;
		if (status === 404 && !isWebPage) {
			this.hasAnswer = true;
			payment.unknownSince ??= at;
			return at < Math.min(this.deadline, payment.unknownSince + PATIENCE_MS);
		}
		if (kind !== 'rateLimited') delete payment.unknownSince;
		// After `fail` for a POST, only a person can help. A web page may come from a proxy.
		return retryDecision('POST', kind) !== 'fail' || status === 200 || isWebPage;
	}

	private isNotifiedHere({ postback_url: url }: Transaction): boolean {
		const address = url ? parseWebAddress(url) : undefined;
		return !!address && !isPrivateAddress(address) && address.href === resumeUrl(this.context);
	}

	private async parkUntilNextLook(): Promise<void> {
		const { previous, deadline, now, payments, isWebhookExpected } = this;
		const endingSince = this.isEnding ? (previous?.endingSince ?? now) : undefined;
		// n8n rounds its timers, so a look on time may be a little early.
		const isWoken = previous !== undefined && now < previous.nextLookAt - 1_000;
		const looks = (previous?.looks ?? 0) + (isWoken ? 0 : 1);
		const hasReadNothing = this.hasFailedRead && !this.hasAnswer;
		const hasBegunToEnd = endingSince === now;
		const earlierFailures = isWoken || hasBegunToEnd ? 0 : (previous?.failures ?? 0);
		// At the end, the node parks only because a read failed.
		const failures = hasReadNothing ? earlierFailures + 1 : Number(endingSince !== undefined);
		const pauseMs = pauseUntilNextLook({ looks, failures, isWoken, isWebhookExpected });
		const lastLookAt = endingSince === undefined ? deadline : endingSince + PATIENCE_MS;
		const nextLookAt = Math.min(now + pauseMs, lastLookAt);
		const state: z.input<typeof stateSchema> = {
			...{ deadline, endingSince, nextLookAt, looks, failures, payments },
		};
		await parkExecution(this.context, new Date(nextLookAt), state);
	}

	private buildItemJson(
		{ read }: Payment,
		{ hash, ...choice }: AwaitedPayment,
	): INodeExecutionData['json'] {
		return Object.assign(read?.json ?? waitOutput({ hash, json: { hash } }, choice), {
			timed_out: Math.max(this.now, read?.at ?? 0) >= this.deadline && !isSettled(read?.status),
			checked_at: read ? new Date(read.at).toISOString() : null,
		});
	}
}
