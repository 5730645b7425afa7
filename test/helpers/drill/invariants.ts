import { z } from 'zod';
import type { StoredTransaction } from '../../sandbox/types';

/** What an execution reported after our node. */
export const reportSchema = z.object({
	hash: z.string(),
	payment_status: z.string(),
	/** Only items of a wait have it. */
	timed_out: z.boolean().optional(),
});
export type Report = z.infer<typeof reportSchema>;

/** A payment may be made again after these. */
const VOID = ['refused', 'canceled', 'expired'];

type Charge = Pick<StoredTransaction, 'hash' | 'payment_status'> & { customer: { name: string } };

/** Names that were charged twice. The name of the customer is the identity of the order. */
export function chargedTwice(charges: readonly Charge[]): string[] {
	const payable = charges.filter(({ payment_status: status }) => !VOID.includes(status));
	const names = payable.map(({ customer }) => customer.name);
	return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}

/**
 * Sales whose webhook was answered with 200, without an execution.
 *
 * @param lost the executions whose data n8n lost, because their worker died; each accounts for one sale
 */
export function withoutExecution(
	accepted: readonly string[],
	reports: readonly Report[],
	lost: number,
): string[] {
	const missing = [...new Set(accepted)].filter(
		(sale) => !reports.some(({ hash }) => hash === sale),
	);
	return missing.slice(lost);
}

/**
 * Payments that no execution reported with their final status.
 *
 * @param awaited the hashes that executions began to wait for, once all payments are settled
 */
export function withoutEnd(
	awaited: readonly string[],
	charges: readonly Charge[],
	reports: readonly Report[],
): string[] {
	const statusOf = new Map(charges.map(({ hash, payment_status: status }) => [hash, status]));
	const isEnd = ({ hash, payment_status: status, timed_out: isTimedOut }: Report): boolean =>
		isTimedOut === true || status === statusOf.get(hash);
	const ended = new Set(reports.filter(isEnd).map(({ hash }) => hash));
	return [...new Set(awaited)].filter((hash) => !ended.has(hash));
}
