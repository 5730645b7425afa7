import type { FunctionsBase } from 'n8n-workflow';

/*
 * In n8n 2.41.1, a trigger recognizes the experimental Engine 2.0 by a setting of the workflow, and an action by a
 * UUID of version 7 as execution id. If that stops, Engine 2.0 sends charges unguarded, and waits never end. If
 * the usual engine uses such ids, every charge and wait is refused.
 */

const ENGINE_2_ID = /^[\da-f]{8}-[\da-f]{4}-7/i;

export function isEngine2(
	context: Pick<FunctionsBase, 'getWorkflowSettings' | 'getExecutionId'>,
): boolean {
	return (
		context.getWorkflowSettings().engineType === 'v2' || ENGINE_2_ID.test(context.getExecutionId())
	);
}
