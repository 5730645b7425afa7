import type { FunctionsBase } from 'n8n-workflow';

/*
 * In n8n 2.41.1, a trigger recognizes the experimental Engine 2.0 by a setting of the workflow, and an action by a
 * workflow without a name together with a UUID of version 7 as execution id. If that stops, Engine 2.0 sends charges
 * unguarded, and waits never end. If the usual engine takes such ids, nothing changes: its workflows have names.
 */

const ENGINE_2_ID = /^[\da-f]{8}-[\da-f]{4}-7/i;

export function isEngine2(
	context: Pick<FunctionsBase, 'getWorkflow' | 'getWorkflowSettings' | 'getExecutionId'>,
): boolean {
	if (context.getWorkflowSettings().engineType === 'v2') return true;
	return !context.getWorkflow().name && ENGINE_2_ID.test(context.getExecutionId());
}
