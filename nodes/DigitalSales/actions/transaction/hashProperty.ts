import type { INodeProperties } from 'n8n-workflow';

/** The transaction that an operation is about. */
export const hashProperty: INodeProperties = {
	displayName: 'Transaction Hash',
	name: 'transactionHash',
	type: 'string',
	required: true,
	default: '',
	placeholder: 'e.g. ab12cd34ef',
	description: 'The hash of the transaction, as returned by Create PIX or the trigger',
};
