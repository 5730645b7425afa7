import { clamp, omit, pull, sortBy } from 'lodash';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod/v3';
import {
	type Client,
	type ClientOptions,
	getTransaction,
	ServiceError,
	type Transaction,
} from '../api';
import { groupOf, isPaid, isPrivateAddress, isSettled } from '../domain';
import { parkExecution, readParkedState, resumeUrl } from '../n8n';
import { type OutputChoice, waitOutput } from '../output';
import { clock, eachLimit, jsonObject, READS_AT_ONCE } from '../shared';

const MINUTE_MS = 60_000;
const UNKNOWN_FOR_MS = 15 * MINUTE_MS;
/** How long the last reads may fail, and webhooks may delay them. */
const LAST_READS_MS = 15 * MINUTE_MS;
/** n8n's timers may be this early. Such a look is on time, and a minute that lacks this much is over. */
const EARLY_MS = 1_000;

/** A read neither waits for a permit nor is repeated, because the next look comes soon enough. */
const READ_LIMITS = { maxTries: 1, startWithinMs: 100, timeoutMs: 12_000 };

/** What the looks have found out about a payment. Times are Unix times in milliseconds. */
const paymentSchema = z.object({
	hash: z.string(),
	read: z
		.object({
			at: z.number(),
			status: z.string().nullish(),
			/** Whether the platform sends the webhooks of the transaction to this execution. */
			isNotified: z.boolean(),
			json: jsonObject,
		})
		.optional(),
	/** Since when the platform says that it does not know the hash, without a fault in between. */
	unknownSince: z.number().optional(),
	/** When a read first showed that it failed or was refunded, or a webhook came after that. */
	failedSince: z.number().optional(),
	/** Whether the platform has refused the token since the read. */
	isRefused: z.boolean().optional(),
});

type Payment = z.output<typeof paymentSchema>;

/**
 * What a look leaves to the next one. A later version resumes what an earlier one has parked, so a new field must be
 * optional. Otherwise the wait starts over.
 */
const stateSchema = z.object({
	startedAt: z.number(),
	/** The end of the time limit. */
	limitAt: z.number(),
	/**
	 * When the last reads begin: at the limit, or later if a webhook or a look came late, or once all are decided. The wait
	 * ends 15 minutes later at the latest.
	 */
	deadline: z.number(),
	/** When the execution runs again unless a webhook comes. At the first look, now. */
	nextLookAt: z.number(),
	/** By item. Null if the form could not be read. */
	payments: z.array(paymentSchema.nullish()),
});

type State = z.output<typeof stateSchema>;

type AwaitedPayment = OutputChoice & { itemIndex: number; hash: string };
type Entry = AwaitedPayment & { payment: Payment };

/** A run of the node is one look at all payments. All items share the longest time limit. */
export class PaymentWait {
	private readonly now = clock.now();
	private readonly state: State;
	private readonly isFirstLook: boolean;
	/** This look comes before its time: by a webhook, or by a Retry, where it does no harm. */
	private readonly isWoken: boolean;
	/** The time of the last reads is over: of what this look cannot read, an earlier read counts. */
	private readonly isPatienceOver: boolean;
	/** Those that have not failed at this look. */
	private readonly entries: Entry[] = [];

	/** @param timeLimitMs counts at the first look, and is in the state of later ones */
	constructor(
		private readonly context: IExecuteFunctions,
		timeLimitMs: number,
	) {
		const { now } = this;
		const limitAt = now + timeLimitMs;
		const first = { startedAt: now, limitAt, deadline: limitAt, nextLookAt: now, payments: [] };
		const stored = stateSchema.safeParse(readParkedState(context)).data;
		const state = stored ?? first;

		this.state = state;
		this.isFirstLook = stored === undefined;
		this.isWoken = now < state.nextLookAt - EARLY_MS;
		this.moveDeadline();
		this.isPatienceOver = now >= state.deadline + LAST_READS_MS;
	}

