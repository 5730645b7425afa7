import difference from 'lodash/difference';
import uniq from 'lodash/uniq';
import type { StoredTransaction } from '../../sandbox/types';
import type { Execution } from '../n8n/execution';

/** A payment may be made again after these. */
const VOID = ['refused', 'canceled', 'expired'];

/** Names that were charged twice. The name of the customer is the identity of the order. */
export function chargedTwice(charges: readonly StoredTransaction[]): string[] {
	const payable = charges.filter(({ payment_status: status }) => !VOID.includes(status));
	const names = payable.map(({ customer }) => customer.name);
	return uniq(names.filter((name, index) => names.indexOf(name) !== index));
}

/**
 * Sales whose webhook was answered with 200, without an execution.
 *
 * @param accepted their hashes
 * @param sales the executions of the trigger
 */
export function withoutExecution(
	accepted: readonly string[],
	sales: readonly Execution[],
): string[] {
	// n8n loses the data of an execution whose worker dies. Each accounts for one sale.
	const lost = sales.filter(({ isForgotten, summary }) => isForgotten && !summary.retryOf);
	return difference(uniq(accepted), hashesOf(sales, 'Trigger')).slice(lost.length);
}

/** The hashes that executions began to wait for. An execution that failed in Create PIX has not waited. */
export function awaitedBy(waits: readonly Execution[]): string[] {
	return uniq(hashesOf(waits, 'Charge'));
}

/**
 * Payments that no execution continued with in their final status.
 *
 * @param charges once all payments are settled
 */
export function withoutEnd(
	waits: readonly Execution[],
	charges: readonly StoredTransaction[],
): string[] {
	const statusOf = new Map(charges.map(({ hash, payment_status: status }) => [hash, status]));
	const ended = hashesOf(
		waits,
		'Wait',
		({ hash, payment_status: status, timed_out: isTimedOut }) =>
			isTimedOut === true || status === statusOf.get(String(hash)),
	);
	return difference(awaitedBy(waits), ended);
}

/** Of the items that a node has returned by any of its outputs. */
function hashesOf(
	executions: readonly Execution[],
	node: string,
	isMeant: (item: Record<string, unknown>) => boolean = () => true,
): string[] {
	const items = executions.flatMap((one) => [...one.items(node, 0), ...one.items(node, 1)]);
	const meant = items.map(({ json }) => json).filter(isMeant);
	return meant.flatMap(({ hash }) => (typeof hash === 'string' ? [hash] : []));
}
