import type { INodeExecutionData } from 'n8n-workflow';

/** An item of the node's output. */
export type ItemResult = Pick<INodeExecutionData, 'json' | 'binary' | 'pairedItem'>;
