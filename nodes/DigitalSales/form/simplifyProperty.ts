import type { INodeProperties } from 'n8n-workflow';

/** Whether an output is flattened to at most ten fields. */
export const simplifyProperty: INodeProperties = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};