	private moveDeadline(): void {
		const { state, now, isWoken } = this;
		// Reads may not show yet what the webhook reported, so the last reads begin a minute after it at the earliest, unless
		// they have begun. Webhooks must not hold the wait open for ever.
		if (isWoken && now < state.deadline) {
			const latest = state.limitAt + LAST_READS_MS;
			state.deadline = Math.max(state.deadline, Math.min(now + MINUTE_MS, latest));
		}
		// After a long stop of n8n, or at a late Retry, the last reads still get their time.
		if (now > state.nextLookAt + LAST_READS_MS) state.deadline = Math.max(state.deadline, now);
	}

	/**
	 * @param fail is called with a payment that fails at this look, and with the error. If it throws, the wait ends
	 * @returns the outputs by item, or undefined if the execution waits for the next look
	 */
	async lookAtAll(
		awaited: AwaitedPayment[],
		newClient: (options: ClientOptions) => Client,
		fail: (awaited: AwaitedPayment, error: unknown) => void,
	): Promise<Map<number, INodeExecutionData[]> | undefined> {
		const { state, now, entries } = this;
		const priority = this.isPatienceOver ? 'urgent' : 'background';
		entries.push(...awaited.map((one) => ({ ...one, payment: this.paymentOf(one) })));

		const readUnfinished = async (): Promise<void> => {
			// In random order, so that each payment gets its turn even if permits run out.
			await eachLimit(sortBy(this.listUnfinished(), clock.random), READS_AT_ONCE, async (entry) => {
				await this.read(entry, newClient({ ...READ_LIMITS, priority })).catch((error: unknown) => {
					pull(entries, entry);
					fail(entry, error);
				});
			});
		};

		await readUnfinished();
		if (now < state.deadline && this.listUnfinished().length === 0) {
			// What an earlier look found decided is read again: a sale may have been refunded since.
			state.deadline = now;
			await readUnfinished();
		}

		if (this.isPatienceOver || this.listUnfinished().length === 0) {
			// The wait may end early with a payment that was decided, and no longer is.
			const isTimeUp = clock.now() >= state.limitAt;
			return new Map(entries.map((entry) => [entry.itemIndex, [outputOf(entry, isTimeUp)]]));
		}
		await this.parkUntilNextLook(this.pauseMs());
		return undefined;
	}

	/**
	 * Skips a look at which nothing can be read, because the credential cannot be loaded.
	 *
	 * @returns false at the first and at the last look, which must not be skipped
	 */
	async postpone(): Promise<boolean> {
		if (this.isFirstLook || this.isPatienceOver) return false;

		await this.parkUntilNextLook(this.isWoken ? MINUTE_MS : 5 * MINUTE_MS);
		return true;
	}

	private paymentOf({ itemIndex, hash }: AwaitedPayment): Payment {
		const { payments } = this.state;
		const stored = payments[itemIndex];
		// A Retry may have another hash.
		const payment: Payment = stored?.hash === hash ? stored : { hash };
		payments[itemIndex] = payment;

		// The failed status may be older than the webhook, so its minute starts again.
		const hasFailed = payment.failedSince !== undefined && !isDecided(payment);
		if (this.isWoken && hasFailed) payment.failedSince = this.now;
		return payment;
	}

	/** @throws ServiceError if the payment leaves with this error, CanceledError */
	private async read({ hash, payment, ...choice }: Entry, client: Client): Promise<void> {
		const at = clock.now();
		const transaction = await getTransaction(client, hash).catch((error: unknown) => {
			if (error instanceof ServiceError && this.noteFailure(payment, error, at)) return;
			throw error;
		});
		if (!transaction) return;
		delete payment.isRefused;

		const status = transaction.payment_status;
		// What is decided does not become open again, so this answer is old, unless it is the last one.
		if (!this.isPatienceOver && isDecided(payment) && groupOf(status) === 'waiting') return;
		const isNotified = this.isNotified(transaction);
		payment.read = { at, status, isNotified, json: waitOutput(transaction, choice) };

		const isSettledUnpaid = isSettled(status) && !isPaid(status);
		if (isSettledUnpaid) payment.failedSince ??= at;
		else delete payment.failedSince;
	}

