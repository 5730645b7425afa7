/**
 * Whether n8n's experimental Engine 2.0 runs a workflow. It keeps no memory for a node, resumes no
 * execution, and never calls a trigger's `execute`.
 *
 * Rests on: n8n gives an execution to Engine 2.0 if the workflow's setting `engineType` is `v2`
 * (`engine-v2-dispatcher.service.js`). A trigger sees that setting. A step in Engine 2.0 does not, since
 * its workflow comes without settings (`v1-adapters.js`), but its execution's id is a UUID of version 7,
 * by which n8n itself tells the two engines apart (`execution-id.js`).
 * Holds in: 2.41.1, the first n8n that was tried with Engine 2.0 (test/queue/engine2.test.ts).
 * If it stops: with settings in a step, the id is no longer needed. With neither the setting nor such an
 * id, charges in Engine 2.0 would be sent unguarded, and waits never end. With such ids in the usual
 * engine, every charge and wait would be refused.
 */
import type { FunctionsBase } from 'n8n-workflow';

const ENGINE_2_ID = /^[\da-f]{8}-[\da-f]{4}-7/i;

/** Whether Engine 2.0 runs the node, or is to run the workflow of a trigger. */
export function isEngine2(
	context: Pick<FunctionsBase, 'getWorkflowSettings' | 'getExecutionId'>,
): boolean {
	return (
		context.getWorkflowSettings().engineType === 'v2' || ENGINE_2_ID.test(context.getExecutionId())
	);
}
