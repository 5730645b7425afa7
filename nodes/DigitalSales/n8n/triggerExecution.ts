import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

/*
 * Since n8n 2.30.0, a webhook trigger may have `execute`, and n8n reads the node's settings after `execute`. If n8n
 * does not call `execute`, a sale starts the workflow once for each webhook. If n8n reads the settings earlier, Always
 * Output Data or On Error: Continue runs the next nodes for a duplicate.
 */

/** Not 1, because n8n then evaluates `options.binaryData` at each webhook. */
export const TRIGGER_VERSION = 2;

/** Always Output Data would pass on an empty item. */
export function endWithoutItem(context: IExecuteFunctions): INodeExecutionData[][] {
	context.getExecuteData().node.alwaysOutputData = false;
	return [[]];
}

/** The caller throws the returned error. On Error: Continue would pass on the input. */
export function stopWithError(context: IExecuteFunctions, error: Error): Error {
	context.getExecuteData().node.onError = 'stopWorkflow';
	return error;
}
