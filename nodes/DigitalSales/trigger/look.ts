import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';
import { Client, getTransaction, loadAccount, type Transaction } from '../api';
import { isLater, isSameStatus, type Status } from '../domain';
import { assertCanPark, isRetry, parkExecution, readParkedState } from '../n8n';
import { toFailure } from '../output';
import { CanceledError, clock } from '../shared';
import { isClaim, isExcludedForGood, rejectionReason } from './filters';
import { readTriggerForm, saleItem } from './form';

/* When an execution looks for a status that a webhook claims, and which read shows it. */

/** Before each look. n8n checks its timers once a minute, so the first may last a minute. */
const PAUSES_MS = [15_000, 60_000, 120_000, 300_000, 600_000];
export const LOOK_LIMITS = {
	maxTries: 2,
	startWithinMs: 20_000,
	timeoutMs: 12_000,
	priority: 'urgent',
} as const;

const stateSchema = z.object({ looks: z.number() });

/**
 * The execution waits in n8n before each look.
 *
 * @param claim if its status is not one that the form lists, the first read that succeeds decides, whatever it shows
 * @returns undefined if reads did not show the status: the execution waits for the next look, or ends
 * @throws NodeOperationError or NodeApiError if the last look fails
 */
export async function lookForClaim(
	context: IExecuteFunctions,
	claim: { hash: string; status?: Status },
): Promise<{ status: Status; item: IDataObject } | undefined> {
	const state = stateSchema.safeParse(readParkedState(context)).data;
	if (!state && !isRetry(context)) return await park(context, 0);
	const looks = state?.looks ?? 0;

	const isLast = looks === PAUSES_MS.length;
	const read = await readForLook(context, claim.hash, isLast);
	const form = readTriggerForm(context);
	const claimed = isClaim(form, claim.status) ? claim.status : undefined;
	const status = read?.payment_status;
	if (read && showsClaim(claimed, status, isLast) && !rejectionReason(form, read)) {
		return { status, item: saleItem(form, read) };
	}

	const isDecided = claimed === undefined || isLater(status, claimed);
	const isOver = read && (isDecided || isExcludedForGood(form, read));
	if (isLast || isOver) return undefined;
	return await park(context, looks);
}

/** At the last look, any status that is not earlier counts: it may be another word for the claimed one. */
function showsClaim(claimed: Status, read: Status, isLast: boolean): boolean {
	if (claimed === undefined) return true;
	if (isLast) return !isLater(claimed, read);
	return isSameStatus(claimed, read) || isLater(read, claimed);
}

/** Undefined if the transaction cannot be read yet. */
async function readForLook(
	context: IExecuteFunctions,
	hash: string,
	isLast: boolean,
): Promise<Transaction | undefined> {
	const signal = context.getExecutionCancelSignal();
	const read = async (): Promise<Transaction> => {
		const account = await loadAccount(context, 0);
		return await getTransaction(new Client(context, account, { ...LOOK_LIMITS, signal }), hash);
	};

	return await read().catch((error: unknown) => {
		if (!isLast && !(error instanceof CanceledError)) return undefined;
		throw toFailure(context.getNode(), error).error;
	});
}

async function park(context: IExecuteFunctions, looks: number): Promise<undefined> {
	assertCanPark(context);
	const until = new Date(clock.now() + (PAUSES_MS[looks] ?? 0));
	await parkExecution(context, until, { looks: looks + 1 });
}
