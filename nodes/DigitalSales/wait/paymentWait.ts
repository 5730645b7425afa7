import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';
import type { Client } from '../api/client';
import { retryDecision } from '../api/retryTable';
import { ServiceError } from '../api/serviceError';
import type { Transaction } from '../api/schemas/transaction';
import { getTransaction } from '../api/transactions';
import { isSettled, isWaiting } from '../domain/paymentStatus';
import { isPrivateAddress, parseWebAddress } from '../domain/webAddress';
import { park, parkedState } from '../n8n/parking';
import { resumeUrl } from '../n8n/resumeUrl';
import type { ItemResult } from '../output/item';
import { waitOutput, type OutputChoice } from '../output/transaction';
import { clock } from '../shared/clock';
import { eachLimit, READS_AT_ONCE } from '../shared/eachLimit';
import { jsonObject } from '../shared/json';
import { untilNextLook } from './schedule';

/** How long a hash may be unknown to the service, and how long after the time limit a failed read is tried again. */
const PATIENCE_MS = 15 * 60_000;

/** All times in milliseconds of unix time. */
const paymentSchema = z.object({
	/** The last successful read: when it began, and what the item says of it. */
	read: z.object({ at: z.number(), status: z.string().nullish(), json: jsonObject }).optional(),
	/** Since when the service has answered that it does not know the hash. */
	unknownSince: z.number().optional(),
});
type Payment = z.output<typeof paymentSchema>;

/** What the execution carries from one look to the next. */
const stateSchema = z.object({
	deadline: z.number(),
	nextLookAt: z.number(),
	looks: z.number(),
	failures: z.number(),
	/** By the index of the item; none for an item whose form could not be read. */
	payments: z.array(paymentSchema.nullish()),
});

/** What an item waits for, and how it is shown. */
export type Awaited = OutputChoice & { hash: string };
type Entry = { item: ItemResult; awaited: Awaited; payment: Payment; wasDone: boolean };

/**
 * The wait of one execution. Each time the node runs it looks at the payments of all its items, then hands the items
 * on or parks the execution until the next look. All items share one wait, with the longest time limit.
 */
export class PaymentWait {
	private readonly now = clock.now();
	/** What the last look left behind; undefined at the first. */
	private readonly before: z.output<typeof stateSchema> | undefined;
	/** By the index of the item, also of items that fail at this look. */
	private readonly payments: Array<Payment | null | undefined>;
	private readonly items: Entry[] = [];
	private deadline: number;
	private hasRead = false;
	private hasUnread = false;
	private isWebhookExpected = true;

	constructor(private readonly context: IExecuteFunctions) {
		this.before = stateSchema.safeParse(parkedState(context)).data;
		this.deadline = this.before?.deadline ?? this.now;
		this.payments = [...(this.before?.payments ?? [])];
	}

	/** The oldest read comes first: a service that allows few reads gets to all payments in turn. */
	rank(itemIndex: number): number {
		return this.before?.payments[itemIndex]?.read?.at ?? 0;
	}

	/** Whether the execution continues after this look, whatever it reads. */
	get isLastLook(): boolean {
		return this.now >= this.deadline + PATIENCE_MS;
	}

	/** Sets the time limit of an item, which counts from the first look. */
	limit(milliseconds: number): void {
		if (!this.before) this.deadline = Math.max(this.deadline, this.now + milliseconds);
	}

	/**
	 * Reads the payment of an item, unless an earlier look found it decided.
	 *
	 * @returns the item, empty until {@link finish}
	 * @throws ServiceError if the payment was never read, and the service has not known its hash for 15 minutes or
	 *   refuses the read for a reason that a person has to put right
	 */
	async look(client: Client, itemIndex: number, awaited: Awaited): Promise<ItemResult> {
		const payment = (this.payments[itemIndex] ??= {});
		const entry: Entry = { item: { json: {} }, awaited, payment, wasDone: this.isDone(payment) };
		if (!entry.wasDone) await this.read(client, entry);
		this.items.push(entry);
		return entry.item;
	}

