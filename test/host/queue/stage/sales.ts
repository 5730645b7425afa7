import type { Sale } from './shop';

/** The refusal of what may have been charged before. */
export const IN_DOUBT = /may already have been charged/;

function refused(sales: Sale[]): number {
	return sales.filter(({ error }) => error !== undefined && IN_DOUBT.test(error)).length;
}

/** What became of executions, in words for a table. */
export function outcomeOf(sales: Sale[]): string {
	const doubted = refused(sales);
	const others = sales.filter(({ error }) => error !== undefined && !IN_DOUBT.test(error));
	const texts = [...new Set(others.map(({ error = '' }) => `"${error}"`))].join(', ');
	const failed = others.length === 0 ? '' : `, ${others.length} failed (${texts})`;
	return `${sales.length - doubted - others.length} went on with their transactions, ${doubted} refused as in doubt${failed}`;
}

/** Whether two executions that were started at the same moment came to two workers. */
export function isOnBoth(pair: Sale[]): boolean {
	return new Set(pair.map(({ worker }) => worker)).size === 2;
}

/** How many of the orders were charged twice. */
export function twice(charges: number[]): number {
	return charges.filter((count) => count === 2).length;
}
