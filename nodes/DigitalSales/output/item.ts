import type { INodeExecutionData } from 'n8n-workflow';
import type { OutputChoice } from './transaction';

/** A payment that its item may wait for, and how long. */
export type PendingPayment = OutputChoice & {
	/** Whether it is undecided. One that is paid is read again with the others: it may be charged back. */
	isOpen: boolean;
	hash: string;
	/** In milliseconds of unix time. */
	deadline: number;
};

/** An item of the node's output; an open one shows what it would be at the time limit. */
export type ItemResult = Pick<INodeExecutionData, 'json' | 'binary' | 'pairedItem'> & {
	pending?: PendingPayment;
};
