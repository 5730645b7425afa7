import type { FunctionsBase } from 'n8n-workflow';

/*
 * Whether n8n's experimental Engine 2.0 runs a workflow. It keeps no memory for a node, resumes no execution, and
 * never calls a trigger's `execute`.
 *
 * Rests on (in n8n 2.41.1): n8n gives an execution to Engine 2.0 if the workflow's setting `engineType` is `v2`
 * (engine-v2-dispatcher.service.js). A trigger sees that setting. A step in Engine 2.0 does not (v1-adapters.js), but
 * the id of its execution is a UUID of version 7, by which n8n itself tells the two engines apart (execution-id.js).
 * If it stops: if neither the setting nor such an id shows Engine 2.0, charges are sent unguarded there, and waits
 * never end. If the usual engine uses such ids, every charge and wait is refused.
 */

const ENGINE_2_ID = /^[\da-f]{8}-[\da-f]{4}-7/i;

/** Whether Engine 2.0 runs the node, or is to run the workflow of a trigger. */
export function isEngine2(
	context: Pick<FunctionsBase, 'getWorkflowSettings' | 'getExecutionId'>,
): boolean {
	return (
		context.getWorkflowSettings().engineType === 'v2' || ENGINE_2_ID.test(context.getExecutionId())
	);
}
