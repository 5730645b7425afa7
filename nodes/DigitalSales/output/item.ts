import type { INodeExecutionData } from 'n8n-workflow';

export type ItemResult = Pick<INodeExecutionData, 'json' | 'binary' | 'pairedItem'>;
