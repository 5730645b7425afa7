import type { IExecuteFunctions } from 'n8n-workflow';

/*
 * A webhook trigger whose `execute` decides whether the workflow goes on.
 *
 * Rests on (since n8n 2.30.0): a trigger may have `execute`. It runs where the execution runs (on a worker in queue
 * mode) with the output of `webhook()` as its input, also in a Retry. The entry of the execution holds the node's
 * settings, and n8n reads them after `execute`. For a node of type version 1 n8n evaluates an expression at each
 * webhook, before the node sees the webhook; above 1 it does not.
 * If it stops: without `execute` a sale starts the workflow once for each webhook. Without the settings, Always Output
 * Data or On Error: Continue runs the next nodes for a duplicate.
 */

export const TRIGGER_VERSION = 2;

/** Ends the execution at this node. Always Output Data would otherwise pass on an empty item. */
export function endWithoutItem(context: IExecuteFunctions): void {
	context.getExecuteData().node.alwaysOutputData = false;
}

/** Fails the execution at this node. On Error: Continue would otherwise pass on the input. Returns the error to throw. */
export function stopWithError(context: IExecuteFunctions, error: Error): Error {
	context.getExecuteData().node.onError = 'stopWorkflow';
	return error;
}
