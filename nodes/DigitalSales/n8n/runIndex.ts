import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';

/*
 * Since n8n 2.30.0, `$runIndex` counts the runs of a node in an execution. If that stops, Create PIX fails before
 * anything is sent, and Wait for Payment when it ends.
 */

export function readRunIndex(context: IExecuteFunctions): number {
	return z.number().parse(context.getWorkflowDataProxy(0).$runIndex);
}