	/** Hands the items on if every payment is decided or the time is up. Else parks the execution. */
	async finish(newClient: () => Client, items: ItemResult[]): Promise<ItemResult[]> {
		const isOpen = this.items.some(({ payment }) => !this.isDone(payment));
		if (isOpen && !this.isLastLook) {
			await this.parkUntilNextLook();
			return [];
		}
		// A payment that was decided at an earlier look may have been refunded since.
		const earlier = this.items.filter(({ wasDone }) => wasDone);
		const readAgain = async (entry: Entry) => await this.read(newClient(), entry);
		await eachLimit(earlier, READS_AT_ONCE, readAgain);
		for (const { item, payment, awaited } of this.items) item.json = this.output(payment, awaited);
		return items;
	}

	/** Whether nothing more has to be read for a payment: it is decided, or was read after the time limit. */
	private isDone({ read }: Payment): boolean {
		return read !== undefined && (isSettled(read.status) || read.at >= this.deadline);
	}

	private async read(client: Client, { payment, awaited }: Entry): Promise<void> {
		const at = clock.now();
		const transaction = await getTransaction(client, awaited.hash).catch((error: unknown) => {
			if (!(error instanceof ServiceError) || !this.mayPass(payment, error, at)) throw error;
			this.hasUnread = true;
			this.isWebhookExpected = false;
		});
		if (!transaction) return;
		this.hasRead = true;
		const { payment_status: status } = transaction;
		// A replica that lags behind may still say that a decided payment is open.
		if (isSettled(payment.read?.status) && isWaiting(status)) return;
		payment.read = { at, status, json: waitOutput(transaction, awaited) };
		this.isWebhookExpected &&= isSettled(status) || this.isToldHere(transaction);
	}

	/** Whether a failed read may succeed at a later look. */
	private mayPass(payment: Payment, { outcome }: ServiceError, at: number): boolean {
		if (payment.read) return true;
		const { kind, status, isWebPage = false } = outcome;
		if (status === 404 && !isWebPage) {
			payment.unknownSince ??= at;
			return at < Math.min(this.deadline, payment.unknownSince + PATIENCE_MS);
		}
		delete payment.unknownSince;
		// A web page may come from a proxy. What else a POST must not repeat needs a person: a wrong token, a redirect,
		// a host that n8n blocks.
		return retryDecision('POST', kind) !== 'fail' || status === 200 || isWebPage;
	}

	/** Whether the service sends webhooks about a transaction to this execution, and can reach it. */
	private isToldHere({ postback_url: told }: Transaction): boolean {
		const address = told ? parseWebAddress(told) : undefined;
		return !!address && !isPrivateAddress(address) && address.href === resumeUrl(this.context);
	}

	private async parkUntilNextLook(): Promise<void> {
		const { before, deadline, now, payments, hasRead, hasUnread, isWebhookExpected } = this;
		const isOver = now >= deadline;
		// A webhook, or a timer that n8n had set before a webhook. Timers round, too.
		const isWoken = before !== undefined && now < before.nextLookAt - 1_000;
		const looks = (before?.looks ?? 0) + (isWoken ? 0 : 1);
		// A look that reads some of many payments is no failure: the next look reads the others, after the limit in a minute.
		const failures = hasUnread && !hasRead ? (before?.failures ?? 0) + 1 : Number(isOver);
		const pauseMs = untilNextLook({ looks, failures, isWoken, isWebhookExpected });
		const nextLookAt = Math.min(now + pauseMs, isOver ? deadline + PATIENCE_MS : deadline);
		const state: z.input<typeof stateSchema> = { deadline, nextLookAt, looks, failures, payments };
		await park(this.context, new Date(nextLookAt), state);
	}

	private output({ read }: Payment, { hash, ...choice }: Awaited): ItemResult['json'] {
		return Object.assign(read?.json ?? waitOutput({ hash, json: { hash } }, choice), {
			timed_out: Math.max(this.now, read?.at ?? 0) >= this.deadline && !isSettled(read?.status),
			checked_at: read ? new Date(read.at).toISOString() : null,
		});
	}
}
