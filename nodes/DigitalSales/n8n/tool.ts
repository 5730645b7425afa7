import type { FunctionsBase } from 'n8n-workflow';

/*
 * Recognizes that the node runs as the tool of an agent.
 *
 * Rests on (since n8n 2.30.0): n8n gives the tool of a node a type of its own, whose name ends in `Tool`.
 * If it stops: Wait for Payment as a tool parks the agent's execution, and an agent may charge without a customer.
 */

export function isTool(context: Pick<FunctionsBase, 'getNode'>): boolean {
	return context.getNode().type.endsWith('Tool');
}
