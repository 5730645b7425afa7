import { omit, sortBy } from 'lodash';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import {
	type Client,
	type ClientOptions,
	getTransaction,
	isUnknownHash,
	ServiceError,
	type Transaction,
} from '../api';
import { isPaid, isPrivateAddress, isSettled } from '../domain';
import { parkExecution, resumeUrl } from '../n8n';
import { type OutputChoice, waitOutput } from '../output';
import { clock, eachLimit, READS_AT_ONCE } from '../shared';
import { backoffAfter, pauseAfter } from './schedule';
import {
	EARLY_MS,
	PATIENCE_MS,
	type Payment,
	READS_MAY_LAG_MS,
	readState,
	recordFailure,
	recordRead,
	type State,
} from './state';

export type AwaitedPayment = OutputChoice & { itemIndex: number; hash: string };
type Entry = AwaitedPayment & { payment: Payment };

/** A failed read is not repeated, because the next look comes soon enough. */
const LOOK = { maxTries: 1, startWithinMs: 100, timeoutMs: 12_000 };

/** A run of the node is one look at all payments. All items share the longest time limit. */
export class PaymentWait {
	private readonly now = clock.now();
	private readonly state: State;
	/** A webhook started this look. */
	private readonly isWoken: boolean;
	/** The last reads have failed for so long that earlier ones count. */
	private readonly isLastLook: boolean;
	/** Those that this look or a later one can read. */
	private readonly entries: Entry[] = [];
	private hasAnswer = false;
	private isWebhookExpected = true;

	constructor(
		private readonly context: IExecuteFunctions,
		timeLimitMs = 0,
	) {
		this.state = readState(context, this.now, timeLimitMs);
		const { nextLookAt, endingSince = Infinity } = this.state;
		this.isWoken = this.now < nextLookAt - EARLY_MS;
		this.isLastLook = this.now >= endingSince + PATIENCE_MS;
	}

	/**
	 * @param fail gets a payment, and the error why, that no later look can read. It may throw
	 * @returns the outputs by item, or undefined if the execution waits for the next look
	 */
	async lookAtAll(
		awaited: AwaitedPayment[],
		newClient: (options: ClientOptions) => Client,
		fail: (awaited: AwaitedPayment, error: unknown) => void,
	): Promise<Map<number, INodeExecutionData[]> | undefined> {
		const priority = this.isLastLook ? 'urgent' : 'background';
		const newLookClient = () => newClient({ ...LOOK, priority });
		const entries = awaited.map((one) => ({ ...one, payment: this.paymentOf(one) }));
		// The payment that was tried longest ago goes first, because permits may run out.
		const inTurn = sortBy(entries, ({ payment }) => payment.triedAt);

		await eachLimit(inTurn, READS_AT_ONCE, async (entry) => {
			try {
				await this.readUnlessDone(entry, newLookClient());
				this.entries.push(entry);
			} catch (error) {
				fail(entry, error);
			}
		});
		if (this.isEnding) await this.readAgain(newLookClient);

		const isOver = this.areAllDone(this.now - PATIENCE_MS) || (this.isEnding && this.isLastLook);
		if (isOver) return new Map(this.entries.map((one) => [one.itemIndex, [outputOf(one)]]));

		await this.parkUntilNextLook();
		return undefined;
	}

	/**
	 * Looks later, because nothing can be read.
	 *
	 * @returns false at the first and at the last look
	 */
	async postpone(): Promise<boolean> {
		const { state, now } = this;
		if (state.looks === 0 || this.isLastLook) return false;

		// Nothing was read, so the ending begins at the deadline alone.
		if (now >= state.deadline) state.endingSince ??= now;
		await this.parkUntilNextLook();
		return true;
	}

	private paymentOf({ itemIndex, hash }: AwaitedPayment): Payment {
		const stored = this.state.payments[itemIndex];
		// A Retry may have another hash.
		const payment = stored?.hash === hash ? stored : { hash, triedAt: 0 };
		this.state.payments[itemIndex] = payment;

		return payment;
	}

