import type { Sale } from './shop';

/** The refusal of what may have been charged before. */
export const IN_DOUBT = /may already have been charged/;

function isRefused({ error = '' }: Sale): boolean {
	return IN_DOUBT.test(error);
}

/** Whether an execution ended in another way than with its transactions, or in doubt. */
export function isOther(sale: Sale): boolean {
	return sale.error !== undefined && !isRefused(sale);
}

/** What became of executions, in words for a table. */
export function outcomeOf(sales: Sale[]): string {
	const doubted = sales.filter(isRefused).length;
	const others = sales.filter(isOther);
	const texts = [...new Set(others.map(({ error = '' }) => `"${error}"`))].join(', ');
	const failed = others.length === 0 ? '' : `, ${others.length} failed (${texts})`;
	return `${sales.length - doubted - others.length} went on, ${doubted} in doubt${failed}`;
}

/** Whether executions that were started at the same moment came to several workers. */
export function isOnSeveral(sales: Sale[]): boolean {
	return new Set(sales.map(({ worker }) => worker)).size > 1;
}

let orders = 0;

/** Orders that nobody has asked for before. */
export function ordersOf(count: number): string[] {
	return Array.from({ length: count }, () => `order-${(orders += 1)}`);
}
