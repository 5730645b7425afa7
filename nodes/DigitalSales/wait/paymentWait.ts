import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';
import type { Client } from '../api/client';
import { retryDecision } from '../api/retryTable';
import { ServiceError } from '../api/serviceError';
import type { Transaction } from '../api/schemas/transaction';
import { getTransaction } from '../api/transactions';
import { isSettled, isWaiting } from '../domain/paymentStatus';
import { isPrivateAddress, parseWebAddress } from '../domain/webAddress';
import { parkExecution, readParkedState } from '../n8n/parking';
import { resumeUrl } from '../n8n/resumeUrl';
import type { ItemResult } from '../output/item';
import { waitOutput, type OutputChoice } from '../output/transaction';
import { clock } from '../shared/clock';
import { eachLimit, READS_AT_ONCE } from '../shared/eachLimit';
import { jsonObject } from '../shared/json';
import { pauseUntilNextLook } from './schedule';

/** For unknown hashes, and failed reads after the time limit. */
const PATIENCE_MS = 15 * 60_000;

const paymentSchema = z.object({
	read: z.object({ at: z.number(), status: z.string().nullish(), json: jsonObject }).optional(),
	unknownSince: z.number().optional(),
});
type Payment = z.output<typeof paymentSchema>;

const stateSchema = z.object({
	deadline: z.number(),
	nextLookAt: z.number(),
	looks: z.number(),
	failures: z.number(),
	/** Null if the form could not be read. */
	payments: z.array(paymentSchema.nullish()),
});

export type AwaitedPayment = OutputChoice & { hash: string };
type Entry = { item: ItemResult; awaited: AwaitedPayment; payment: Payment; wasDone: boolean };

/** Each run of the node is a look at all open payments. All items share the longest time limit. */
export class PaymentWait {
	private readonly now = clock.now();
	private readonly previous: z.output<typeof stateSchema> | undefined;
	private readonly payments: Array<Payment | null | undefined>;
	private readonly entries: Entry[] = [];
	private deadline: number;
	private hasSucceededRead = false;
	private hasFailedRead = false;
	private isWebhookExpected = true;

	constructor(private readonly context: IExecuteFunctions) {
		this.previous = stateSchema.safeParse(readParkedState(context)).data;
		this.deadline = this.previous?.deadline ?? this.now;
		this.payments = [...(this.previous?.payments ?? [])];
	}

	/** The payment with the oldest read goes first, because permits may run out. */
	lastReadAt(itemIndex: number): number {
		return this.previous?.payments[itemIndex]?.read?.at ?? 0;
	}

	get isLastLook(): boolean {
		return this.now >= this.deadline + PATIENCE_MS;
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
	): Promise<ItemResult> {
		const payment = (this.payments[itemIndex] ??= {});
		const entry: Entry = { item: { json: {} }, awaited, payment, wasDone: this.isDone(payment) };
		if (!entry.wasDone) await this.readPayment(client, entry);
		this.entries.push(entry);
		return entry.item;
	}

	async finishLook(newClient: () => Client, items: ItemResult[]): Promise<ItemResult[]> {
		const isOpen = this.entries.some(({ payment }) => !this.isDone(payment));
		if (isOpen && !this.isLastLook) {
			await this.parkUntilNextLook();
			return [];
		}
		// A decided payment may have been refunded after the earlier look.
		const doneBefore = this.entries.filter(({ wasDone }) => wasDone);
		const readAgain = async (entry: Entry) => await this.readPayment(newClient(), entry);
		await eachLimit(doneBefore, READS_AT_ONCE, readAgain);
		for (const { item, payment, awaited } of this.entries) {
			item.json = this.buildItemJson(payment, awaited);
		}
		return items;
	}

	private isDone({ read }: Payment): boolean {
		return read !== undefined && (isSettled(read.status) || read.at >= this.deadline);
	}

	private async readPayment(client: Client, { payment, awaited }: Entry): Promise<void> {
		const at = clock.now();
		const transaction = await getTransaction(client, awaited.hash).catch((error: unknown) => {
			if (!(error instanceof ServiceError) || !this.mayRecover(payment, error, at)) throw error;
			this.hasFailedRead = true;
			this.isWebhookExpected = false;
		});
		if (!transaction) return;
		this.hasSucceededRead = true;
		const { payment_status: status } = transaction;
		// A lagging replica may still show a decided payment as open.
		if (isSettled(payment.read?.status) && isWaiting(status)) return;
		payment.read = { at, status, json: waitOutput(transaction, awaited) };
		this.isWebhookExpected &&= isSettled(status) || this.isNotifiedHere(transaction);
	}

	private mayRecover(payment: Payment, { outcome }: ServiceError, at: number): boolean {
		if (payment.read) return true;
		const { kind, status, isWebPage = false } = outcome;
		if (status === 404 && !isWebPage) {
			payment.unknownSince ??= at;
			return at < Math.min(this.deadline, payment.unknownSince + PATIENCE_MS);
		}
		delete payment.unknownSince;
		// After `fail` for a POST, only a person can help. A web page may come from a proxy.
		return retryDecision('POST', kind) !== 'fail' || status === 200 || isWebPage;
	}

	private isNotifiedHere({ postback_url: url }: Transaction): boolean {
		const address = url ? parseWebAddress(url) : undefined;
		return !!address && !isPrivateAddress(address) && address.href === resumeUrl(this.context);
	}

	private async parkUntilNextLook(): Promise<void> {
		const { previous, deadline, now, payments, isWebhookExpected } = this;
		const isOver = now >= deadline;
		// n8n rounds its timers, so a look on time may be a little early.
		const isWoken = previous !== undefined && now < previous.nextLookAt - 1_000;
		const looks = (previous?.looks ?? 0) + (isWoken ? 0 : 1);
		const hasReadNothing = this.hasFailedRead && !this.hasSucceededRead;
		// After the time limit, a payment is open only if its read failed.
		const failures = hasReadNothing ? (previous?.failures ?? 0) + 1 : Number(isOver);
		const pauseMs = pauseUntilNextLook({ looks, failures, isWoken, isWebhookExpected });
		const nextLookAt = Math.min(now + pauseMs, isOver ? deadline + PATIENCE_MS : deadline);
		const state: z.input<typeof stateSchema> = { deadline, nextLookAt, looks, failures, payments };
		await parkExecution(this.context, new Date(nextLookAt), state);
	}

	private buildItemJson(
		{ read }: Payment,
		{ hash, ...choice }: AwaitedPayment,
	): ItemResult['json'] {
		return Object.assign(read?.json ?? waitOutput({ hash, json: { hash } }, choice), {
			timed_out: Math.max(this.now, read?.at ?? 0) >= this.deadline && !isSettled(read?.status),
			checked_at: read ? new Date(read.at).toISOString() : null,
		});
	}
}
