import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { randomBytes } from 'crypto';
import type { ItemResult } from '../output/item';
import { clock } from '../shared/clock';
import { fallbackAt, startPolling } from './poll';
import { resumeUrl, storeWait, type SuspendedWait } from './suspendedWait';

const ID_BYTES = 12;

/**
 * Suspends the execution if a payment is open. All items of a run share one wait: the longest time
 * limit and the shortest interval count. At the limit n8n passes on the input of the node and runs
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
	await context.putExecutionToWait(new Date(fallbackAt(wait)));
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
	const intervals = pending.map(({ recheckMs }) => recheckMs).filter((interval) => interval > 0);
	return {
		id: randomBytes(ID_BYTES).toString('hex'),
		deadline: Math.max(...pending.map(({ deadline }) => deadline)),
		recheckMs: intervals.length === 0 ? 0 : Math.min(...intervals),
		count: results.length,
		payments: pending.map(({ index, hash, simplify, unit }) => ({ index, hash, simplify, unit })),
	};
}
