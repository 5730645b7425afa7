import type { IExecuteFunctions } from 'n8n-workflow';

/** Whether the node runs as the tool of an agent: n8n then calls its type by another name. */
export function isTool(context: IExecuteFunctions): boolean {
	return context.getNode().type.endsWith('Tool');
}
