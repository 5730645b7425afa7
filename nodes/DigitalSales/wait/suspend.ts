import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { randomBytes } from 'crypto';
import type { ItemResult } from '../output/transaction';
import { clock } from '../shared/clock';
import { startPolling } from './poll';
import { resumeUrl, storeWait, type SuspendedWait } from './suspendedWait';

const ID_BYTES = 12;
/**
 * How long after the time limit n8n itself ends a wait that nothing else has ended: as long again as the
 * limit, within these bounds. Until then the last look asks again for what it could not read.
 */
const NET_MS = [60_000, 900_000] as const;

/**
 * Suspends the execution if a payment is open. All items of a run share one wait: the longest time
 * limit counts. At the limit n8n passes on the input of the node and runs
 * none of its code, so the results replace that input.
 *
 * @returns the items to show meanwhile, or to pass on if none is open
 */
export async function suspendIfPending(
	context: IExecuteFunctions,
	results: ItemResult[],
): Promise<INodeExecutionData[]> {
	const wait = waitFor(results);
	if (!wait || wait.deadline <= clock.now()) {
		return results.map(({ pending: _pending, ...item }) => item);
	}
	const { data } = context.getExecuteData();
	data.main = [results.map(({ json }) => ({ json }))];
	storeWait(context, wait);
	await context.putExecutionToWait(new Date(wait.endsAt));
	startPolling(context, wait, resumeUrl(context, 0));
	return results.map(({ pending, ...item }) => {
		if (!pending?.isOpen) return item;
		// While the execution waits, nobody knows whether it will time out.
		const { timedOut: _notYet, ...json } = item.json;
		return { ...item, json };
	});
}

function waitFor(results: ItemResult[]): SuspendedWait | undefined {
	const pending = results.flatMap((result, index) =>
		result.pending ? [{ ...result.pending, index }] : [],
	);
	if (!pending.some(({ isOpen }) => isOpen)) return undefined;
	// A check begins with the first: while it is open, the others need not be read.
	pending.sort((one, other) => Number(other.isOpen) - Number(one.isOpen));
	const deadline = Math.max(...pending.map((payment) => payment.deadline));
	const [shortest, longest] = NET_MS;
	const netMs = Math.min(longest, Math.max(shortest, deadline - clock.now()));
	return {
		id: randomBytes(ID_BYTES).toString('hex'),
		deadline,
		endsAt: deadline + netMs,
		count: results.length,
		payments: pending.map(({ index, hash, simplify, fields }) => ({
			index,
			hash,
			simplify,
			fields,
		})),
	};
}
