import type { INodeExecutionData } from 'n8n-workflow';
import type { AmountUnit } from '../domain/money';

/** A payment that is not settled yet, and how long its item may wait for that. */
export type PendingPayment = {
	hash: string;
	simplify: boolean;
	/** The unit of the amounts that Simplify gives. */
	unit?: AmountUnit;
	/** In milliseconds of unix time. */
	deadline: number;
	/** How long to wait before the next poll; 0 is never. */
	recheckMs: number;
};

/** An item of the node's output; a pending one shows what it would be at the time limit. */
export type ItemResult = Pick<INodeExecutionData, 'json' | 'binary' | 'pairedItem'> & {
	pending?: PendingPayment;
};