	/** @throws ServiceError if no later look can read the payment */
	private async readUnlessDone(entry: Entry, client: Client): Promise<void> {
		const { payment } = entry;
		if (this.isDone(payment)) return;

		await this.read(entry, client);
		// Reads may not show yet what the webhook reported.
		if (this.isWoken && payment.failedSince !== undefined) payment.failedSince = this.now;

		const { refused } = payment;
		if (refused !== undefined && this.isLastLook && !this.isDone(payment)) {
			const outcome = { kind: 'badToken', status: refused } as const;
			throw new ServiceError('GET /transactions/{hash}', outcome, 1);
		}
	}

	private async read({ payment, ...awaited }: Entry, client: Client): Promise<void> {
		const at = clock.now();
		const transaction = await getTransaction(client, awaited.hash).catch((error: unknown) => {
			if (!(error instanceof ServiceError)) throw error;
			const { outcome } = error;
			if (!recordFailure(payment, outcome, at, this.state.deadline)) throw error;

			// Of a hash that was read before, a 404 is a fault and no answer.
			if (!payment.read && isUnknownHash(outcome)) this.hasAnswer = true;
			this.isWebhookExpected = false;
		});
		if (!transaction) return;

		const status = transaction.payment_status;
		recordRead(payment, { at, status, json: waitOutput(transaction, awaited) });
		this.hasAnswer = true;
		if (!isSettled(status) && !this.isNotified(transaction)) this.isWebhookExpected = false;
	}

	/** Whether the platform sends the webhooks of the transaction to this execution. */
	private isNotified(transaction: Transaction): boolean {
		const url = transaction.postback_url;

		return !!url && url === resumeUrl(this.context) && !isPrivateAddress(new URL(url));
	}

	/** A decided payment may have been refunded after the earlier look. */
	private async readAgain(newClient: () => Client): Promise<void> {
		const endingSince = (this.state.endingSince ??= this.now);
		const decidedEarlier = this.entries.filter(
			({ payment }) => this.isDone(payment) && !this.isDone(payment, endingSince),
		);

		await eachLimit(decidedEarlier, READS_AT_ONCE, async (entry) => {
			await this.read(entry, newClient());
		});
	}

	private get isEnding(): boolean {
		return this.now >= this.state.deadline || this.areAllDone();
	}

	private areAllDone(since?: number): boolean {
		return this.entries.every(({ payment }) => this.isDone(payment, since));
	}

	/** Paid, failed for a minute, or read after the deadline. Reads before `since` do not count. */
	private isDone({ read, failedSince }: Payment, since = 0): boolean {
		if (read === undefined || read.at < since) return false;
		if (isPaid(read.status)) return true;
		// A platform may call a payment expired, and paid seconds later.
		if (failedSince !== undefined) return read.at >= failedSince + READS_MAY_LAG_MS - EARLY_MS;
		return read.at >= this.state.deadline;
	}

	/** Looks again soon after a webhook, because the platform may lag, and after failed reads at the end. */
	private get pauseMs(): number {
		const { failures, looks, endingSince } = this.state;
		const hasFailed = this.entries.some(
			({ payment }) => payment.failedSince !== undefined && !this.isDone(payment),
		);
		const isSoon = this.isWoken || hasFailed || endingSince !== undefined;

		if (failures > 0 || isSoon) return backoffAfter(failures || 1);
		return pauseAfter(looks, this.isWebhookExpected);
	}

	private async parkUntilNextLook(): Promise<void> {
		const { state, now, isWoken } = this;
		// Reads may not show yet what the webhook reported.
		if (isWoken && now < state.deadline) {
			state.deadline = Math.max(state.deadline, now + READS_MAY_LAG_MS);
		}
		if (!this.isEnding) delete state.endingSince;
		const { endingSince, deadline } = state;

		if (!isWoken) state.looks++;
		if (this.hasAnswer) state.failures = 0;
		else if (isWoken || endingSince === now) state.failures = 1;
		else state.failures++;

		const lookBy = endingSince === undefined ? deadline : endingSince + PATIENCE_MS;
		state.nextLookAt = Math.min(now + this.pauseMs, lookBy);
		await parkExecution(this.context, new Date(state.nextLookAt), state);
	}
}

function outputOf({ hash, payment, ...choice }: Entry): INodeExecutionData {
	const { read } = payment;
	const output = read?.json ?? waitOutput({ hash, json: { hash } }, choice);
	const timedOut = !isSettled(read?.status) && { timed_out: true };
	const checked_at = read ? new Date(read.at).toISOString() : null;

	return { json: { ...omit(output, 'timed_out'), ...timedOut, checked_at } };
}
