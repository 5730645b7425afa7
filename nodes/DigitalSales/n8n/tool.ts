import type { FunctionsBase } from 'n8n-workflow';

/*
 * Since n8n 2.30.0, the type of a node that runs as a tool ends in `Tool`. If that stops, Wait for Payment as a tool
 * parks the agent's execution, and an agent may create a charge without the customer's contact data.
 */

export function isTool(context: Pick<FunctionsBase, 'getNode'>): boolean {
	return context.getNode().type.endsWith('Tool');
}