	/**
	 * Records why the read failed.
	 *
	 * @returns false if the payment leaves with this error
	 */
	private noteFailure(payment: Payment, error: ServiceError, at: number): boolean {
		if (payment.read) {
			payment.isRefused ||= error.isTokenRefused;
			// What was read counts. But at the end, a payment must not count as unpaid because the token is refused.
			const mustFail = this.isPatienceOver && payment.isRefused && !isDecided(payment);
			return !mustFail;
		}

		if (error.isHashUnknown) {
			payment.unknownSince ??= at;
			return at < Math.min(this.state.deadline, payment.unknownSince + UNKNOWN_FOR_MS);
		}
		// After a fault of the platform, its time starts over.
		if (error.answer.kind !== 'rateLimited') delete payment.unknownSince;
		return !error.isFinal;
	}

	private isNotified({ postback_url: url }: Transaction): boolean {
		return !!url && url === resumeUrl(this.context) && !isPrivateAddress(new URL(url));
	}

	/** What must be read before the wait can end. */
	private listUnfinished(): Entry[] {
		const { now, isWoken } = this;
		const { deadline } = this.state;
		// A webhook may report what was read before it.
		const mustBeReadSince = isWoken ? Math.max(deadline, now) : deadline;

		return this.entries.filter(({ payment }) => {
			const { read, failedSince } = payment;
			const isReadAtEnd = read !== undefined && read.at >= mustBeReadSince;

			// A decided payment needs no read until the deadline, and then one more.
			if (isDecided(payment)) return now >= deadline && !isReadAtEnd;
			// One that has only just failed needs a read a minute later, even after the deadline.
			if (failedSince !== undefined) return true;
			return !isReadAtEnd;
		});
	}

	private async parkUntilNextLook(pauseMs: number): Promise<void> {
		const { state, now } = this;
		const { deadline } = state;
		// No look may miss the beginning or the end of the last reads.
		const lookBy = now < deadline ? deadline : deadline + LAST_READS_MS;

		state.nextLookAt = Math.min(now + pauseMs, lookBy);
		await parkExecution(this.context, new Date(state.nextLookAt), state);
	}

	/** Short at first, because most customers pay within minutes, and short again at the end. */
	private pauseMs(): number {
		const { startedAt, deadline } = this.state;
		const open = this.listUnfinished().map(({ payment }) => payment);
		const isAnswered = this.entries.some(({ payment: { read } }) => read && read.at >= this.now);
		// At the end, the reads of a minute may not suffice for all.
		const isEnding = isAnswered && this.now >= deadline;
		if (this.isWoken || isEnding || open.some(({ failedSince }) => failedSince)) return MINUTE_MS;

		const age = this.now - (this.now < deadline ? startedAt : deadline);
		const longest = isAnswered ? 60 * MINUTE_MS : 15 * MINUTE_MS;
		// Rarely if webhooks come, because n8n answers 409 to a webhook during a look.
		const byAge = open.every(({ read }) => read?.isNotified)
			? clamp(age, 6 * MINUTE_MS, longest)
			: clamp(0.6 * age, MINUTE_MS, longest);

		// At random, because a thousand waits that look within two minutes keep n8n from answering webhooks.
		return Math.max(MINUTE_MS, byAge * (0.5 + 0.6 * clock.random()));
	}
}

/** Paid, or failed for a minute: a platform may call a payment expired, and paid seconds later. */
function isDecided({ read, failedSince }: Payment): boolean {
	if (read === undefined) return false;
	if (isPaid(read.status)) return true;
	return failedSince !== undefined && read.at >= failedSince + MINUTE_MS - EARLY_MS;
}

function outputOf({ hash, payment, ...choice }: Entry, isTimeUp: boolean): INodeExecutionData {
	const { read } = payment;
	const output = read?.json ?? waitOutput({ hash, json: { hash } }, choice);
	const timedOut = isTimeUp && !isSettled(read?.status) && { timed_out: true };
	const checked_at = read ? new Date(read.at).toISOString() : null;

	// Without Simplify, the platform may have a field of this name.
	return { json: { ...omit(output, 'timed_out'), ...timedOut, checked_at } };
}
