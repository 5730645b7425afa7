import {
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
	NodeOperationError,
} from 'n8n-workflow';
import { z } from 'zod/v3';
import { Client, getTransaction, loadAccount, type Transaction } from '../api';
import { isLater, isSameStatus, type Status } from '../domain';
import {
	executionKey,
	isRetry,
	Ledger,
	letRecoveryPass,
	overrideSettings,
	parkExecution,
	readParkedState,
} from '../n8n';
import { toFailure } from '../output';
import { CanceledError, clock, digest, tryPatiently } from '../shared';
import { canLookFor, rejectionReason } from './filters';
import { readTriggerForm, saleItem } from './form';
import { Handovers, handoverSchema, statusKey } from './handovers';

/* What an execution does with a sale, or with a status that a webhook claims. */

/** Long, because a platform does not repeat an answered webhook. */
const LEDGER_PAUSES_MS = [1_000, 5_000, 25_000];
/** Before each look. n8n checks its timers once a minute, so the first may last a minute. */
const LOOK_PAUSES_MS = [15_000, 60_000, 120_000, 300_000, 600_000];
export const LOOK_LIMITS = {
	maxTries: 2,
	startWithinMs: 20_000,
	timeoutMs: 12_000,
	priority: 'urgent',
} as const;

/**
 * Puts out a sale unless another execution has recorded its status. Looks for a claim until reads show it.
 *
 * @throws NodeOperationError or NodeApiError for a fault, or if n8n's database or the last look fails
 */
export async function executeTrigger(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	// Always Output Data would pass on an empty item, and On Error: Continue what the webhook said.
	overrideSettings(context, {
		alwaysOutputData: false,
		continueOnFail: false,
		onError: 'stopWorkflow',
	});
	if (!(await letRecoveryPass(context))) return [[]];

	const [input] = context.getInputData();
	const { hash, status, item, awaited, fault, hint } = handoverSchema.parse(input?.json);

	if (hint !== undefined) context.addExecutionHints({ message: hint, location: 'outputPane' });
	if (fault && !isRetry(context)) {
		throw new NodeOperationError(context.getNode(), fault.message, fault);
	}

	// Of sales, only one that another execution has recorded is parked, and looks for the awaited status.
	const isParked = readParkedState(context) !== undefined;
	if (item && !isParked) {
		if (await recordStatus(context, hash, status)) return [[{ json: item, pairedItem: 0 }]];
		if (awaited === undefined) return [[]];
	}

	const claimed = item ? awaited : status;
	const found = await lookForClaim(context, { hash, status: claimed });
	if (!found || !(await recordStatus(context, hash, found.status))) return [[]];
	return [[{ json: found.item, pairedItem: 0 }]];
}

/** @returns false if another execution has recorded the status; a Retry finds the record of its original */
async function recordStatus(
	context: IExecuteFunctions,
	hash: string,
	status: Status,
): Promise<boolean> {
	const ledger = Ledger.forContext(context);
	// A test must not make the next test a duplicate.
	if (!ledger || context.getMode() === 'manual') return true;

	const key = digest('taken', statusKey(hash, status));
	const owner = executionKey(context) ?? context.getExecutionId();
	const record = async () => await ledger.claimKey(key, owner);
	const signal = context.getExecutionCancelSignal();

	const isWon = await tryPatiently(record, LEDGER_PAUSES_MS, signal).catch((error: unknown) => {
		const problem = 'n8n could not record this webhook, so the workflow was not started';
		const description = `Reason: ${String(error)}.\nCheck the database of n8n, then retry this execution.`;
		throw new NodeOperationError(context.getNode(), problem, { description });
	});

	new Handovers(context, hash).settle(status);
	return isWon;
}

/** The look that the execution waits for, counted from 1. */
const stateSchema = z.object({ look: z.number() });

/**
 * Looks, or parks the execution until it is time to look.
 *
 * @param claim if reads cannot be compared with its status, the first read that succeeds counts, whatever it shows
 * @returns undefined if the execution is parked, or ends without a sale
 * @throws NodeOperationError or NodeApiError if the last look fails
 */
async function lookForClaim(
	context: IExecuteFunctions,
	claim: { hash: string; status?: Status },
): Promise<{ status: Status; item: IDataObject } | undefined> {
	const state = stateSchema.safeParse(readParkedState(context)).data;
	if (!state && !isRetry(context)) return await parkUntilLook(context, 1);

	// A Retry looks at once: before the first look, or again if a look failed.
	const look = state?.look ?? 0;
	const isLast = look === LOOK_PAUSES_MS.length;
	const form = readTriggerForm(context);
	const claimed = canLookFor(form, claim.status) ? claim.status : undefined;
	const read = await readForLook(context, claim.hash, isLast);
	const status = read?.payment_status;

	if (read && showsClaim(claimed, status, isLast) && !rejectionReason(form, read)) {
		return { status, item: saleItem(form, read) };
	}
	// A read of the claimed status may still lack what the filters want.
	const isDecided = read && (claimed === undefined || isLater(status, claimed));
	if (isLast || isDecided) return undefined;
	return await parkUntilLook(context, look + 1);
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

async function parkUntilLook(context: IExecuteFunctions, look: number): Promise<undefined> {
	const until = new Date(clock.now() + (LOOK_PAUSES_MS[look - 1] ?? 0));
	await parkExecution(context, until, { look });
}
