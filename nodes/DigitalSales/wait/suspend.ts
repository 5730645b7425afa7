import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { randomBytes } from 'crypto';
import { clock } from '../shared/clock';
import type { AmountUnit } from '../domain/money';
import { storeWait, type ParkedWait } from './suspendedWait';
import { resumeUrl } from './resumeUrl';
import { FALLBACK_AFTER_MS, watchOver } from './poll';

const ID_BYTES = 12;

/** A payment that is not settled yet, and how long its item may wait for that. */
export type PendingPayment = {
	hash: string;
	simplify: boolean;
	/** Of the amounts that Simplify gives. */
	unit?: AmountUnit;
	/** In milliseconds of unix time. */
	deadline: number;
	/** How long to wait before looking again; 0 is never. */
	recheckMs: number;
};

/** An item of the node's output; one that is pending shows what the time limit would show. */
export type ItemResult = Item & { pending?: PendingPayment };

type Item = Pick<INodeExecutionData, 'json' | 'binary' | 'pairedItem'>;

/**
 * Parks the execution where an item is pending. All items of a run share one wait: the longest time
 * limit and the shortest interval count. At the limit n8n hands on the parked items and runs no code
 * of the node, so the results take their place.
 *
 * @returns the items to be shown for now, or handed on where nothing is pending
 */
export async function parkWherePending(
	context: IExecuteFunctions,
	results: ItemResult[],
): Promise<INodeExecutionData[]> {
	const wait = waitFor(results);
	if (!wait || wait.deadline <= clock.now()) return results.map(itemOf);
	const { data } = context.getExecuteData();
	data.main = [results.map(({ json }) => ({ json }))];
	storeWait(context, wait);
	await context.putExecutionToWait(new Date(wait.deadline + FALLBACK_AFTER_MS));
	watchOver(context, wait, resumeUrl(context, 0));
	return results.map((result) =>
		result.pending ? withoutTimedOut(itemOf(result)) : itemOf(result),
	);
}

/** The item as n8n knows it: itself where it is not pending. */
function itemOf(result: ItemResult): INodeExecutionData {
	if (isItem(result)) return result;
	const { pending: _pending, ...item } = result;
	return item;
}

function isItem(result: ItemResult): result is Item & { pending?: undefined } {
	return result.pending === undefined;
}

function waitFor(results: ItemResult[]): ParkedWait | undefined {
	const pending = results.flatMap((result, index) =>
		result.pending ? [{ ...result.pending, index }] : [],
	);
	if (pending.length === 0) return undefined;
	const intervals = pending.map(({ recheckMs }) => recheckMs).filter((interval) => interval > 0);
	return {
		id: randomBytes(ID_BYTES).toString('hex'),
		deadline: Math.max(...pending.map(({ deadline }) => deadline)),
		recheckMs: intervals.length === 0 ? 0 : Math.min(...intervals),
		count: results.length,
		open: pending.map(({ index, hash, simplify, unit }) => ({ index, hash, simplify, unit })),
	};
}

/** While it waits nobody can say yet whether the time will be up. */
function withoutTimedOut(item: INodeExecutionData): INodeExecutionData {
	const { timedOut: _notYet, ...json } = item.json;
	return { ...item, json };
}
