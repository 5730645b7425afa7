import { omit } from 'lodash';
import type { IExecuteFunctions, INodeExecutionData as Item } from 'n8n-workflow';
import { z } from 'zod/v3';
import { type Client, getTransaction, retryDecision, ServiceError } from '../api';
import { isPaid, isPrivateAddress, isSettled } from '../domain';
import { parkExecution, readParkedState, resumeUrl } from '../n8n';
import { type OutputChoice, waitOutput } from '../output';
import { clock, eachLimit, jsonObject, READS_AT_ONCE } from '../shared';
import { pauseUntilNextLook } from './schedule';

/** How long a hash may be unknown, the last reads may fail, and a read stays recent. */
const PATIENCE_MS = 15 * 60_000;
const READS_MAY_LAG_MS = 60_000;
/** n8n's timers may be a little early. */
const EARLY_MS = 1_000;

const refusalSchema = z.object({ kind: z.literal('badToken'), status: z.number() });
const paymentSchema = z.object({
	hash: z.string(),
	triedAt: z.number(),
	read: z.object({ at: z.number(), status: z.string().nullish(), json: jsonObject }).optional(),
	unknownSince: z.number().optional(),
	/** Since when the reads have shown a failed status. */
	failedSince: z.number().optional(),
	/** The platform has refused the token since the last read. */
	refused: refusalSchema.optional(),
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
type State = z.output<typeof stateSchema>;

export type AwaitedPayment = OutputChoice & { hash: string };
type Entry = { item: Item; awaited: AwaitedPayment; payment: Payment };

/** Each run of the node is a look at all open payments. All items share the longest time limit. */
export class PaymentWait {
	private readonly now = clock.now();
	private readonly state: State;
	private readonly entries: Entry[] = [];
	private hasAnswer = false;
	private isWebhookExpected = true;

	constructor(private readonly context: IExecuteFunctions) {
		const first: State = { deadline: this.now, nextLookAt: 0, looks: 0, failures: 0, payments: [] };
		this.state = stateSchema.safeParse(readParkedState(context)).data ?? first;
		// After a long stop of n8n, or at a late Retry, the time for the last reads starts over.
		if (this.now > this.state.nextLookAt + PATIENCE_MS) delete this.state.endingSince;
	}

	/** The payment that was tried longest ago goes first, because permits may run out. */
	lastTriedAt(itemIndex: number): number {
		return this.state.payments[itemIndex]?.triedAt ?? 0;
	}

	get isLastLook(): boolean {
		return this.now >= (this.state.endingSince ?? Infinity) + PATIENCE_MS;
	}

	extendTimeLimit(milliseconds: number): void {
		const { state, now } = this;
		if (state.looks === 0) state.deadline = Math.max(state.deadline, now + milliseconds);
	}

	/** @throws ServiceError if no later look can read the payment */
	async lookAt(client: Client, itemIndex: number, awaited: AwaitedPayment): Promise<Item> {
		const stored = this.state.payments[itemIndex];
		// A Retry may have another hash.
		const payment = stored?.hash === awaited.hash ? stored : { hash: awaited.hash, triedAt: 0 };
		this.state.payments[itemIndex] = payment;
		const entry: Entry = { item: { json: {} }, awaited, payment };
		if (!this.isDone(payment)) await this.readPayment(client, entry);
		if (payment.refused && this.isLastLook && !this.isDone(payment)) {
			throw new ServiceError('GET /transactions/{hash}', payment.refused, 1);
		}
		this.entries.push(entry);
		return entry.item;
	}

	/**
	 * Looks later, because nothing can be read.
	 *
	 * @returns false at the first and at the last look
	 */
	async postpone(): Promise<boolean> {
		const { state, now } = this;
		if (state.looks === 0 || this.isLastLook) return false;
		if (now >= state.deadline) state.endingSince ??= now;
		await this.parkUntilNextLook();
		return true;
	}

	async finishLook(newClient: () => Client, items: Item[]): Promise<Item[]> {
		if (this.isEnding) {
			// A decided payment may have been refunded after the earlier look.
			const endingSince = (this.state.endingSince ??= this.now);
			const isEarlier = ({ payment }: Entry) =>
				this.isDone(payment) && !this.isDone(payment, endingSince);
			const readAgain = async (entry: Entry) => await this.readPayment(newClient(), entry);
			await eachLimit(this.entries.filter(isEarlier), READS_AT_ONCE, readAgain);
		}
		if (!this.areAllDone(this.now - PATIENCE_MS) && !(this.isEnding && this.isLastLook)) {
			await this.parkUntilNextLook();
			return [];
		}
		for (const { item, payment, awaited } of this.entries) {
			const { hash, read } = payment;
			const output = read?.json ?? waitOutput({ hash, json: { hash } }, awaited);
			const checked_at = read ? new Date(read.at).toISOString() : null;
			item.json = {
				...omit(output, 'timed_out'),
				...(!isSettled(read?.status) && { timed_out: true }),
				checked_at,
			};
		}
		return items;
	}

	private get isEnding(): boolean {
		return this.now >= this.state.deadline || this.areAllDone();
	}

	private areAllDone(since?: number): boolean {
		return this.entries.every(({ payment }) => this.isDone(payment, since));
	}

	/** Whether a read after `since` decided the payment, or came after the deadline. */
	private isDone({ read, failedSince }: Payment, since = 0): boolean {
		if (read === undefined || read.at < since) return false;
		if (isPaid(read.status)) return true;
		// A platform may call a payment expired, and paid seconds later.
		if (failedSince !== undefined) return read.at >= failedSince + READS_MAY_LAG_MS - EARLY_MS;
		return read.at >= this.state.deadline;
	}

	private async readPayment(client: Client, { payment, awaited }: Entry): Promise<void> {
		const at = clock.now();
		const transaction = await getTransaction(client, awaited.hash).catch((error: unknown) => {
			if (!(error instanceof ServiceError) || !this.recordFailure(payment, error, at)) throw error;
			if (error.outcome.kind !== 'rateLimited') payment.triedAt = at;
			this.isWebhookExpected = false;
		});
		if (!transaction) return;
		payment.triedAt = at;
		this.hasAnswer = true;
		const { payment_status: status, postback_url: url } = transaction;
		payment.read = { at, status, json: waitOutput(transaction, awaited) };
		delete payment.refused;
		if (isSettled(status) && !isPaid(status)) payment.failedSince ??= at;
		else delete payment.failedSince;
		this.isWebhookExpected &&= isSettled(status) || (!!url && this.isOwnPublicAddress(url));
	}

	/** @returns whether a later look may read the payment */
	private recordFailure(payment: Payment, { outcome }: ServiceError, at: number): boolean {
		const { kind, status, isWebPage = false } = outcome;
		payment.refused = refusalSchema.safeParse(outcome).data ?? payment.refused;
		if (payment.read) return true;
		if (status === 404 && !isWebPage) {
			this.hasAnswer = true;
			payment.unknownSince ??= at;
			return at < Math.min(this.state.deadline, payment.unknownSince + PATIENCE_MS);
		}
		if (kind !== 'rateLimited') delete payment.unknownSince;
		// The rule of POST, because that of GET fails at a 500, which may go away. So may a 200 that says failure, or a page.
		return retryDecision('POST', kind) !== 'fail' || status === 200 || isWebPage;
	}

	private isOwnPublicAddress(url: string): boolean {
		return url === resumeUrl(this.context) && !isPrivateAddress(new URL(url));
	}

	private async parkUntilNextLook(): Promise<void> {
		const { state, now, isWebhookExpected } = this;
		const isWoken = now < state.nextLookAt - EARLY_MS;
		if (!this.isEnding) {
			delete state.endingSince;
			// Reads may not show yet what the webhook reported.
			if (isWoken) state.deadline = Math.max(state.deadline, now + READS_MAY_LAG_MS);
		}
		const { endingSince, deadline } = state;
		if (!isWoken) state.looks++;
		const earlierFailures = isWoken || endingSince === now ? 0 : state.failures;
		state.failures = this.hasAnswer ? 0 : earlierFailures + 1;
		const isFailing = this.entries.some(
			({ payment }) => payment.failedSince !== undefined && !this.isDone(payment),
		);
		// Looks again soon after a webhook, because the platform may lag, and after failed reads at the end.
		const isSoon = isWoken || isFailing || endingSince !== undefined;
		const backoffStep = state.failures || Number(isSoon);
		const pauseMs = pauseUntilNextLook({ ...state, backoffStep, isWebhookExpected });
		const lookBy = endingSince === undefined ? deadline : endingSince + PATIENCE_MS;
		state.nextLookAt = Math.min(now + pauseMs, lookBy);
		await parkExecution(this.context, new Date(state.nextLookAt), state);
	}
}
