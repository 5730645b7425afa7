import type { IDataObject, IExecuteData, IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { z } from 'zod/v3';

/*
 * Lets an execution wait and then runs the node again, with the same input.
 *
 * Rests on (since n8n 2.30.0): if a node asks for a wait, n8n puts the entry of the node back on top of the
 * execution's stack and stores the execution. When the time comes, or when a webhook wakes the execution, n8n disables
 * that entry, removes its run, and hands its input on as output. Our entry has no input by then, so nothing is handed
 * on, and n8n runs the next entry of the stack: a copy of ours, with the input (workflow-execute: handleWaitingState,
 * handleDisabledNode).
 * Limit: "Retry with currently saved workflow" of an execution that was killed during a look gives both entries one
 * node object. n8n then disables the copy, too, and hands the input on without a look. "Retry with original workflow"
 * keeps them apart.
 * If it stops: if the stack is elsewhere, the node refuses before anything waits. If n8n stores the stack otherwise,
 * an execution that waits ends without running the next nodes.
 */

/**
 * The input of the copy carries the state as an item, in addition to the items of `main`: n8n hides items from people
 * who may not see them, and drops the state when the execution ends.
 */
const STATE_KEY = 'digitalSalesWait';

/** Public in the execute context, though not part of `IExecuteFunctions`. */
const contextSchema = z.object({
	runExecutionData: z.object({
		executionData: z.object({
			nodeExecutionStack: z.custom<IExecuteData[]>(Array.isArray),
		}),
	}),
});
const stateSchema = z.object({
	[STATE_KEY]: z.tuple([z.tuple([z.object({ json: z.unknown() })])]),
});

/** Returns the state that {@link parkExecution} stored; undefined at the first run of the node. */
export function readParkedState(context: IExecuteFunctions): unknown {
	const { data } = stateSchema.safeParse(context.getExecuteData().data);
	return data?.[STATE_KEY][0][0].json;
}

/** @throws NodeOperationError if this version of n8n keeps the stack elsewhere */
export function assertCanPark(context: IExecuteFunctions, itemIndex: number): void {
	if (findStack(context)) return;
	const message = `${context.getNode().name} cannot wait in this version of n8n`;
	const description =
		'Nothing waits. Update the package, or use the Digital Sales Trigger, which works without waiting.';
	throw new NodeOperationError(context.getNode(), message, { description, itemIndex });
}

/** Lets n8n store the execution when the node returns. The node runs again at `until`, or when a webhook comes. */
export async function parkExecution(
	context: IExecuteFunctions,
	until: Date,
	state: IDataObject,
): Promise<void> {
	const entry = context.getExecuteData();
	const data = { ...entry.data, [STATE_KEY]: [[{ json: state }]] };
	// n8n disables the node of the entry on top, so the copy has a node object of its own.
	findStack(context)?.unshift({ ...entry, node: { ...entry.node }, data });
	entry.data = { main: [] };
	// Otherwise n8n would create an item, now and when the time comes, and run the next nodes with it.
	entry.node = { ...entry.node, alwaysOutputData: false };
	await context.putExecutionToWait(until);
}

function findStack(context: IExecuteFunctions): IExecuteData[] | undefined {
	const { data } = contextSchema.safeParse(context);
	const { main } = context.getExecuteData().data;
	return main && data?.runExecutionData.executionData.nodeExecutionStack;
}
