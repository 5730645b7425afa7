import { type IExecuteFunctions, type INodeExecutionData, NodeOperationError } from 'n8n-workflow';
import type { Status } from '../domain';
import {
	executionKey,
	isRetry,
	Ledger,
	letRecoveryPass,
	readParkedState,
	stopOnError,
} from '../n8n';
import { digest, tryPatiently } from '../shared';
import { Handovers, handoverSchema, statusKey } from './handovers';
import { lookForClaim } from './look';

/** Long, because a platform does not repeat an answered webhook. */
const LEDGER_PAUSES_MS = [1_000, 5_000, 25_000];

/**
 * Puts out a sale unless another execution has recorded its status. Looks for a claim until reads show it.
 *
 * @throws NodeOperationError or NodeApiError for a fault, or if n8n's database or the last look fails
 */
export async function executeTrigger(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	stopOnError(context);
	if (!(await letRecoveryPass(context))) return [[]];

	const [input] = context.getInputData();
	const { hash, status, item, awaited, fault, hint } = handoverSchema.parse(input?.json);

	if (hint !== undefined) context.addExecutionHints({ message: hint, location: 'outputPane' });
	if (fault && !isRetry(context))
		throw new NodeOperationError(context.getNode(), fault.message, fault);

	// A sale is parked only after another execution has taken its status, and looks for the awaited one.
	const isParked = readParkedState(context) !== undefined;
	if (item && !isParked) {
		if (await recordStatus(context, hash, status)) return [[{ json: item, pairedItem: 0 }]];
		if (awaited === undefined) return [[]];
	}

	const found = await lookForClaim(context, { hash, status: item ? awaited : status });
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
		throw notRecordedError(context, error);
	});

	new Handovers(context, hash).settle(status);
	return isWon;
}

function notRecordedError(context: IExecuteFunctions, error: unknown): NodeOperationError {
	const reason = error instanceof Error ? error.message : String(error);
	const message = 'n8n could not record this webhook, so the workflow was not started';
	const description = `Reason: ${reason}.\nCheck the database of n8n, then retry this execution.`;
	return new NodeOperationError(context.getNode(), message, { description });
}
