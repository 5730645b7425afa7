import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';
import { isUnknownHash, type Outcome, retryDecision } from '../api';
import { isPaid, isSettled } from '../domain';
import { readParkedState } from '../n8n';
import { jsonObject } from '../shared';

/** How long a hash may be unknown, the last reads may fail, and a read stays recent. */
export const PATIENCE_MS = 15 * 60_000;
export const READS_MAY_LAG_MS = 60_000;
/** n8n's timers may be a little early. */
export const EARLY_MS = 1_000;

/** What the looks have found out about a payment. Times are Unix times in milliseconds. */
const paymentSchema = z.object({
	hash: z.string(),
	triedAt: z.number(),
	read: z.object({ at: z.number(), status: z.string().nullish(), json: jsonObject }).optional(),
	unknownSince: z.number().optional(),
	/** Since when the reads have shown a failed status. */
	failedSince: z.number().optional(),
	/** The status with which the platform has refused the token since the last read. */
	refused: z.number().optional(),
});

export type Payment = z.output<typeof paymentSchema>;

const stateSchema = z.object({
	deadline: z.number(),
	/** When a look first found all payments decided, or the time limit over. */
	endingSince: z.number().optional(),
	nextLookAt: z.number(),
	/** Without those that a webhook started. */
	looks: z.number(),
	/** Looks in a row without an answer. After a webhook, and when the ending begins, they count from 1 again. */
	failures: z.number(),
	/** By item. Null if the form could not be read. */
	payments: z.array(paymentSchema.nullish()),
});

/** What a look leaves to the next one. */
export type State = z.output<typeof stateSchema>;

/** @param timeLimitMs counts from the first look */
export function readState(context: IExecuteFunctions, now: number, timeLimitMs: number): State {
	const deadline = now + timeLimitMs;
	const first: State = { deadline, nextLookAt: 0, looks: 0, failures: 0, payments: [] };

	const state = stateSchema.safeParse(readParkedState(context)).data ?? first;
	// After a long stop of n8n, or at a late Retry, the time for the last reads starts over.
	if (now > state.nextLookAt + PATIENCE_MS) delete state.endingSince;

	return state;
}

export function recordRead(payment: Payment, read: NonNullable<Payment['read']>): void {
	payment.triedAt = read.at;
	payment.read = read;
	delete payment.refused;

	const hasFailed = isSettled(read.status) && !isPaid(read.status);
	if (hasFailed) payment.failedSince ??= read.at;
	else delete payment.failedSince;
}

/** @returns whether a later look may read the payment */
export function recordFailure(
	payment: Payment,
	outcome: Outcome,
	at: number,
	deadline: number,
): boolean {
	const { kind, status } = outcome;
	if (kind === 'badToken') payment.refused = status;
	if (kind !== 'rateLimited') payment.triedAt = at;
	if (payment.read) return true;

	if (isUnknownHash(outcome)) {
		payment.unknownSince ??= at;
		return at < Math.min(deadline, payment.unknownSince + PATIENCE_MS);
	}
	if (kind !== 'rateLimited') delete payment.unknownSince;

	// The row of a POST, because it fails only where the platform refuses for good; that of a GET also at a 500. A 200 that
	// says failure, and a web page, may go away, too.
	return retryDecision('POST', kind) !== 'fail' || status === 200 || outcome.isWebPage === true;
}
