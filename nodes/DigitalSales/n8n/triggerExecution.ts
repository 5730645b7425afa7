import type { IExecuteFunctions } from 'n8n-workflow';

/*
 * Since n8n 2.30.0, a webhook trigger may have `execute`, and n8n reads the node's settings after `execute`. If n8n
 * does not call `execute`, a sale starts the workflow once for each webhook. If n8n reads the settings earlier, Always
 * Output Data or On Error: Continue runs the next nodes for a duplicate, or for what nobody has verified.
 */

/** Not 1, because n8n then evaluates `options.binaryData` at each webhook. */
export const TRIGGER_VERSION = 2;

/** Always Output Data would pass on an empty item, and On Error: Continue what the webhook said. */
export function stopOnError(context: IExecuteFunctions): void {
	const { node } = context.getExecuteData();
	Object.assign(node, { alwaysOutputData: false, continueOnFail: false, onError: 'stopWorkflow' });
}
